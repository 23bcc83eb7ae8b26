//! The program `consort`: chooses between the hook path and the command line.
//!
//! `main` decides before it builds: a hook goes straight to its function, and
//! only the rest gets an argument parser, configuration and output.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod args;
mod commands;
mod config;
mod connect;
mod demo;
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
mod entry_point;
mod error;
mod exit;
mod help;
mod hold_wait;
mod hook;
mod hook_deadline;
mod hook_dialog_wait;
mod hook_wait;
mod knowledge;
mod notify;
mod observe;
mod output;
mod panes;
mod person;
mod render;
mod roles;
mod runs;
mod screen;
mod served_calls;
mod served_panes;
mod served_runs;
mod shield;
#[cfg_attr(not(target_os = "linux"), path = "spool_unsupported.rs")]
mod spool;
mod time;
mod usage_error;
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
        Some(first) if first == "shield" => {
            let arguments: Vec<_> = arguments.collect();
            if shield::is_call(&arguments) { shield::run(&arguments) } else { args::run() }
        }
        Some(first) if first == "send" => spool::ask().unwrap_or_else(args::run_send),
        Some(first) if first == "know" => spool::ask().unwrap_or_else(args::run_know),
        _ => spool::ask().unwrap_or_else(args::run),
    }
}
