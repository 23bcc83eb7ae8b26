//! The spool on systems other than Linux, where it does nothing.

use std::path::Path;

use consort_core::host::PlacedDirectory;
use consort_host::Paths;

use crate::error::CommandError;
use crate::exit::ExitCode;

pub(crate) fn ask() -> Option<ExitCode> {
    None
}

pub(crate) fn serve(_paths: &Paths, _cwd: &Path) {}

pub(crate) fn require_here(_place: &PlacedDirectory) -> Result<(), CommandError> {
    Ok(())
}
