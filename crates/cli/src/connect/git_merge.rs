//! Registers our merge driver for the knowledge file with git, and removes it, for `init --git-merge` and
//! `uninit --git-merge`.
//!
//! `.gitattributes` belongs to the project and says which driver merges the file; the command of that driver
//! has to be set in every clone by its owner.

use std::path::Path;

use crate::connect;
use crate::connect::TheirFile;
use crate::connect::agree;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::world::World;

/// Our line in `.gitattributes`.
const LINE: &str = ".consort/knowledge.yjs merge=consort -text";

const DRIVER: &str = "merge.consort.driver";
const NAME: &str = "merge.consort.name";

pub(crate) fn install(world: &World, worktree: &Path, dry_run: bool, yes: bool) -> CommandResult {
    if consort_host::shared_git_dir(worktree).is_none() {
        return Err(CommandError::user("this is not a git repository", "run it inside of one"));
    }
    let file = attributes(worktree);
    let found = file.read()?.unwrap_or_default();
    let driver =
        format!("{} know merge %O %A %B", connect::hook_program(consort_agents::Level::Project(worktree)));
    output::note(format_args!("{}:\n+{LINE}\ngit config {DRIVER} '{driver}'", file.path().display()));
    if dry_run || !agree(yes, "Have git merge knowledge?")? {
        output::note("Nothing was changed.");
        return Ok(());
    }
    if !found.lines().any(|line| line == LINE) {
        let gap = if found.is_empty() || found.ends_with('\n') { "" } else { "\n" };
        file.write(format!("{found}{gap}{LINE}\n").as_bytes(), &world.temporary_files())?;
    }
    configure(worktree, &[NAME, "knowledge of consort"])?;
    configure(worktree, &[DRIVER, &driver])?;
    world.out.line(
        "Git merges .consort/knowledge.yjs from now on; commit .gitattributes, and run this in every clone.",
    )
}

/// Tells whether git asks us to merge knowledge files in this clone.
pub(crate) fn is_installed(worktree: &Path) -> bool {
    let found = attributes(worktree).read().ok().flatten().unwrap_or_default();
    found.lines().any(|line| line.trim_end() == LINE) && consort_host::has_merge_driver(worktree, "consort")
}

pub(crate) fn remove(world: &World, worktree: &Path, dry_run: bool) -> CommandResult {
    let file = attributes(worktree);
    let found = file.read()?.unwrap_or_default();
    let left: String = found.split_inclusive('\n').filter(|line| line.trim_end() != LINE).collect();
    if dry_run {
        output::note("Nothing was changed: this was a dry run.");
        return Ok(());
    }
    if left.is_empty() && !found.is_empty() {
        file.remove()?;
    } else if left != found {
        file.write(left.as_bytes(), &world.temporary_files())?;
    }
    // A section that was not there is no failure.
    let _ = configure(worktree, &["--remove-section", "merge.consort"]);
    world.out.line("Git no longer asks consort to merge.")
}

fn attributes(worktree: &Path) -> TheirFile {
    TheirFile::in_repository(worktree, Path::new(".gitattributes"))
}

fn configure(worktree: &Path, arguments: &[&str]) -> CommandResult {
    if consort_host::change_git_config(worktree, arguments) {
        return Ok(());
    }
    Err(CommandError::user(
        format!("git could not be told: `git config {}`", arguments.join(" ")),
        "this has to be run in a git repository",
    ))
}
