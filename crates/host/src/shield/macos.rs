//! The shield of macOS: a sandbox profile that denies writes to some paths. It was
//! written from Apple's documentation and never run; a command that runs in a sandbox
//! already cannot enter another one, and then fails to start.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

const SANDBOX: &str = "/usr/bin/sandbox-exec";

/// Puts `sandbox-exec` and its profile before the command.
pub fn enter(paths: &[PathBuf], command: &mut Vec<OsString>) -> io::Result<()> {
    let profile = profile(paths).ok_or(io::ErrorKind::InvalidInput)?;
    let words = [SANDBOX, "-p", &profile].map(OsString::from);
    command.splice(0..0, words);
    Ok(())
}

/// Checks that a shield can be made here; the error says why not.
pub fn is_available() -> Result<(), String> {
    match std::path::Path::new(SANDBOX).exists() {
        true => Ok(()),
        false => Err(format!("{SANDBOX} is not there")),
    }
}

/// Builds a profile that allows everything but writes to these paths; `None` if a path is not text.
fn profile(paths: &[PathBuf]) -> Option<String> {
    let mut profile = String::from("(version 1)(allow default)");
    for path in paths {
        let text = path.to_str()?.replace('\\', "\\\\").replace('"', "\\\"");
        profile.push_str(&format!("(deny file-write* (subpath \"{text}\"))"));
    }
    Some(profile)
}
