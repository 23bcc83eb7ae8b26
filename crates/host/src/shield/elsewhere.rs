//! Where no shield is known.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Does nothing, and says so.
pub fn enter(_paths: &[PathBuf], _command: &mut Vec<OsString>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// It cannot.
pub fn is_available() -> Result<(), String> {
    Err("this system has no way to do it".into())
}
