//! The port of the files beside the database: facts that change with every tool call, and facts
//! that hooks read before every write. An engine keeps three kinds:
//!
//! - *published*: sorted lines that hooks read instead of the database, stamped with its state;
//!   and for each project a small text of its knowledge.
//! - *sessions*: for each session, a state record of fixed fields and a log of tagged lines.
//! - *slots*: tables of fixed slots that all sessions share.
//!
//! and beside them *kept*: contents too long for those, for a day, each under a name made from it.
//!
//! The rooms define the meaning of the lines and fields, and add their own methods to
//! [`SideFiles`]: `presence/activity.rs`, `presence/roster.rs`, `messages/mail_flags.rs`,
//! `claims/notes.rs`, `convergence/trail_log.rs`, `knowledge/digest.rs`.
//!
//! **Nothing in sessions and slots has to be right, except the mail flags**: if a note is lost, a
//! hint is not given. Published lines and mail flags are written under the write lock and may say
//! too much, never too little.

mod log;

use std::path::Path;

use serde::de::DeserializeOwned;

pub(crate) use log::Log;
pub(crate) use log::LogLine;

use crate::Timestamp;
use crate::engine::StoreError;
use crate::presence::SessionId;

/// A field of a session's state record: its offset and length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateField {
    pub at: u64,
    pub len: usize,
}

/// The flags of a session's mail: new, for later, delivered.
pub(crate) const MAIL: StateField = StateField { at: 0, len: 4 };
pub(crate) const NO_MAIL: &str = "---";
pub(crate) const UNKNOWN_MAIL: &str = "nlh";
/// The time at which the session was last known to live.
pub(crate) const RENEWED: StateField = StateField { at: 4, len: 20 };
/// A mark, set once a subagent was noted in the log.
pub(crate) const SUBAGENTS: StateField = StateField { at: 24, len: 4 };
/// The value of [`ARRIVALS`] when the session last looked who has come; another one makes it look.
pub(crate) const ROSTER: StateField = StateField { at: 28, len: 3 };
/// A mark, set once the session has reserved paths.
pub(crate) const HOLDER: StateField = StateField { at: 31, len: 1 };
/// The process that hosts the session: id, start, machine.
pub(crate) const HOST: StateField = StateField { at: 32, len: 224 };
/// Facts from the session's prompts: their number, the model, whether it asks first.
pub(crate) const TURN: StateField = StateField { at: 256, len: 256 };
/// The session's activity and status.
pub(crate) const ACTIVITY: StateField = StateField { at: 512, len: 1_024 };
/// The content of [`ACTIVITY`] for a session that has not begun.
pub(crate) const NOT_BEGUN: &str = "-";

/// The state record of a session, as it was read.
pub struct SessionState(pub Vec<u8>);

impl SessionState {
    /// Tells whether the session has begun: because of mail its record may exist before.
    pub(crate) fn is_begun(&self) -> bool {
        self.0.get(ACTIVITY.at as usize) != Some(&NOT_BEGUN.as_bytes()[0])
    }

    /// Reads a field; empty if it was lost or is half written.
    pub(crate) fn get(&self, field: StateField) -> &str {
        let from = self.0.get(field.at as usize..).unwrap_or_default();
        let bytes = without_padding(from.get(..field.len).unwrap_or(from));
        let end = bytes.iter().rposition(|byte| !matches!(byte, b' ' | 0)).map_or(0, |last| last + 1);
        str::from_utf8(&bytes[..end]).unwrap_or_default()
    }

    /// Parses a field that holds JSON.
    pub(crate) fn read<T: DeserializeOwned>(&self, field: StateField) -> Option<T> {
        // Most fields are empty, and making an error of serde's takes as long as reading a file.
        let json = Some(self.get(field)).filter(|json| !json.is_empty())?;
        serde_json::from_str(json).ok()
    }
}

/// Cuts the padding off a record or a field, most of which is padding; some of it may be left.
pub fn without_padding(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_suffix(&[b' '; 32]) {
        bytes = rest;
    }
    bytes
}

/// Length of a state record, in bytes.
pub const STATE_LENGTH: u64 = 1_536;

/// A table of slots: its name, the length of a slot, and the number of buckets that keys are
/// hashed to. A table without buckets is searched as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotTable {
    pub name: &'static str,
    pub slot: usize,
    pub buckets: u64,
}

