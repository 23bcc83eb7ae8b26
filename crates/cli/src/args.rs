//! The argument parser of the command line: all commands and global options, and which
//! function runs each.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::CommandFactory as _;
use clap::FromArgMatches as _;
use clap::Parser;
use clap::Subcommand;
use clap::error::ErrorKind;
use consort_core::journal::Number;
use consort_core::presence::Caller;

use crate::commands;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::exit;
use crate::exit::ExitCode;
use crate::help;
use crate::output;
use crate::usage_error;
use crate::world;
use crate::world::World;

/// Lets the coding agents on this machine see each other, talk, and stay out of each other's way.
#[derive(Parser)]
#[command(name = "consort", version, about, override_help = help::OVERVIEW, max_term_width = 80)]
pub(crate) struct Cli {
    /// Override a setting for this command: `--set context.mode=none`
    #[arg(long, global = true, hide = true, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,

    /// Run as you by a token that `consort token` made for this command
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The same, read from this file descriptor
    #[arg(long, global = true, hide = true, value_name = "NUMBER", conflicts_with = "token_file")]
    token_fd: Option<i32>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Show the screen, and come back to one that runs
    Up(commands::up::Args),
    /// List the agents of this project, or show one
    #[command(aliases = ["ls", "list", "agents"])]
    Who(commands::who::Args),
    /// Say who is calling
    #[command(hide = true)]
    Whoami(commands::whoami::Args),
    /// Show you, this project and the store at a glance
    Status(commands::status::Args),
    /// Send a message to agents, or to your user
    #[command(override_usage = "consort send [OPTIONS] <TO>... <TEXT>", aliases = ["msg", "message"])]
    Send(commands::send::Args),
    /// Answer a message
    Reply(commands::reply::Args),
    /// Read your messages
    Inbox(commands::inbox::Args),
    /// Talk with one agent, line by line
    Chat(commands::chat::Args),
    /// Keep others from writing files while you work on them
    #[command(alias = "lock")]
    Reserve(commands::reserve::Args),
    /// Give up what you have reserved
    #[command(alias = "unlock")]
    Release(commands::release::Args),
    /// Show who has reserved a path, and whether you or a command may write it
    #[command(override_usage = "consort explain [OPTIONS] <PATH>|-- <COMMAND>...", alias = "check")]
    Explain(commands::explain::Args),
    /// Wait until a path is free, or until an agent is idle
    #[command(override_usage = "consort wait [OPTIONS] <PATH>|--idle <AGENT>")]
    Wait(commands::wait::Args),
    /// List the agents that wait for you, and what can be done about each
    Waiting(commands::waiting::Args),
    /// Answer an agent's question, or say what to do about one that has stalled
    Answer(commands::answer::Args),
    /// List, claim, complete and give back the tasks of a spec
    Task(commands::task::Args),
    /// List, contest, override and restore what is reserved
    Holds(commands::holds::Args),
    /// Keep rules for what agents may do without asking you
    #[command(subcommand)]
    Policy(commands::policy::Command),
    /// Warn about agents that are likely to collide
    Radar(commands::radar::Args),
    /// Open agents in panes, connected for that run
    #[command(override_usage = "consort open [N] <CLI> [OPTIONS] [-- <ARGS>...]")]
    Open(commands::open::Args),
    /// See, show and close the terminals of agents
    #[command(subcommand)]
    Pane(commands::pane::Command),
    /// Put an agent to work without a terminal
    #[command(override_usage = "consort run [OPTIONS] <TEXT>|--file <FILE>|--task <ID>")]
    Run(commands::run::Args),
    /// List, show, stop and repeat runs
    #[command(subcommand)]
    Runs(commands::runs::Command),
    /// Register, rename and remove agents, and hand over their work
    #[command(subcommand)]
    Agent(commands::agent::Command),
    /// Record what was learned, ask for it, and carry it to and from git
    #[command(subcommand)]
    Know(commands::know::Command),
    /// Serve an agent's session over MCP, on standard input and output
    Mcp(commands::mcp::Args),
    /// Serve MCP clients and programs of yours over HTTP, on this machine
    Serve(commands::serve::Args),
    /// Close the screen that `up` began; agents go on
    Down(commands::down::Args),
    /// Run a command with what others have reserved read-only, if its text does not tell what it writes
    Shield(crate::shield::Args),
    /// Connect the agent CLIs here: add Consort's hooks to their settings
    #[command(alias = "connect")]
    Init(commands::init::Args),
    /// Start an agent CLI connected for this one run, and leave its settings alone
    With(commands::with::Args),
    /// Disconnect agent CLIs: their settings become what they were
    Uninit(commands::uninit::Args),
    /// Check that everything is connected and sound
    Doctor(commands::doctor::Args),
    /// Read and change settings
    #[command(subcommand)]
    Config(commands::config::Command),
    /// List, show, change and check the roles that runs are started with
    #[command(subcommand)]
    Roles(commands::roles::Command),
    /// Let a script of yours run commands as you
    #[command(subcommand)]
    Token(commands::token::Command),
    /// Read, check and rebuild the journal
    #[command(subcommand)]
    Journal(commands::journal::Command),
    /// Run by git before a commit
    #[command(hide = true)]
    GitHook(commands::git_hook::Args),
    /// Show what Consort does in a minute, with agents that are scripted
    Demo(commands::demo::Args),
    /// Print a shell's completion script
    Completions(commands::completions::Args),
}

