//! The command `consort with`: starts an agent CLI connected for this one run.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use clap::builder::PossibleValuesParser;
use consort_agents::AgentCli;
use consort_agents::Environment;
use consort_agents::Level;
use consort_agents::RunSetup;
use consort_agents::SingleRun;
use consort_core::host::Repositories as _;
use consort_files::TemporaryFiles;
use consort_host::Machine;
use consort_host::env;

use super::init::kinds;
use crate::connect;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which agent CLI
    #[arg(value_parser = PossibleValuesParser::new(kinds()))]
    agent: String,
    /// Arguments for the CLI: all that follows, options too
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The command line and variables of an agent CLI that is connected for one run.
pub(crate) struct ConnectedRun {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
}

/// Becomes the agent CLI: signals, the terminal and its exit code are its own.
pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let Some(cli) = consort_agents::find(&args.agent) else { return Ok(()) };
    let arguments: Vec<String> =
        args.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (program, run) = prepared(world, cli, &world.place().worktree, &arguments, &env::get)?;
    let theirs = args.arguments.iter().enumerate().filter(|(at, _)| !run.replaced.contains(at));
    let theirs = theirs.map(|(_, word)| word);
    let error = Command::new(&program).args(&run.arguments).args(theirs).envs(run.variables).exec();
    Err(CommandError::file("cannot start", &program, error))
}

/// Prepares an agent CLI to be run in a directory, connected for that run, with these arguments.
pub(crate) fn connected_run(
    world: &World,
    cli: &dyn AgentCli,
    dir: &Path,
    arguments: &[String],
    environment: Environment<'_>,
) -> Result<ConnectedRun, CommandError> {
    let worktree = Machine::new(&world.paths.data).place(dir).worktree;
    let (program, run) = prepared(world, cli, &worktree, arguments, environment)?;
    let theirs = arguments.iter().enumerate().filter(|(at, _)| !run.replaced.contains(at));
    let arguments = run.arguments.into_iter().chain(theirs.map(|(_, word)| word.clone())).collect();
    let variables = run.variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(ConnectedRun { program, arguments, variables })
}

/// Finds the program, and writes the files that connect it.
fn prepared(
    world: &World,
    cli: &dyn AgentCli,
    worktree: &Path,
    arguments: &[String],
    environment: Environment<'_>,
) -> Result<(PathBuf, RunSetup), CommandError> {
    let Some(program) = connect::find_program(cli.program()) else {
        return Err(CommandError::user(
            format!("{} is not on PATH", cli.title()),
            format!("install it, so that `{}` can be called", cli.program()),
        ));
    };
    let config_dir = world.config_dir(cli);
    let levels = [Level::User(&config_dir), Level::Project(worktree)];
    let dir = world.paths.data.join("with");
    if let Some((saved, ours)) = cli.saved(&dir, &config_dir).filter(|_| !config_dir.starts_with(&dir)) {
        let cannot = |error| CommandError::file("cannot bring back what was saved in", &saved, error);
        bring_back(&saved, &config_dir, Some(ours)).map_err(cannot)?;
    }
    let is_mcp_alive =
        |level| cli.mcp(level, &env::get).is_some_and(|insertion| connect::is_alive(&insertion, level));
    let once = SingleRun {
        program: &connect::hook_program(levels[0]),
        dir: &dir,
        config_dir: &config_dir,
        worktree,
        // A CLI that is connected for good would run every hook twice.
        hooks: !levels.into_iter().any(|level| connect::is_alive(&cli.hooks(level), level)),
        mcp: !levels.into_iter().any(is_mcp_alive),
        shield: !connect::is_shielded(cli, levels[0]) && consort_host::shield::is_available().is_ok(),
        arguments,
        environment,
        read: &|path: &Path| fs::read_to_string(path).ok(),
        list: &|path: &Path| {
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        },
    };
    let run = cli.single_run(&once).map_err(|error| {
        CommandError::user(
            format!("the settings that {} already has for this run cannot be added to: {error}", cli.title()),
            "fix or unset them",
        )
    })?;
    prepare(&dir, &run, &world.temporary_files())?;
    Ok((program, run))
}

/// Writes the files and links that the run needs, in a directory of ours.
fn prepare(dir: &Path, run: &RunSetup, pending: &TemporaryFiles) -> CommandResult {
    if run.files.is_empty() {
        return Ok(());
    }
    connect::private_dir(dir)?;
    for (path, text) in &run.files {
        // A file that has this text already was written, and reached the disk, for an earlier run.
        if !fs::read_to_string(path).is_ok_and(|there| there == *text) {
            connect::write_own(path, text.as_bytes(), pending)?;
        }
        if text.starts_with("#!") {
            let made = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
            made.map_err(|error| CommandError::file("cannot make a program of", path, error))?;
        }
    }
    for (link, target) in &run.links {
        if fs::read_link(link).is_ok_and(|found| found == *target) {
            continue;
        }
        // A link of an earlier run is replaced. Anything else was saved just now by another run: the next run
        // brings it back.
        if link.is_symlink() {
            let _ = fs::remove_file(link);
        }
        match std::os::unix::fs::symlink(target, link) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(CommandError::file("cannot link", link, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Moves back the files that earlier runs have saved where only links should be: a program that saves by
/// putting a new file in place of the old one replaces a link. The newer of two files stays. The entry named
/// `ours` is not theirs, and is left alone.
fn bring_back(from: &Path, to: &Path, ours: Option<&str>) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (name, kind, saved) = (entry.file_name(), entry.file_type()?, entry.path());
        if ours.is_some_and(|ours| name == ours) || kind.is_symlink() {
            continue;
        }
        // A link among someone's dotfiles stays a link.
        let place = to.join(&name);
        let place = fs::canonicalize(&place).unwrap_or(place);
        if place.exists() && place.is_dir() != kind.is_dir() {
            // Nobody can say which of the two is meant.
            continue;
        }
        if kind.is_dir() {
            fs::create_dir_all(&place)?;
            bring_back(&saved, &place, None)?;
            // Fails if anything is left in it.
            let _ = fs::remove_dir(&saved);
        } else if kind.is_file() {
            let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
            if time(&saved) > time(&place) {
                fs::create_dir_all(to)?;
                move_file(&saved, &place)?;
            } else {
                fs::remove_file(&saved)?;
            }
        }
    }
    Ok(())
}

fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let mut new = to.as_os_str().to_owned();
            new.push(format!(".consort-{}", std::process::id()));
            fs::copy(from, &new)?;
            fs::rename(&new, to)?;
            fs::remove_file(from)
        }
        moved => moved,
    }
}