/// The session that each process hosts.
pub(crate) const HOSTS: SlotTable = SlotTable { name: "hosts", slot: 256, buckets: 256 };
/// The last writer of each path.
pub(crate) const WRITERS: SlotTable = SlotTable { name: "writers", slot: 1_024, buckets: 2_048 };
/// The content that the holder of each path wrote there last.
pub(crate) const KEPT_FILES: SlotTable = SlotTable { name: "kept", slot: 1_024, buckets: 1_024 };
/// The last reader of each path, and the readers before.
pub(crate) const READERS: SlotTable = SlotTable { name: "readers", slot: 512, buckets: 2_048 };
/// A count of arrivals, of which three digits are kept.
pub(crate) const ARRIVALS: SlotTable = SlotTable { name: "arrivals", slot: 64, buckets: 1 };
/// The topics of each session.
pub(crate) const TOPICS: SlotTable = SlotTable { name: "topics", slot: 1_024, buckets: 0 };

/// The files of a session.
pub struct SessionFiles {
    /// The name of the session's directory: [`SessionId::path_part`].
    pub name: String,
    pub log: String,
    pub has_state: bool,
}

/// The operations on the files beside the database that an engine provides.
pub trait SideFiles {
    /// Tells whether the published lines were made from the store as it is now.
    fn is_current(&self) -> bool;

    /// Returns the published lines that begin with `beginning`, the first `most` of them; `None`
    /// if not all of them can be read.
    fn published(&self, beginning: &str, most: usize) -> Option<Vec<String>>;

    /// Reads a published text.
    fn text(&self, name: &str) -> Option<String>;

    /// Replaces a published text; where that fails the former stays.
    fn set_text(&self, name: &str, text: &str);

    /// Reads a session's state; `None` if there is no such session.
    fn state(&self, session: &SessionId) -> Result<Option<SessionState>, StoreError>;

    /// Overwrites fields, each as a whole; returns false if there is no such session.
    fn set_fields(&self, session: &SessionId, fields: &[(StateField, &str)]) -> Result<bool, StoreError>;

    /// Makes a session's directory and a state with these fields; returns false if there is a state, which
    /// stays as it is.
    fn make_session(&self, session: &SessionId, fields: &[(StateField, &str)]) -> Result<bool, StoreError>;

    /// Removes a session's state.
    fn end_session(&self, session: &SessionId) -> Result<(), StoreError>;

    /// Reads a session's log.
    fn log(&self, session: &SessionId) -> String;

    /// Adds lines to a session's log, and returns its new length; `None` if there is no such session.
    fn append(&self, session: &SessionId, lines: &str) -> Result<Option<u64>, StoreError>;

    /// Replaces a session's log.
    fn replace_log(&self, session: &SessionId, text: &str);

    /// Lists every session that has files.
    fn sessions(&self) -> Vec<SessionFiles>;

    /// Removes all files of a session, by the name of its directory.
    fn remove_session(&self, name: &str);

    /// Reads the value of a key in a table.
    fn slot(&self, table: SlotTable, key: &str) -> Option<String>;

    /// Writes the value of a key to its slot. A value that is too long is not written.
    fn set_slot(&self, table: SlotTable, key: &str, value: &str) -> Result<(), StoreError>;

    /// Frees the slot of a key.
    fn free_slot(&self, table: SlotTable, key: &str);

    /// Keeps content under a name for a day, as long as there is room; content that is kept under
    /// that name already stays, for another day.
    fn keep(&self, name: &str, content: &[u8], now: Timestamp) -> Result<(), StoreError>;

    /// Reads the content that is kept under a name.
    fn kept(&self, name: &str) -> Option<Vec<u8>>;

    /// Removes content that was last kept before then.
    fn forget_kept(&self, before: Timestamp);

    /// Calls `look` with all keys and values of a table.
    fn each_slot(&self, table: SlotTable, look: &mut dyn FnMut(&str, &str));
}

/// Makes the slot key of a path.
pub(crate) fn path_key(path: &Path) -> String {
    format!("{:016x}", crate::text::stable_hash(path.as_os_str().as_encoded_bytes()))
}

/// Escapes tabs, line ends and all other ASCII control characters, and `%`.
pub fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_control() || character == '%' {
            let _ = write!(escaped, "%{:02x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Undoes [`escaped`].
pub fn unescaped(escaped: &str) -> std::borrow::Cow<'_, str> {
    if !escaped.contains('%') {
        return escaped.into();
    }
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        match after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                text.push(char::from(code));
                rest = &after[2..];
            }
            None => {
                text.push('%');
                rest = after;
            }
        }
    }
    (text + rest).into()
}
