//! The command `consort git-hook`, which git runs before a commit; also adds and removes that hook, for
//! `init --git-hook` and `uninit --git-hook`.
//!
//! A hook that was there before is kept beside ours and runs first; removing ours puts it back. **A commit
//! never fails because of a failure of ours.**

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use crate::connect;
use crate::connect::agree;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::exit::ExitCode;
use crate::output;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(value_parser = ["pre-commit"])]
    hook: String,
}

/// The line that tells our own hook from another's.
const MARK: &str = "# Written by `consort init --git-hook`; `consort uninit --git-hook` takes it away.";

/// Exit code if someone else holds a staged file. Nothing else stops a commit.
const REFUSED: u8 = 4;

/// Longest hook that is read, in bytes: longer than any that somebody wrote.
const LONGEST: u64 = 1 << 20;

const BEFORE: &str = "before-consort/pre-commit";

pub(crate) fn run(world: &World, _: &Args) -> Result<ExitCode, CommandError> {
    let mut app = world.app();
    let worktree = world.place().worktree;
    let Some(staged) = consort_host::staged(&worktree) else { return Ok(ExitCode::SUCCESS) };
    let caller = caller_facts(&app);
    let outcome = match app.check_commit(&caller, &worktree, &staged) {
        Ok(outcome) => outcome,
        Err(error) => {
            output::note(format_args!("Warning: consort could not check this commit: {error}"));
            return Ok(ExitCode::SUCCESS);
        }
    };
    outcome.told.iter().for_each(output::note);
    Ok(if outcome.is_refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
}

pub(crate) fn install(world: &World, worktree: &Path, dry_run: bool, yes: bool) -> CommandResult {
    let dir = hooks_dir(worktree)?;
    let (hook, before) = (dir.join("pre-commit"), dir.join(BEFORE));
    let program = connect::find_program("consort").map_or_else(std::env::current_exe, Ok);
    let program = program.map_err(|error| CommandError::file("cannot find", Path::new("consort"), error))?;
    let script = script(&program);
    let found = read(&hook)?;
    if found.as_deref() == Some(script.as_str()) {
        return world.out.line(format!("The hook is there already: {}", hook.display()));
    }
    let is_anothers = found.is_some_and(|found| !found.contains(MARK));
    if is_anothers && before.exists() {
        return Err(CommandError::user(
            format!("{} and {} are both there", hook.display(), before.display()),
            "one of them is left over: move it away",
        ));
    }
    output::note(format_args!("{}:", hook.display()));
    world.out.text(&script)?;
    if dry_run || !agree(yes, "Add this hook?")? {
        output::note("Nothing was changed.");
        return Ok(());
    }
    let failed = |error| CommandError::file("cannot write", &hook, error);
    fs::create_dir_all(&dir).map_err(failed)?;
    if is_anothers {
        // Moved rather than copied, so that it stays a link or a program of any kind.
        before.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        fs::rename(&hook, &before).map_err(failed)?;
        output::note(format_args!("The hook that was there runs first, from {}", before.display()));
    }
    let new = dir.join("pre-commit.new-consort");
    // A file of that name is left over, or a trap.
    let _ = fs::remove_file(&new);
    let write = |mut file: fs::File| {
        file.set_permissions(fs::Permissions::from_mode(0o755))?;
        file.write_all(script.as_bytes())
    };
    fs::File::create_new(&new).and_then(write).map_err(failed)?;
    fs::rename(&new, &hook).map_err(failed)?;
    world.out.line(format!("Commits in this repository are checked: {}", hook.display()))
}

pub(crate) fn remove(world: &World, worktree: &Path, dry_run: bool) -> CommandResult {
    let dir = hooks_dir(worktree)?;
    let (hook, before) = (dir.join("pre-commit"), dir.join(BEFORE));
    if read(&hook)?.is_none_or(|found| !found.contains(MARK)) {
        return world.out.line(format!("There is no hook of ours: {}", hook.display()));
    }
    if dry_run {
        output::note(format_args!(
            "Would remove {}; nothing was changed: this was a dry run.",
            hook.display()
        ));
        return Ok(());
    }
    let has_before = fs::symlink_metadata(&before).is_ok();
    let undone = if has_before { fs::rename(&before, &hook) } else { fs::remove_file(&hook) };
    let _ = before.parent().map(fs::remove_dir);
    undone.map_err(|error| CommandError::file("cannot change", &hook, error))?;
    world.out.line(format!("Commits in this repository are no longer checked: {}", hook.display()))
}

/// Tells whether our own hook checks commits in this repository.
pub(crate) fn is_installed(worktree: &Path) -> bool {
    let hook = hooks_dir(worktree).and_then(|dir| read(&dir.join("pre-commit")));
    hook.is_ok_and(|hook| hook.is_some_and(|hook| hook.contains(MARK)))
}

/// Returns the directory of hooks, if it is the repository's own.
fn hooks_dir(worktree: &Path) -> Result<PathBuf, CommandError> {
    let Some(dir) = consort_host::hooks_dir(worktree) else {
        return Err(CommandError::user("this is not a git repository", "run it inside of one"));
    };
    let own = consort_host::shared_git_dir(worktree).is_some_and(|common| dir.starts_with(common));
    if !own {
        return Err(CommandError::user(
            format!("the hooks of this repository are not its own: {}", dir.display()),
            format!("add this line to {}: consort git-hook pre-commit", dir.join("pre-commit").display()),
        ));
    }
    Ok(dir)
}

fn read(path: &Path) -> Result<Option<String>, CommandError> {
    match consort_files::read_regular_file(path, LONGEST) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::file("cannot read", path, error)),
    }
}

fn script(program: &Path) -> String {
    let program = program.display().to_string().replace('\'', r"'\''");
    format!(
        "#!/bin/sh\n{MARK}\nbefore=\"${{0%/*}}/{BEFORE}\"\nif [ -x \"$before\" ]; then \"$before\" \"$@\" || exit $?; fi\n\
         [ -x '{program}' ] || exit 0\n'{program}' git-hook pre-commit\n[ $? -ne {REFUSED} ]\n"
    )
}
