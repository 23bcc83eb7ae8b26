//! `consort`: every door behind one program.
//!
//! `main` decides before it builds: a hook goes straight to its function, and
//! only the rest gets an argument parser, configuration and output.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod args;
mod commands;
mod config;
mod connect;
mod deadline;
mod error;
mod exit;
mod hook;
mod observe;
mod out;
mod person;
mod render;
mod served;
#[cfg_attr(not(target_os = "linux"), path = "spool_elsewhere.rs")]
mod spool;
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
mod start;
mod time;
mod wait;
mod wake;
mod world;

use exit::ExitCode;

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() {
    run().leave()
}

fn run() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == "hook" => hook::run(arguments),
        Some(first) if first == "send" => spool::ask().unwrap_or_else(args::run_send),
        _ => spool::ask().unwrap_or_else(args::run),
    }
}
