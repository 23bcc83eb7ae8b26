//! The argument parser of the command line: all commands and global options, and which
//! function runs each.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use clap::Subcommand;
use consort_core::claims::Strength;

use crate::commands;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::exit::ExitCode;
use crate::output;
use crate::world;
use crate::world::World;

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 not as asked or something found, 2 wrong command line, 3 output closed,
4 held by someone else, 5 store busy, 6 store damaged, 7 timed out, 255 our fault.";

/// Lets the coding agents on this machine see each other, talk, and stay out of each other's way.
#[derive(Parser)]
#[command(name = "consort", version, about, after_help = AFTER_HELP, propagate_version = true)]
pub(crate) struct Cli {
    /// Override a setting for this command: `--set context.mode=none`
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,

    /// Run as you by a token that `consort token` made for this command
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The same, read from this file descriptor
    #[arg(long, global = true, value_name = "NUMBER", conflicts_with = "token_file")]
    token_fd: Option<i32>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Find the agent CLIs here, connect them, and watch who is here
    Up(commands::up::Args),
    /// List the agents of this project
    Who(commands::who::Args),
    /// Say who is calling
    Whoami(commands::whoami::Args),
    /// Show you, this project and the store at a glance
    Status(commands::status::Args),
    /// Register the agent session this is run in
    Join(commands::join::Args),
    /// Leave, and stay away until `join`
    Leave(commands::leave::Args),
    /// Change an agent's name
    Rename(commands::rename::Args),
    /// Send a message to agents or to the person
    #[command(override_usage = "consort send [OPTIONS] <TO>... <TEXT>")]
    Send(commands::send::Args),
    /// Read your messages
    Inbox(commands::inbox::Args),
    /// Show what you sent, and who has read it
    Sent(commands::sent::Args),
    /// Show a thread of messages
    Thread(commands::thread::Args),
    /// Talk with one agent, line by line
    Chat(commands::chat::Args),
    /// Say what you work on, so that others know
    Claim(commands::claim::Args),
    /// Ask for what another holds
    Contest(commands::contest::Args),
    /// Let go of what you hold
    Release(commands::release::Args),
    /// List what is held, and by whom
    Claims(commands::claims::Args),
    /// Keep others from writing files while you work on them
    Reserve(commands::reserve::Args),
    /// Let others write them again
    Unreserve(commands::release::Args),
    /// List what is reserved
    Reservations(commands::claims::Args),
    /// List, contest, override and restore what is held
    #[command(subcommand)]
    Holds(commands::holds::Command),
    /// See who is heading for where another is
    Radar(commands::radar::Args),
    /// Gather what it takes to take over an agent's work
    Handoff(commands::handoff::Args),
    /// Find who is best placed for a task
    Delegate(commands::delegate::Args),
    /// List and change which topics belong together
    Domains(commands::domains::Args),
    /// Say who holds a path and what you may do; what of a command would be refused; why two are thought to meet
    Explain(commands::explain::Args),
    /// Wait until nobody else has reserved a path
    Wait(commands::wait::Args),
    /// Let everyone write a path for a while, whoever has reserved it
    Override(commands::r#override::Args),
    /// Find work in different worktrees that will meet, and tell whoever does it
    Overlaps(commands::overlaps::Args),
    /// List the tasks of a spec, and who has them
    Tasks(commands::tasks::Args),
    /// Claim, complete or give back a task
    #[command(subcommand)]
    Task(commands::task::Command),
    /// Record what was learned, ask for it, and carry it to and from git
    #[command(subcommand)]
    Know(commands::know::Command),
    /// Serve an agent's session over MCP, on standard input and output
    Mcp(commands::mcp::Args),
    /// Serve MCP clients and programs of yours over HTTP, on this machine
    Serve(commands::serve::Args),
    /// Run a command with what others have reserved read-only, if its text does not tell what it writes
    Shield(crate::shield::Args),
    /// Connect the agent CLIs here: add our hooks to their settings
    Init(commands::init::Args),
    /// Start an agent CLI connected for this one run, and leave its settings alone
    With(commands::with::Args),
    /// Disconnect: give their settings back as they were
    Uninit(commands::uninit::Args),
    /// Check that everything is connected and sound
    Doctor(commands::doctor::Args),
    /// Read and change settings
    #[command(subcommand)]
    Config(commands::config::Command),
    /// Let a script of yours run commands as you
    #[command(subcommand)]
    Token(commands::token::Command),
    /// Read, check and rebuild the journal
    #[command(subcommand)]
    Journal(commands::journal::Command),
    /// What git runs before a commit
    #[command(hide = true)]
    GitHook(commands::git_hook::Args),
    /// Print a shell's completion script
    Completions(commands::completions::Args),
}

pub(crate) fn run() -> ExitCode {
    let attempt = || match Cli::try_parse_from(arguments(std::env::args_os())) {
        Ok(cli) => carry_out(cli),
        Err(error) => {
            // Clap knows whether it is help (stdout, 0) or a mistake (stderr, 2).
            let _ = error.print();
            Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)))
        }
    };
    report(match attempt() {
        Err(error) if error.is_worth_a_retry() => attempt(),
        result => result,
    })
}

