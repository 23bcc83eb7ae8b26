//! Reads the end of the log that an agent CLI keeps of its own session. Some CLIs fire
//! no hook when a turn is interrupted or fails, and write it there.

use std::fs::File;
use std::fs::Metadata;
use std::io::Read as _;
use std::io::Seek as _;
use std::io::SeekFrom;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use consort_core::Timestamp;
use consort_core::presence::LiveState;
use consort_core::presence::Status;
use serde_json::Value;

const O_NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };

/// How far back to look for the last word about a turn.
const TAIL: u64 = 64 << 10;

/// Idle, if the last event that says anything of a turn is its end. `ends` says
/// that of an event: whether it ends one, or nothing.
pub(crate) fn idle(path: &Path, ends: impl Fn(&Value) -> Option<bool>) -> Option<LiveState> {
    // Without waiting, if it is a pipe.
    let mut file = File::options().read(true).custom_flags(O_NONBLOCK).open(path).ok()?;
    let found = file.metadata().ok().filter(Metadata::is_file)?;
    file.seek(SeekFrom::Start(found.size().saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let events = tail.rsplit(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let is_over = events.filter_map(|event: Value| ends(&event)).next()?;
    let at = Timestamp(found.mtime() * 1_000 + found.mtime_nsec() / 1_000_000);
    is_over.then_some(LiveState { status: Status::Idle, waiting_for: None, at: Some(at) })
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
        // What lies far back is not looked for.
        assert!(!is_idle(&format!("{{\"ends\":true}}\n\"{}\"\n", "x".repeat(TAIL as usize))));
        assert!(idle(dir.path(), |_| Some(true)).is_none());
    }
}