impl Cli {
    /// Wraps a command that is called without global options.
    fn of(command: Command) -> Self {
        Self { set: Vec::new(), token_file: None, token_fd: None, command: Some(command) }
    }
}

/// Recognises, without building the parser, the commands that people and agents type most, where they are one
/// word, and the command that a run starts for itself: building the parser would take as long as a process
/// that does nothing.
fn plain(words: impl Iterator<Item = OsString>) -> Option<(Command, &'static str)> {
    let words: Vec<OsString> = words.skip(1).take(4).collect();
    let words: Vec<&str> = words.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    match words[..] {
        ["who"] => Some((Command::Who(Default::default()), "who")),
        ["status"] => Some((Command::Status(Default::default()), "status")),
        ["runs", "supervise", id] if !id.starts_with('-') => {
            let id = id.to_owned();
            Some((Command::Runs(commands::runs::Command::Supervise { id }), "runs supervise"))
        }
        _ => None,
    }
}

/// Builds the parser of all commands, with the examples of each.
pub(crate) fn command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    help::with_examples(command)
}

/// Parses a command line; also returns the words of the command that it calls.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<(Cli, String), clap::Error> {
    let words = arguments(words);
    // The lazy parser builds only the command that is called. Only help pages need the full one with the
    // examples.
    let matches =
        Cli::command().try_get_matches_from(&words).or_else(|_| command().try_get_matches_from(&words))?;
    let (mut called, mut inner) = (Vec::new(), matches.subcommand());
    while let Some((name, matches)) = inner {
        called.push(name);
        inner = matches.subcommand();
    }
    Ok((Cli::from_arg_matches(&matches)?, called.join(" ")))
}

pub(crate) fn run() -> ExitCode {
    let parsed = || match plain(std::env::args_os()) {
        Some((command, called)) => Ok((Cli::of(command), called.to_owned())),
        None => parse(std::env::args_os()),
    };
    let attempt = || match parsed() {
        Ok((cli, called)) => carry_out(cli, &called),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Ok(ExitCode::from(exit::USAGE))
        }
        Err(error) if error.use_stderr() => Err(usage_error::explain(&error)),
        Err(help) => {
            let _ = help.print();
            Ok(ExitCode::SUCCESS)
        }
    };
    report(match attempt() {
        Err(error) if error.is_worth_a_retry() => attempt(),
        result => result,
    })
}

/// Runs `consort send …` without building the full parser. Arguments that it does not understand, help and
/// mistakes above all, go to the full parser.
pub(crate) fn run_send() -> ExitCode {
    match commands::send::Args::quick(std::env::args_os().skip(2)) {
        Some(args) => report(World::new(Vec::new()).and_then(|world| commands::send::run(&world, &args))),
        None => run(),
    }
}

