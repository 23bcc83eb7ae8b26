//! The project's knowledge file in git, `.consort/knowledge.yjs`: read, merged and
//! written by commands.

use std::fs;
use std::io;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Scope;
use consort_core::text;
use consort_knowledge::document;

use crate::connect;
use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::world::Opened;

/// Longer files are not looked at.
const LONGEST: u64 = 64 << 20;

pub(crate) fn file(opened: &Opened) -> TheirFile {
    TheirFile::in_repository(&opened.place.worktree, Path::new(".consort/knowledge.yjs"))
}

/// Where it is noted which state of the file was taken in.
fn mark(opened: &Opened) -> PathBuf {
    let name = consort_core::text::checksum(file(opened).path().as_os_str().as_encoded_bytes());
    opened.data.join("taken-in").join(format!("{name:016x}"))
}

/// A file as it stands: another one has another.
fn stand(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::symlink_metadata(path).ok()?;
    Some(format!(
        "{} {} {}",
        metadata.ino(),
        metadata.size(),
        metadata.mtime_nsec() + metadata.mtime() * 1_000_000_000
    ))
}

/// Takes in what the project's file says that is not known yet: somebody may have
/// pulled, checked out or merged. A file that cannot be understood keeps nobody
/// from what is known.
pub(crate) fn ingest(opened: &mut Opened, index: &mut dyn KnowledgeIndex, scope: &Scope) -> CommandResult {
    let file = file(opened);
    let Some(stand) = stand(&file.path()).filter(|_| *scope != Scope::Global) else { return Ok(()) };
    let mark = mark(opened);
    if fs::read_to_string(&mark).is_ok_and(|known| known == stand) {
        return Ok(());
    }
    if let Err(error) = ingest_file(opened, index, scope, &file) {
        output::note(format_args!("Warning: {}", text::printable(error.render().trim_end())));
        return Ok(());
    }
    connect::write_own(&mark, stand.as_bytes(), &opened.pending)
}

/// Takes a file in; how many words were new.
pub(crate) fn ingest_file(
    opened: &mut Opened,
    index: &mut dyn KnowledgeIndex,
    scope: &Scope,
    file: &TheirFile,
) -> Result<usize, CommandError> {
    let path = file.path();
    let update = read(file)?;
    let mut known = make(opened, scope)?;
    let edits = document::merge(&mut known, &update)
        .map_err(|error| CommandError::user(format!("{}: {error}", path.display()), "it was left alone"))?;
    let count = edits.len();
    // The file has all there is: what nobody reads comes with what somebody does.
    if count > 0 {
        opened.app.merge_knowledge(index, scope, document::hex(&update), edits)?;
    }
    Ok(count)
}

/// A file that somebody else may have made. It is tried out in a process that may
/// die of it first.
fn read(file: &TheirFile) -> Result<Vec<u8>, CommandError> {
    let missing = || CommandError::file("cannot read", &file.path(), io::ErrorKind::NotFound.into());
    let bytes = file.read_bytes(LONGEST)?.ok_or_else(missing)?;
    if !matches!(in_a_child("try", &[], &bytes)?, Some((0, _))) {
        return Err(CommandError::user(
            format!("{} is no document of ours, or is damaged", file.path().display()),
            "it was left alone; `consort know save` writes it anew",
        ));
    }
    Ok(bytes)
}

pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, CommandError> {
    consort_files::read(path, LONGEST).map_err(|error| CommandError::file("cannot read", path, error))
}

/// How a command of ours ended that was given files or input that somebody else may
/// have made, and what it said; nothing where it died of them.
pub(crate) fn in_a_child(
    command: &str,
    files: &[&Path],
    input: &[u8],
) -> Result<Option<(u8, String)>, CommandError> {
    let ended = std::env::current_exe().and_then(|this| {
        let mut child = Command::new(this);
        child.args(["know", command, "--"]).args(files);
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        // One that has died does not read on; how it ended tells.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
        child.wait_with_output()
    });
    let ended = ended.map_err(|error| CommandError::file("cannot run", Path::new("consort"), error))?;
    let code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map(|code| (code, String::from_utf8_lossy(&ended.stderr).into_owned())))
}

pub(crate) fn make(opened: &mut Opened, scope: &Scope) -> Result<document::Document, CommandError> {
    let entries = opened.app.knowledge_entries(scope)?;
    document::from_entries(&entries).map_err(|error| {
        CommandError::user(
            format!("the document cannot be made: {error}"),
            "`consort journal verify` may know more",
        )
    })
}

/// Writes the project's file, with what it said before.
pub(crate) fn save(opened: &mut Opened, scope: &Scope) -> Result<(PathBuf, usize), CommandError> {
    let file = file(opened);
    let path = file.path();
    let state = make(opened, scope)?.state();
    file.write(&state, &opened.pending)?;
    if let Some(stand) = stand(&path) {
        connect::write_own(&mark(opened), stand.as_bytes(), &opened.pending)?;
    }
    Ok((path, state.len()))
}

/// After something was recorded, where the person wants it so.
pub(crate) fn save_if_wanted(opened: &mut Opened, scope: &Scope) -> CommandResult {
    if *scope != Scope::Global && opened.config.saves_knowledge() {
        save(opened, scope)?;
    }
    Ok(())
}
