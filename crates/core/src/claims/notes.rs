//! Notes of the claims room in the side files: the last writer of each file, and for each session
//! the files it has read, the notices it was given, its running commands and its wait. **A lost
//! note is a hint that is not given.**

use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::claims::KeptFile;
use crate::claims::ReadStamp;
use crate::claims::RunningCommand;
use crate::claims::SessionWait;
use crate::engine::StoreError;
use crate::presence::SessionId;
use crate::side_files::ACTIVITY;
use crate::side_files::HOLDER;
use crate::side_files::KEPT_FILES;
use crate::side_files::LogLine;
use crate::side_files::MAIL;
use crate::side_files::NOT_BEGUN;
use crate::side_files::SideFiles;
use crate::side_files::UNKNOWN_MAIL;
use crate::side_files::WRITERS;
use crate::side_files::path_key;
use crate::text;

/// The value of the field [`HOLDER`].
const IS_HOLDER: &str = "h";

/// A note beside the store that a session has written a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrite {
    pub session: SessionId,
    pub at: Timestamp,
    pub worktree: PathBuf,
    /// Relative to the worktree.
    pub path: String,
}

impl dyn SideFiles + '_ {
    /// Notes that a session has written a path.
    pub fn note_write(&self, write: &LastWrite) -> Result<(), StoreError> {
        let note = serde_json::to_string(write).unwrap_or_default();
        self.set_slot(WRITERS, &path_key(&write.worktree.join(&write.path)), &note)
    }

    /// Returns the last write of a file; `path` is its real path.
    pub fn last_write(&self, path: &Path) -> Option<LastWrite> {
        let write: LastWrite = serde_json::from_str(&self.slot(WRITERS, &path_key(path))?).ok()?;
        (write.worktree.join(&write.path) == path).then_some(write)
    }

    /// Notes the content that a file had when its holder wrote it last. If that fails, there is
    /// nothing to restore.
    pub fn note_kept(&self, kept: &KeptFile) {
        let note = serde_json::to_string(kept).unwrap_or_default();
        let _ = self.set_slot(KEPT_FILES, &path_key(&kept.worktree.join(&kept.path)), &note);
    }

    /// Returns the note about the content that a file's holder wrote last; `path` is its real path.
    pub fn kept_file(&self, path: &Path) -> Option<KeptFile> {
        let kept: KeptFile = serde_json::from_str(&self.slot(KEPT_FILES, &path_key(path))?).ok()?;
        (kept.worktree.join(&kept.path) == path).then_some(kept)
    }

    /// Notes that a session has reserved paths. The mark is never cleared: most sessions never
    /// reserve any.
    pub fn note_holder(&self, session: &SessionId) -> Result<(), StoreError> {
        let mark = (HOLDER, IS_HOLDER);
        // If the session has not begun, its mail is unknown, so it will be looked up.
        let _ = self.set_fields(session, &[mark])?
            || self.make_session(session, &[(MAIL, UNKNOWN_MAIL), (ACTIVITY, NOT_BEGUN), mark])?
            || self.set_fields(session, &[mark])?;
        Ok(())
    }

    /// Tells whether a session has ever reserved paths.
    pub fn has_ever_held(&self, session: &SessionId) -> bool {
        matches!(self.state(session), Ok(Some(state)) if state.get(HOLDER) == IS_HOLDER)
    }

    /// Returns the last writes of all files since then.
    pub fn last_writes(&self, since: Timestamp) -> Vec<LastWrite> {
        let mut writes: Vec<LastWrite> = Vec::new();
        self.each_slot(WRITERS, &mut |_, note| writes.extend(serde_json::from_str::<LastWrite>(note)));
        writes.retain(|write| write.at >= since);
        writes
    }

    /// Returns the files that a session has seen last, newest first.
    pub fn read_stamps(&self, session: &SessionId) -> Vec<ReadStamp> {
        self.read_log(session).seen()
    }

    /// Notes that a session has seen files.
    pub fn note_read(&self, session: &SessionId, read_stamps: &[ReadStamp]) -> Result<(), StoreError> {
        read_stamps.iter().try_for_each(|sight| self.add(session, &LogLine::Seen(sight.clone())))
    }

    /// Adds a text to those that a session is given with its next prompt.
    pub fn keep_text_for_prompt(&self, session: &SessionId, text: &str) {
        let text = match self.read_log(session).next_prompt_text() {
            Some(kept) => format!("{kept}\n\n{text}"),
            None => text.to_owned(),
        };
        let _ = self.add(session, &LogLine::Later(text));
    }

    /// Takes the texts that were kept for a session's next prompt.
    pub fn take_kept_texts(&self, session: &SessionId) -> Option<String> {
        let text = self.read_log(session).next_prompt_text()?;
        self.add(session, &LogLine::Later(String::new())).ok()?;
        Some(text)
    }

    /// Tells whether a session was given this notice.
    pub fn was_notified(&self, session: &SessionId, what: &str) -> bool {
        self.read_log(session).has(&LogLine::Told(checksum(what)))
    }

    /// Tells whether a session was given this notice, and notes that it is given now.
    pub fn note_notified(&self, session: &SessionId, what: &str) -> bool {
        let was_notified = self.was_notified(session, what);
        if !was_notified {
            let _ = self.add(session, &LogLine::Told(checksum(what)));
        }
        was_notified
    }

    /// Notes that a session waits for others, or with `None` that it no longer does.
    pub fn note_waiting(&self, session: &SessionId, waiting: Option<&SessionWait>) -> Result<(), StoreError> {
        if self.session_wait(session).as_ref() == waiting {
            return Ok(());
        }
        self.add(session, &LogLine::Waits(waiting.cloned()))
    }

    /// Returns the holders that a session waits for, as far as noted.
    pub fn session_wait(&self, session: &SessionId) -> Option<SessionWait> {
        self.read_log(session).waiting()
    }

    /// Tells whether the last command behind the shield met too many reservations; `None` if that
    /// was asked before.
    pub fn take_shield_report(&self, session: &SessionId) -> Option<bool> {
        let is_too_many = self.read_log(session).shielded()?;
        let _ = self.add(session, &LogLine::ShieldTold);
        Some(is_too_many)
    }

    /// Notes that a command of a session has begun, or goes on as another kind of command.
    pub fn note_command_begun(&self, session: &SessionId, command: RunningCommand) -> Result<(), StoreError> {
        self.add(session, &LogLine::Begun(command))
    }

    /// Returns the commands of a session that have begun and not ended.
    pub fn running_commands(&self, session: &SessionId) -> Vec<RunningCommand> {
        self.read_log(session).running().into_values().collect()
    }

    /// Notes that a command of a session has ended.
    pub fn note_command_ended(&self, session: &SessionId, command: &RunningCommand, at: Timestamp) {
        let _ = self.add(session, &LogLine::Ended(command.call, at, command.at));
    }

    /// Tells whether a session ran a command at any moment between `from` and `to`.
    pub fn ran_between(&self, session: &SessionId, from: Timestamp, to: Timestamp) -> bool {
        self.read_log(session).ran_between(from, to)
    }
}

/// Returns the checksum by which notes refer to a text.
pub(super) fn checksum(text: &str) -> u64 {
    text::stable_hash(text.as_bytes())
}