/// `consort send …` without the parser for everything else. What it does not
/// understand, help and mistakes above all, is left to that one.
pub(crate) fn run_send() -> ExitCode {
    match commands::send::Args::quick(std::env::args_os().skip(2)) {
        Some(args) => report(World::new(Vec::new()).and_then(|world| commands::send::run(&world, &args))),
        None => run(),
    }
}

/// What a command came to, in words where it failed.
fn report(result: Result<ExitCode, CommandError>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            let text = error.render();
            if !text.is_empty() {
                output::note(text.trim_end());
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(cli: Cli) -> Result<ExitCode, CommandError> {
    let world = World::new(cli.set)?;
    if cli.token_file.is_some() || cli.token_fd.is_some() {
        let name = command_name(std::env::args());
        commands::token::accept(&world, cli.token_file.as_deref(), cli.token_fd, &name)?;
    }
    let code = run_command(&world, cli.command);
    // Also after a failure: what was recorded before it is recorded.
    world::save_knowledge(&world.saved.take_due(), &world.overrides);
    code
}

fn run_command(world: &World, command: Command) -> Result<ExitCode, CommandError> {
    let done = |result: CommandResult| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Up(args) => done(commands::up::run(world, &args)),
        Command::Who(args) => done(commands::who::run(world, &args)),
        Command::Whoami(args) => done(commands::whoami::run(world, &args)),
        Command::Status(args) => done(commands::status::run(world, &args)),
        Command::Join(args) => done(commands::join::run(world, &args)),
        Command::Leave(args) => done(commands::leave::run(world, &args)),
        Command::Rename(args) => done(commands::rename::run(world, &args)),
        Command::Send(args) => commands::send::run(world, &args),
        Command::Inbox(args) => commands::inbox::run(world, &args),
        Command::Sent(args) => done(commands::sent::run(world, &args)),
        Command::Thread(args) => done(commands::thread::run(world, &args)),
        Command::Chat(args) => done(commands::chat::run(world, &args)),
        Command::Claim(args) => done(commands::claim::run(world, &args)),
        Command::Contest(args) => done(commands::contest::run(world, &args)),
        Command::Release(args) => done(commands::release::run(world, &args, None)),
        Command::Claims(args) => done(commands::claims::claims(world, &args)),
        Command::Reserve(args) => commands::reserve::run(world, &args),
        Command::Unreserve(args) => done(commands::release::run(world, &args, Some(Strength::Blocking))),
        Command::Reservations(args) => done(commands::claims::reservations(world, &args)),
        Command::Holds(command) => done(commands::holds::run(world, &command)),
        Command::Radar(args) => done(commands::radar::run(world, &args)),
        Command::Handoff(args) => done(commands::handoff::run(world, &args)),
        Command::Delegate(args) => done(commands::delegate::run(world, &args)),
        Command::Domains(args) => done(commands::domains::run(world, &args)),
        Command::Explain(args) => done(commands::explain::run(world, &args)),
        Command::Wait(args) => commands::wait::run(world, &args),
        Command::Override(args) => done(commands::r#override::run(world, &args)),
        Command::Overlaps(args) => done(commands::overlaps::run(world, &args)),
        Command::Tasks(args) => done(commands::tasks::run(world, &args)),
        Command::Task(command) => done(commands::task::run(world, &command)),
        Command::Know(command) => commands::know::run(world, &command),
        Command::Shield(args) => Ok(crate::shield::run(&args.words())),
        Command::Mcp(args) => done(commands::mcp::run(world, &args)),
        Command::Serve(args) => done(commands::serve::run(world, &args)),
        Command::Init(args) => done(commands::init::run(world, &args)),
        Command::With(args) => done(commands::with::run(world, &args)),
        Command::Uninit(args) => done(commands::uninit::run(world, &args)),
        Command::Doctor(args) => commands::doctor::run(world, &args),
        Command::Token(command) => done(commands::token::run(world, &command)),
        Command::Config(command) => done(commands::config::run(world, &command)),
        Command::Journal(command) => commands::journal::run(world, &command),
        Command::GitHook(args) => commands::git_hook::run(world, &args),
        Command::Completions(args) => done(commands::completions::run(world, &args)),
    }
}

/// The words of the command line. What follows the agent in `with <agent> …` is
/// all for that one, so nothing of it is ours to read, `--help` included.
fn arguments(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let (mut at, mut is_with) = (1, false);
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        match word {
            "--set" => at += 1,
            "with" if !is_with => is_with = true,
            word if word.starts_with("--set=") => {}
            word => {
                if is_with && !word.starts_with('-') {
                    words.insert(at + 1, "--".into());
                }
                break;
            }
        }
        at += 1;
    }
    words
}

/// The names of all commands.
pub(crate) fn command_names() -> Vec<String> {
    use clap::CommandFactory as _;
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// Which command was called.
fn command_name(words: impl Iterator<Item = String>) -> String {
    let names = command_names();
    words.skip(1).find(|word| names.contains(word)).unwrap_or_default()
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use consort_agents::allow;

    use super::*;

    /// Every command that can be called, in words.
    fn verbs(command: &clap::Command, above: &str, found: &mut Vec<String>) {
        for inner in command.get_subcommands() {
            let words = format!("{above}{}", inner.get_name());
            if !inner.is_subcommand_required_set() {
                found.push(words.clone());
            }
            verbs(inner, &format!("{words} "), found);
        }
    }

    #[test]
    fn every_verb_is_either_allowed_or_asked_about() {
        let mut found = Vec::new();
        verbs(&Cli::command(), "", &mut found);
        found.sort();
        let mut listed: Vec<&str> = allow::ALLOWED.iter().chain(allow::ASKED).copied().collect();
        listed.sort_unstable();
        assert_eq!(found, listed, "a verb belongs into exactly one list of agents/src/allow.rs");
    }

    /// What weakens protection, runs other programs or serves is never allowed.
    #[test]
    fn the_dangerous_verbs_are_asked_about() {
        for verb in [
            "init",
            "uninit",
            "config set",
            "override",
            "serve",
            "journal rebuild",
            "token new",
            "shield",
            "with",
            "holds restore",
            "holds override",
            "leave",
            "doctor",
        ] {
            assert!(allow::ASKED.contains(&verb), "{verb}");
        }
    }

    #[test]
    fn every_tool_is_allowed_by_name() {
        let mut tools: Vec<String> =
            consort_mcp::catalogue().iter().map(|tool| tool.name.to_string()).collect();
        tools.sort();
        assert_eq!(tools, allow::ALLOWED_TOOLS);
    }
}