/// Runs `consort know query …` without building the full parser, which is the way back for all else.
pub(crate) fn run_know() -> ExitCode {
    let Some(command) = commands::know::Command::quick(std::env::args_os().skip(2)) else { return run() };
    match carry_out(Cli::of(Command::Know(command)), "know query") {
        Err(error) if error.is_worth_a_retry() => run(),
        result => report(result),
    }
}

/// Returns the exit code of a command, and prints its error if it failed.
fn report(result: Result<ExitCode, CommandError>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            // The words after `--` belong to another program.
            let own = std::env::args_os().skip(1).take_while(|word| word != "--");
            let json = error.json().filter(|_| own.into_iter().any(|word| word == "--json"));
            match json {
                Some(json) => drop(output::Out::new().json(&json)),
                None if error.render().is_empty() => {}
                None => output::note(error.render().trim_end()),
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(cli: Cli, called: &str) -> Result<ExitCode, CommandError> {
    let world = World::new(cli.set)?;
    if cli.token_file.is_some() || cli.token_fd.is_some() {
        commands::token::accept(&world, cli.token_file.as_deref(), cli.token_fd, called)?;
    }
    let code = match cli.command {
        Some(command) => run_command(&world, command),
        None => alone(&world),
    };
    // Saved also after a failure: what the command recorded before it failed stays recorded.
    world::save_knowledge(&world.saved.take_due(), &world.overrides);
    code
}

/// Runs `consort` without a command: the live view for the person at a terminal of their own, a summary for
/// everyone else, also in a terminal that an agent made.
fn alone(world: &World) -> Result<ExitCode, CommandError> {
    let is_watched = world.out.is_terminal && std::io::stdin().is_terminal();
    let done = match is_watched && matches!(world.open()?.caller()?, Caller::Person) {
        true => commands::up::run_here(world),
        false => commands::status::run(world, &commands::status::Args::default()),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn run_command(world: &World, command: Command) -> Result<ExitCode, CommandError> {
    let done = |result: CommandResult| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Up(args) => done(commands::up::run(world, &args)),
        Command::Down(_) => done(commands::down::run(world)),
        Command::Who(args) => done(commands::who::run(world, &args)),
        Command::Whoami(args) => done(commands::whoami::run(world, &args)),
        Command::Status(args) => done(commands::status::run(world, &args)),
        Command::Send(args) => commands::send::run(world, &args),
        Command::Reply(args) => commands::reply::run(world, &args),
        Command::Inbox(args) => commands::inbox::run(world, &args),
        Command::Chat(args) => done(commands::chat::run(world, &args)),
        Command::Reserve(args) => commands::reserve::run(world, &args),
        Command::Release(args) => done(commands::release::run(world, &args)),
        Command::Explain(args) => done(commands::explain::run(world, &args)),
        Command::Wait(args) => commands::wait::run(world, &args),
        Command::Waiting(args) => done(commands::waiting::run(world, &args)),
        Command::Answer(args) => done(commands::answer::run(world, &args)),
        Command::Task(args) => done(commands::task::run(world, &args)),
        Command::Holds(args) => done(commands::holds::run(world, &args)),
        Command::Policy(command) => done(commands::policy::run(world, &command)),
        Command::Open(args) => commands::open::run(world, &args),
        Command::Pane(command) => done(commands::pane::run(world, &command)),
        Command::Run(args) => commands::run::run(world, &args),
        Command::Runs(command) => commands::runs::run(world, &command),
        Command::Radar(args) => done(commands::radar::run(world, &args)),
        Command::Agent(command) => done(commands::agent::run(world, &command)),
        Command::Know(command) => commands::know::run(world, &command),
        Command::Shield(args) => Ok(crate::shield::run(&args.words())),
        Command::Demo(args) => done(commands::demo::run(world, &args)),
        Command::Mcp(args) => done(commands::mcp::run(world, &args)),
        Command::Serve(args) => done(commands::serve::run(world, &args)),
        Command::Init(args) => done(commands::init::run(world, &args)),
        Command::With(args) => done(commands::with::run(world, &args)),
        Command::Uninit(args) => done(commands::uninit::run(world, &args)),
        Command::Doctor(args) => commands::doctor::run(world, &args),
        Command::Roles(command) => commands::roles::run(world, &command),
        Command::Token(command) => done(commands::token::run(world, &command)),
        Command::Config(command) => done(commands::config::run(world, &command)),
        Command::Journal(command) => commands::journal::run(world, &command),
        Command::GitHook(args) => commands::git_hook::run(world, &args),
        Command::Completions(args) => done(commands::completions::run(world, &args)),
    }
}

/// Prepares the words of the command line for the parser. All words after the agent in `with <agent> …` are
/// for that agent, `--help` included, so a `--` is put before them. Two common guesses, `history` and
/// `version`, are no aliases of one command, and are replaced by our words.
fn arguments(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let (mut at, mut is_with) = (1, false);
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        match word {
            "--set" => at += 1,
            "with" if !is_with => is_with = true,
            "history" if !is_with => {
                words.splice(at..=at, ["journal".into(), "tail".into()]);
                break;
            }
            "version" if !is_with => {
                words[at] = "--version".into();
                break;
            }
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

/// Returns the words of every command that can be called.
pub(crate) fn command_names() -> Vec<String> {
    fn below(command: &clap::Command, above: &str, found: &mut Vec<String>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let words = format!("{above}{}", inner.get_name());
            if !inner.is_subcommand_required_set() {
                found.push(words.clone());
            }
            below(inner, &format!("{words} "), found);
        }
    }
    let mut found = Vec::new();
    below(&command(), "", &mut found);
    found
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Parses the number of a rule or a prediction, with or without its `#`.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits.parse().map_err(|_| "expected a number, as in `4` or `#4`".into())
}

#[cfg(test)]
mod tests {
    use consort_agents::allow;

    use super::*;

    #[test]
    fn every_verb_is_either_allowed_or_asked_about() {
        let mut found = command_names();
        found.sort();
        let mut listed: Vec<&str> = allow::ALLOWED.iter().chain(allow::ASKED).copied().collect();
        listed.sort_unstable();
        assert_eq!(found, listed, "a verb belongs into exactly one list of agents/src/allow.rs");
    }

    /// An allowed verb covers every command that begins with it.
    #[test]
    fn no_allowed_verb_begins_one_that_is_asked_about() {
        for allowed in allow::ALLOWED {
            let covered = allow::ASKED.iter().find(|asked| asked.starts_with(&format!("{allowed} ")));
            assert_eq!(covered, None, "`{allowed}` covers it");
        }
    }

    #[test]
    fn a_plain_word_means_what_the_parser_says() {
        for words in ["who", "status", "runs supervise 01a1"] {
            let line = || ["consort"].into_iter().chain(words.split(' ')).map(OsString::from);
            let (command, called) = plain(line()).unwrap();
            let (parsed, parsed_called) = parse(line()).unwrap();
            assert_eq!(called, parsed_called);
            match (command, parsed.command.unwrap()) {
                (Command::Who(quick), Command::Who(parsed)) => assert_eq!(quick, parsed),
                (Command::Status(quick), Command::Status(parsed)) => assert_eq!(quick, parsed),
                (
                    Command::Runs(commands::runs::Command::Supervise { id: quick }),
                    Command::Runs(commands::runs::Command::Supervise { id: parsed }),
                ) => assert_eq!(quick, parsed),
                _ => panic!("`{words}` is another command"),
            }
        }
        assert!(plain(["consort", "who", "--json"].into_iter().map(OsString::from)).is_none());
    }

    /// Verbs that weaken protection, run other programs or serve are never allowed without asking.
    #[test]
    fn the_dangerous_verbs_are_asked_about() {
        for verb in [
            "init",
            "uninit",
            "config set",
            "config unset",
            "roles set",
            "serve",
            "journal rebuild",
            "token new",
            "shield",
            "with",
            "holds restore",
            "holds override",
            "agent leave",
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
        let mut listed: Vec<&str> = allow::ALLOWED_TOOLS.iter().chain(allow::ASKED_TOOLS).copied().collect();
        listed.sort_unstable();
        assert_eq!(tools, listed);
    }
}
