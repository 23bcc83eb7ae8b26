//! Reads, merges and writes the project's knowledge file in git, `.consort/knowledge.yjs`, for commands.

use std::fs;
use std::io;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use consort_core::knowledge::GitFileMark;
use consort_core::knowledge::GitFileStamp;
use consort_core::knowledge::KnowledgeCursor;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Scope;
use consort_core::knowledge::TakenIn;
use consort_core::text;
use consort_knowledge::document;
use rustix::fs::FlockOperation;

use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::output;
use crate::world::OpenWorld;

/// The path of the file in a worktree.
const NAME: &str = ".consort/knowledge.yjs";

/// Longest file that is read, in bytes.
const LONGEST: u64 = 64 << 20;

pub(crate) fn file(worktree: &Path) -> TheirFile {
    TheirFile::in_repository(worktree, Path::new(NAME))
}

/// Returns a stamp of the file as it is now: a changed or replaced file has another.
pub(crate) fn stamp(worktree: &Path) -> Option<GitFileStamp> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::symlink_metadata(worktree.join(NAME)).ok()?;
    let (inode, length) = (metadata.ino(), metadata.size());
    let changed = metadata.mtime_nsec() + metadata.mtime() * 1_000_000_000;
    Some(GitFileStamp { text: format!("{inode} {length} {changed}"), length })
}

/// Takes in what the project's file says that is not known yet, and warns if that fails. A file that cannot
/// be understood keeps nobody from what is known.
pub(crate) fn take_in(opened: &mut OpenWorld, scope: &Scope) -> TakenIn {
    let taken = opened.app.take_in_git_file(scope, &opened.place.worktree);
    if let TakenIn::Failed(why) = &taken {
        output::note(format_args!("Warning: {}", text::printable(why.trim_end())));
    }
    taken
}

/// Takes in the project's file, in the process that may die of it.
pub(crate) fn take_in_here(opened: &mut OpenWorld) -> Result<(), CommandError> {
    let (worktree, scope) = (opened.place.worktree.clone(), Scope::Project(opened.project.id.clone()));
    let file = file(&worktree);
    // The stamp is taken before the file is read: a change during the reading counts as a new state.
    let (Some(stamp), Some(update)) = (stamp(&worktree), file.read_bytes(LONGEST)?) else { return Ok(()) };
    let mut index = opened.app.knowledge()?;
    let mut place = KnowledgeCursor::default();
    let entries = opened.app.knowledge_since(&scope, &mut place)?.unwrap_or_default();
    let mut known = document::from_entries(&entries).map_err(|error| not_made(&error))?;
    let (new, edits) = document::merge_new(&mut known, &update).map_err(|error| {
        let what = format!("{} is no document of ours, or is damaged: {error}", file.path().display());
        CommandError::user(what, "it was left alone; `consort know save` writes it anew")
    })?;
    // An update without readable edits is not recorded: the file keeps it, and it comes with the next one
    // that has some.
    let count = usize::from(!edits.is_empty());
    if count > 0 {
        opened.app.merge_knowledge(&mut *index, &scope, "git", document::hex(&new), edits)?;
    }
    let since = opened.app.knowledge_since(&scope, &mut place)?;
    let is_alone = since.is_some_and(|since| since.len() == count);
    let place = (is_alone && known.state() == update).then_some(place);
    opened.app.set_git_file_mark(&worktree, &GitFileMark { stamp: stamp.text, is_bad: false, place });
    // Marks the records that are stale as of now, then notifies the sessions that wait for their digest.
    opened.app.knowledge_seen_from(&scope, &worktree, &worktree)?;
    Ok(opened.app.give_late_digests(&opened.project.id)?)
}

/// Takes in a file that the user names, and returns how many words were new.
pub(crate) fn ingest_file(
    opened: &mut OpenWorld,
    index: &mut dyn KnowledgeIndex,
    scope: &Scope,
    file: &TheirFile,
) -> Result<usize, CommandError> {
    let path = file.path();
    let update = read(file)?;
    let entries = opened.app.knowledge_entries(scope)?;
    let mut known = document::from_entries(&entries).map_err(|error| not_made(&error))?;
    let (new, edits) = document::merge_new(&mut known, &update)
        .map_err(|error| CommandError::user(format!("{}: {error}", path.display()), "it was left alone"))?;
    let count = edits.len();
    if count > 0 {
        opened.app.merge_knowledge(index, scope, "import", document::hex(&new), edits)?;
        opened.app.request_git_file(scope, &opened.place.worktree);
    }
    Ok(count)
}

/// Reads a file that somebody else may have made. It is tried out first, in a process that may die of it.
fn read(file: &TheirFile) -> Result<Vec<u8>, CommandError> {
    let missing = || CommandError::file("cannot read", &file.path(), io::ErrorKind::NotFound.into());
    let bytes = file.read_bytes(LONGEST)?.ok_or_else(missing)?;
    if !matches!(in_a_child("try", &[], &bytes)?, Some((0, _))) {
        return Err(CommandError::user(
            format!("{} is no document of ours, or is damaged", file.path().display()),
            "it was left alone",
        ));
    }
    Ok(bytes)
}

pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, CommandError> {
    consort_files::read_regular_file(path, LONGEST)
        .map_err(|error| CommandError::file("cannot read", path, error))
}

/// Runs a command of ours on files or input that somebody else may have made; returns its exit code and what
/// it printed to stderr, or `None` if it died of them.
pub(crate) fn in_a_child(
    command: &str,
    files: &[&Path],
    input: &[u8],
) -> Result<Option<(u8, String)>, CommandError> {
    let ended = std::env::current_exe().and_then(|this| {
        let mut child = Command::new(this);
        child.args(["know", command, "--"]).args(files);
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        // A child that has died does not read on; its exit status tells.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
        child.wait_with_output()
    });
    let ended = ended.map_err(|error| CommandError::file("cannot run", Path::new("consort"), error))?;
    let code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map(|code| (code, String::from_utf8_lossy(&ended.stderr).into_owned())))
}

fn not_made(error: &document::CrdtError) -> CommandError {
    let what = format!("the document cannot be made: {error}");
    CommandError::user(what, "`consort journal verify` may know more")
}

/// Takes in both sides of a file that git could not merge: git leaves one of them in the worktree, and adding
/// that side drops the other.
fn take_in_sides(opened: &mut OpenWorld, scope: &Scope) -> Result<(), CommandError> {
    let sides = consort_host::unmerged_sides(&opened.place.worktree, NAME);
    for side in &sides {
        if !matches!(in_a_child("try", &[], side)?, Some((0, _))) {
            continue;
        }
        let entries = opened.app.knowledge_entries(scope)?;
        let mut known = document::from_entries(&entries).map_err(|error| not_made(&error))?;
        let (new, edits) = document::merge_new(&mut known, side).map_err(|error| not_made(&error))?;
        if !edits.is_empty() {
            let mut index = opened.app.knowledge()?;
            opened.app.merge_knowledge(&mut *index, scope, "git", document::hex(&new), edits)?;
        }
    }
    if !sides.is_empty() {
        output::note(format_args!(
            "Git could not merge {NAME}; both sides are in it now: `git add {NAME}`. `consort init --git-merge` has git do that."
        ));
    }
    Ok(())
}

/// Warns while nothing is lost yet: a clone that leaves merging to git loses a side.
pub(crate) fn warn_without_driver(worktree: &Path) {
    if consort_host::shared_git_dir(worktree).is_some()
        && !consort_host::has_merge_driver(worktree, "consort")
    {
        output::note(format_args!(
            "Note: this clone cannot merge {NAME}: git would keep one side. `consort init --git-merge` fixes that."
        ));
    }
}

/// Writes the project's file. The content of the present file must have been taken in.
pub(crate) fn save(opened: &mut OpenWorld) -> Result<(PathBuf, usize), CommandError> {
    let (worktree, scope) = (opened.place.worktree.clone(), Scope::Project(opened.project.id.clone()));
    take_in_sides(opened, &scope)?;
    // Of two processes that save at once, the later one has everything that the earlier one had.
    let turn = opened.data.join("saving");
    let turn = fs::File::create(&turn).map_err(|error| CommandError::file("cannot make", &turn, error))?;
    let _ = rustix::fs::flock(&turn, FlockOperation::LockExclusive);
    let file = file(&worktree);
    let former = file.read_bytes(LONGEST)?.unwrap_or_default();
    let mark = opened.app.git_file_mark(&worktree);
    let is_of_mark = |mark: &GitFileMark| stamp(&worktree).is_some_and(|stamp| stamp.text == mark.stamp);
    let place = mark.filter(is_of_mark).and_then(|mark| mark.place);
    let quick = place.map(|place| edited(opened, &scope, place, &former)).transpose()?.flatten();
    let (state, place) = match quick {
        Some(quick) => quick,
        None => whole(opened, &scope)?,
    };
    if state != former {
        file.write(&state, &opened.pending)?;
    }
    if let Some(stamp) = stamp(&worktree) {
        let mark = GitFileMark { stamp: stamp.text, is_bad: false, place: Some(place) };
        opened.app.set_git_file_mark(&worktree, &mark);
    }
    Ok((file.path(), state.len()))
}

/// The document as the file has it, and the place in the journal up to which it has everything.
type Made = (Vec<u8>, KnowledgeCursor);

/// Makes the document of the present file and the entries since; `None` if these are not enough.
fn edited(
    opened: &mut OpenWorld,
    scope: &Scope,
    mut place: KnowledgeCursor,
    former: &[u8],
) -> Result<Option<Made>, CommandError> {
    let Some(entries) = opened.app.knowledge_since(scope, &mut place)? else { return Ok(None) };
    let state = document::edited_state(former, &entries).map_err(|error| not_made(&error))?;
    Ok(state.map(|state| (state, place)))
}

fn whole(opened: &mut OpenWorld, scope: &Scope) -> Result<Made, CommandError> {
    let mut place = KnowledgeCursor::default();
    let entries = opened.app.knowledge_since(scope, &mut place)?.unwrap_or_default();
    let document = document::from_entries(&entries).map_err(|error| not_made(&error))?;
    Ok((document.state(), place))
}
