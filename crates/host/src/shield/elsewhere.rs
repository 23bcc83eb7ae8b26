//! The shield on systems that have none: always an error.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Fails, and changes nothing.
pub fn enter(_paths: &[PathBuf], _command: &mut Vec<OsString>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: there is no shield on this system.
pub fn is_available() -> Result<(), String> {
    Err("this system has no way to do it".into())
}
