//! Notes of the claims room in the side files: which session wrote which file last, and
//! which files each session has read, was told of, or runs a command over. **What is
//! lost here is a hint that is not given.**

use std::path::Path;

use crate::Timestamp;
use crate::claims::KeptFile;
use crate::claims::ReadStamp;
use crate::claims::RunningCommand;
use crate::claims::Touch;
use crate::claims::Waiting;
use crate::engine::StoreError;
use crate::presence::SessionId;
use crate::side_files::HOLDER;
use crate::side_files::KEPT;
use crate::side_files::Line;
use crate::side_files::MAIL;
use crate::side_files::NOT_BEGUN;
use crate::side_files::NOW;
use crate::side_files::SideFiles;
use crate::side_files::UNKNOWN_MAIL;
use crate::side_files::WRITERS;
use crate::side_files::path_key;
use crate::text;

/// What [`HOLDER`] says.
const IS_HOLDER: &str = "h";

impl dyn SideFiles + '_ {
    /// A session has written a path.
    pub fn touch(&self, touch: &Touch) -> Result<(), StoreError> {
        let note = serde_json::to_string(touch).unwrap_or_default();
        self.set_slot(WRITERS, &path_key(&touch.worktree.join(&touch.path)), &note)
    }

    /// Who wrote the file last that is really there.
    pub fn touched(&self, path: &Path) -> Option<Touch> {
        let touch: Touch = serde_json::from_str(&self.slot(WRITERS, &path_key(path))?).ok()?;
        (touch.worktree.join(&touch.path) == path).then_some(touch)
    }

    /// Notes which content a file had when its holder wrote it last. Where it cannot be, there is
    /// nothing to give back.
    pub fn note_kept(&self, kept: &KeptFile) {
        let note = serde_json::to_string(kept).unwrap_or_default();
        let _ = self.set_slot(KEPT, &path_key(&kept.worktree.join(&kept.path)), &note);
    }

    /// What was noted so of the file that is really there.
    pub fn kept_file(&self, path: &Path) -> Option<KeptFile> {
        let kept: KeptFile = serde_json::from_str(&self.slot(KEPT, &path_key(path))?).ok()?;
        (kept.worktree.join(&kept.path) == path).then_some(kept)
    }

    /// A session has reserved paths. It stays one that has: most never do.
    pub fn note_holder(&self, session: &SessionId) -> Result<(), StoreError> {
        if !self.set_fields(session, &[(HOLDER, IS_HOLDER)])? {
            // It has not begun; whether it has mail is looked up.
            self.make_session(session, &[(MAIL, UNKNOWN_MAIL), (NOW, NOT_BEGUN), (HOLDER, IS_HOLDER)])?;
            self.set_fields(session, &[(HOLDER, IS_HOLDER)])?;
        }
        Ok(())
    }

    /// Whether a session has ever reserved paths.
    pub fn is_holder(&self, session: &SessionId) -> bool {
        matches!(self.state(session), Ok(Some(state)) if state.get(HOLDER) == IS_HOLDER)
    }

    /// Everything written since then.
    pub fn all_touched(&self, since: Timestamp) -> Vec<Touch> {
        let mut touches: Vec<Touch> = Vec::new();
        self.each_slot(WRITERS, &mut |_, note| touches.extend(serde_json::from_str::<Touch>(note)));
        touches.retain(|touch| touch.at >= since);
        touches
    }

    /// The files a session has seen last, newest first.
    pub fn read_stamps(&self, session: &SessionId) -> Vec<ReadStamp> {
        self.read_log(session).seen()
    }

    /// A session has seen files.
    pub fn note_read(&self, session: &SessionId, read_stamps: &[ReadStamp]) -> Result<(), StoreError> {
        read_stamps.iter().try_for_each(|sight| self.add(session, &Line::Seen(sight.clone())))
    }

    /// Keeps something to say to a session for its next prompt, after what is kept already.
    pub fn keep_for_later(&self, session: &SessionId, text: &str) {
        let text = match self.read_log(session).later() {
            Some(kept) => format!("{kept}\n\n{text}"),
            None => text.to_owned(),
        };
        let _ = self.add(session, &Line::Later(text));
    }

    /// What was kept for it, once.
    pub fn take_kept(&self, session: &SessionId) -> Option<String> {
        let text = self.read_log(session).later()?;
        self.add(session, &Line::Later(String::new())).ok()?;
        Some(text)
    }

    /// Whether a session was told this.
    pub fn was_notified(&self, session: &SessionId, what: &str) -> bool {
        self.read_log(session).has(&Line::Told(checksum(what)))
    }

    /// The same; and from now on it was.
    pub fn notified_before(&self, session: &SessionId, what: &str) -> bool {
        let was_notified = self.was_notified(session, what);
        if !was_notified {
            let _ = self.add(session, &Line::Told(checksum(what)));
        }
        was_notified
    }

    /// A session waits for others; or no more.
    pub fn note_waiting(&self, session: &SessionId, waiting: Option<&Waiting>) -> Result<(), StoreError> {
        if self.waiting(session).as_ref() == waiting {
            return Ok(());
        }
        self.add(session, &Line::Waits(waiting.cloned()))
    }

    /// For whom a session waits, as far as it was noted.
    pub fn waiting(&self, session: &SessionId) -> Option<Waiting> {
        self.read_log(session).waiting()
    }

    /// Whether the last command that ran behind the shield had too many reservations in
    /// its way; said once.
    pub fn take_shielded(&self, session: &SessionId) -> Option<bool> {
        let is_too_many = self.read_log(session).shielded()?;
        let _ = self.add(session, &Line::ShieldTold);
        Some(is_too_many)
    }

    /// A command of a session has begun; or goes on in another way.
    pub fn begin(&self, session: &SessionId, command: RunningCommand) -> Result<(), StoreError> {
        self.add(session, &Line::Begun(command))
    }

    /// The commands of a session that have begun and not ended.
    pub fn running(&self, session: &SessionId) -> Vec<RunningCommand> {
        self.read_log(session).running().into_values().collect()
    }

    /// One of them has ended.
    pub fn end(&self, session: &SessionId, command: &RunningCommand, at: Timestamp) {
        let _ = self.add(session, &Line::Ended(command.call, at, command.at));
    }

    /// Whether a session ran a command at any moment between these.
    pub fn ran_between(&self, session: &SessionId, from: Timestamp, to: Timestamp) -> bool {
        self.read_log(session).ran_between(from, to)
    }
}

/// How notes call something.
pub(super) fn checksum(text: &str) -> u64 {
    text::checksum(text.as_bytes())
}
