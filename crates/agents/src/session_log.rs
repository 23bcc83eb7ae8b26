//! Reads from the end of an agent CLI's own session log whether the session is idle. Some CLIs fire no hook
//! when a turn is interrupted or fails, and only log it.

use std::fs::File;
use std::fs::Metadata;
use std::io::Read as _;
use std::io::Seek as _;
use std::io::SeekFrom;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use consort_core::Timestamp;
use consort_core::presence::CliStatus;
use consort_core::presence::Status;
use serde_json::Value;

const O_NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };

/// The number of bytes at the end of the log that are searched for the last event about a turn.
const TAIL: u64 = 64 << 10;

/// Returns the state idle if the last event about a turn is its end. `ends` tells whether an event ends a
/// turn; `None` for an event that is not about a turn.
pub(crate) fn idle(path: &Path, ends: impl Fn(&Value) -> Option<bool>) -> Option<CliStatus> {
    // Opening a pipe must not block.
    let mut file = File::options().read(true).custom_flags(O_NONBLOCK).open(path).ok()?;
    let found = file.metadata().ok().filter(Metadata::is_file)?;
    file.seek(SeekFrom::Start(found.size().saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let events = tail.rsplit(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let is_over = events.filter_map(|event: Value| ends(&event)).next()?;
    let at = Timestamp(found.mtime() * 1_000 + found.mtime_nsec() / 1_000_000);
    is_over.then_some(CliStatus { status: Status::Idle, waiting_for: None, at: Some(at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_about_a_turn_counts() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let is_idle = |text: &str| {
            std::fs::write(&log, text).unwrap();
            idle(&log, |event| event["ends"].as_bool()).is_some()
        };
        assert!(!is_idle(""));
        assert!(!is_idle("{\"ends\":true}\n{\"ends\":false}\n{}\n"));
        assert!(is_idle("{\"ends\":false}\n{\"ends\":true}\n{\"other\":1}\n{\"half"));
        // Events further back than `TAIL` are not found.
        assert!(!is_idle(&format!("{{\"ends\":true}}\n\"{}\"\n", "x".repeat(TAIL as usize))));
        assert!(idle(dir.path(), |_| Some(true)).is_none());
    }
}
