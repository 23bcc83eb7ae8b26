//! `consort with`

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use clap::builder::PossibleValuesParser;
use consort_agents::Level;
use consort_agents::Once;
use consort_agents::Run;
use consort_host::env;

use super::init::kinds;
use crate::connect;
use crate::connect::State;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which agent CLI
    #[arg(value_parser = PossibleValuesParser::new(kinds()))]
    agent: String,
    /// What to call it with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes the agent CLI: signals, the terminal and its exit code are its own.
pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let worktree = world.place().worktree;
    let standings = connect::standings(world, &worktree);
    let known =
        consort_agents::find(&args.agent).zip(standings.iter().find(|found| found.kind == args.agent));
    let Some((cli, standing)) = known else { return Ok(()) };
    let Some(program) = &standing.program else {
        return Err(CommandError::user(
            format!("{} is not on PATH", cli.title()),
            format!("install it, so that `{}` can be called", cli.program()),
        ));
    };
    let config_dir = world.config_dir(cli);
    let level = Level::User(&config_dir);
    let dir = world.paths.data.join("with");
    let is_there = |state: &State| matches!(state, State::Current | State::Outdated | State::SwitchedOff);
    let once = Once {
        program: &connect::hook_program(level),
        dir: &dir,
        config_dir: &config_dir,
        // What is connected for good would be told everything twice.
        hooks: !is_there(&standing.user) && !is_there(&standing.project),
        mcp: !standing.mcp,
        environment: &env::get,
        read: &|path: &Path| fs::read_to_string(path).ok(),
        list: &|path: &Path| {
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        },
    };
    let run = cli.once(&once).map_err(|error| {
        CommandError::user(
            format!("the settings that {} already has for this run cannot be added to: {error}", cli.title()),
            "mend or unset them",
        )
    })?;
    prepare(&dir, &run)?;
    let error = Command::new(program).args(&run.arguments).args(&args.arguments).envs(run.variables).exec();
    Err(CommandError::file("cannot start", program, error))
}

/// Writes what the run needs, in a directory of ours.
fn prepare(dir: &Path, run: &Run) -> CommandResult {
    if run.files.is_empty() {
        return Ok(());
    }
    connect::private_dir(dir)?;
    for (path, text) in &run.files {
        connect::write_atomically(path, text.as_bytes())?;
    }
    for (link, target) in &run.links {
        if fs::read_link(link).is_ok_and(|found| found == *target) {
            continue;
        }
        // What an earlier run has left in its place gives way to what is there now.
        let _ = fs::remove_file(link);
        match std::os::unix::fs::symlink(target, link) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(CommandError::file("cannot link", link, error));
            }
            _ => {}
        }
    }
    Ok(())
}
