//! `consort`: every door behind one program.
//!
//! `main` decides before it builds: a hook goes straight to its function, and
//! only the rest gets an argument parser, configuration and output.

mod args;
mod commands;
mod config;
mod connect;
mod error;
mod exit;
mod hook;
mod out;
mod render;
mod sight;
mod time;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == "hook") {
        return hook::run(arguments);
    }
    args::run()
}
