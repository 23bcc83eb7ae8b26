//! The hidden command `consort know merge`, which git runs to merge two knowledge
//! files.

use std::io::Read as _;
use std::path::Path;

use consort_knowledge::document;

use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::knowledge::file;
use crate::output;
use crate::world::World;

/// Merges two files in a child process. Git takes the second of its files, `ours`, for the result; a failure
/// is a conflict.
pub(super) fn run(ours: &Path, theirs: &Path) -> Result<ExitCode, CommandError> {
    match file::in_a_child("join", &[ours, theirs], b"")? {
        Some((code, said)) => {
            if !said.is_empty() {
                output::note(said.trim_end());
            }
            Ok(ExitCode::from(code))
        }
        None => Err(cannot_merge("it was too much")),
    }
}

pub(super) fn join(world: &World, ours: &Path, theirs: &Path) -> Result<ExitCode, CommandError> {
    let (one, other) = (file::bytes(ours)?, file::bytes(theirs)?);
    let mut document = document::Document::load(&one).map_err(cannot_merge)?;
    document.merge(&other).map_err(cannot_merge)?;
    TheirFile::OfUser(ours.to_owned()).write(&document.state(), &world.temporary_files())?;
    Ok(ExitCode::SUCCESS)
}

fn cannot_merge(error: impl std::fmt::Display) -> CommandError {
    CommandError::user(format!("they cannot be merged: {error}"), "`consort know save` writes one anew")
}

pub(super) fn check_document() -> Result<ExitCode, CommandError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    let is_good = read.is_ok() && document::Document::load(&bytes).is_ok();
    Ok(ExitCode::from(if is_good { 0 } else { exit::FOUND_SOMETHING }))
}
