//! The port of the files beside the database: what changes with every tool call, and
//! what hooks read before every write. An engine keeps three kinds:
//!
//! - *published*: sorted lines that hooks read instead of the database, stamped with
//!   its state; and a small text of what is known for each project.
//! - *sessions*: for each, a state record of fixed fields and a log of tagged lines.
//! - *slots*: tables of fixed slots that all sessions share.
//!
//! and beside them, for a day, *kept*: what is too long for those, by its content.
//!
//! What the lines and fields mean is the business of the rooms, which add their own
//! methods to [`SideFiles`]: `presence/activity.rs`, `messages/mail_flags.rs`,
//! `claims/notes.rs`, `convergence/trail_log.rs`, `knowledge/digest.rs`.
//!
//! **Nothing in sessions and slots is needed to be right, except the mail flags**: what
//! is lost is a hint that is not given. Published lines and mail flags are written under
//! the write lock and may say too much, never too little.

mod log;

use std::path::Path;

use serde::de::DeserializeOwned;

pub(crate) use log::Line;
pub(crate) use log::Log;

use crate::Timestamp;
use crate::engine::StoreError;
use crate::presence::SessionId;

/// A field of a session's state: where it lies, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateField {
    pub at: u64,
    pub len: usize,
}

/// Which mail there is: new, for later, delivered.
pub(crate) const MAIL: StateField = StateField { at: 0, len: 4 };
pub(crate) const NO_MAIL: &str = "---";
pub(crate) const UNKNOWN_MAIL: &str = "nlh";
/// When the session was last known to live.
pub(crate) const RENEWED: StateField = StateField { at: 4, len: 20 };
/// Set once a subagent was noted in the log.
pub(crate) const SUBAGENTS: StateField = StateField { at: 24, len: 4 };
/// Set when somebody has come or gone that the session has not heard of.
pub(crate) const ROSTER: StateField = StateField { at: 28, len: 1 };
/// Set once the session has reserved paths.
pub(crate) const HOLDER: StateField = StateField { at: 31, len: 1 };
/// The process that hosts it: id, start, machine.
pub(crate) const HOST: StateField = StateField { at: 32, len: 224 };
/// What its prompts told.
pub(crate) const TURN: StateField = StateField { at: 256, len: 256 };
/// What it does.
pub(crate) const NOW: StateField = StateField { at: 512, len: 1_024 };
/// What it does, if it has not begun.
pub(crate) const NOT_BEGUN: &str = "-";

/// A session's state as it was read.
pub struct SessionState(pub Vec<u8>);

impl SessionState {
    /// Whether the session has begun: mail may have come before it.
    pub(crate) fn is_begun(&self) -> bool {
        self.0.get(NOW.at as usize) != Some(&NOT_BEGUN.as_bytes()[0])
    }

    /// What a field says; nothing if it was lost or caught half written.
    pub(crate) fn get(&self, field: StateField) -> &str {
        let from = self.0.get(field.at as usize..).unwrap_or_default();
        let bytes = without_padding(from.get(..field.len).unwrap_or(from));
        let end = bytes.iter().rposition(|byte| !matches!(byte, b' ' | 0)).map_or(0, |last| last + 1);
        str::from_utf8(&bytes[..end]).unwrap_or_default()
    }

    /// The same of one that holds JSON.
    pub(crate) fn read<T: DeserializeOwned>(&self, field: StateField) -> Option<T> {
        // Most fields are empty, and an error of serde's takes as long as a file.
        let json = Some(self.get(field)).filter(|json| !json.is_empty())?;
        serde_json::from_str(json).ok()
    }
}

/// Most of a record, and of a field, is padding; some of it may be left.
pub fn without_padding(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_suffix(&[b' '; 32]) {
        bytes = rest;
    }
    bytes
}

/// How long a state record is.
pub const STATE: u64 = 1_536;

/// A table of slots: its name, how long a slot is, and how many keys have their own.
/// One of none is looked through as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotTable {
    pub name: &'static str,
    pub slot: usize,
    pub buckets: u64,
}

/// Which session a process hosts.
pub(crate) const HOSTS: SlotTable = SlotTable { name: "hosts", slot: 256, buckets: 256 };
/// Who wrote a path last.
pub(crate) const WRITERS: SlotTable = SlotTable { name: "writers", slot: 1_024, buckets: 2_048 };
/// What the holder of a path wrote there last.
pub(crate) const KEPT: SlotTable = SlotTable { name: "kept", slot: 1_024, buckets: 1_024 };
/// Who read a path last, and who before.
pub(crate) const READERS: SlotTable = SlotTable { name: "readers", slot: 512, buckets: 2_048 };
/// What each session is about.
pub(crate) const TOPICS: SlotTable = SlotTable { name: "topics", slot: 1_024, buckets: 0 };

/// What there is of a session.
pub struct SessionFiles {
    /// What its directory is called: [`SessionId::path_part`].
    pub name: String,
    pub log: String,
    pub has_state: bool,
}

/// What an engine must do for them.
pub trait SideFiles {
    /// Whether what is published was made from the store as it is now.
    fn is_current(&self) -> bool;

    /// The published lines that begin so, or the first of them; `None` if not all of
    /// them can be read.
    fn published(&self, beginning: &str, most: usize) -> Option<Vec<String>>;

    /// A published text of its own.
    fn text(&self, name: &str) -> Option<String>;

    /// Replaces it; where that fails the former stays.
    fn set_text(&self, name: &str, text: &str);

    /// A session's state; nothing if there is no such session.
    fn state(&self, session: &SessionId) -> Result<Option<SessionState>, StoreError>;

    /// Writes fields over, as a whole each; false if there is no such session.
    fn set_fields(&self, session: &SessionId, fields: &[(StateField, &str)]) -> Result<bool, StoreError>;

    /// Makes a session's directory and state, with this in its fields. A state that is
    /// there stays as it is.
    fn make_session(&self, session: &SessionId, fields: &[(StateField, &str)]) -> Result<(), StoreError>;

    /// Removes a session's state.
    fn end_session(&self, session: &SessionId) -> Result<(), StoreError>;

    /// A session's log.
    fn log(&self, session: &SessionId) -> String;

    /// Adds lines to it, and says how long it is now; nothing if there is no such
    /// session.
    fn append(&self, session: &SessionId, lines: &str) -> Result<Option<u64>, StoreError>;

    /// Writes a log again.
    fn replace_log(&self, session: &SessionId, text: &str);

    /// Every session there is anything of.
    fn sessions(&self) -> Vec<SessionFiles>;

    /// Removes all that there is of one.
    fn remove_session(&self, name: &str);

    /// What a key has in a table.
    fn slot(&self, table: SlotTable, key: &str) -> Option<String>;

    /// Gives a key its slot. What is too long is not kept.
    fn set_slot(&self, table: SlotTable, key: &str, value: &str) -> Result<(), StoreError>;

    /// Frees it.
    fn free_slot(&self, table: SlotTable, key: &str);

    /// Keeps something under its name for a day, as long as there is room; what is kept under
    /// that name already stays.
    fn keep(&self, name: &str, content: &[u8], now: Timestamp) -> Result<(), StoreError>;

    /// What is kept under a name.
    fn kept(&self, name: &str) -> Option<Vec<u8>>;

    /// Removes what was kept before then, and not again.
    fn forget_kept(&self, before: Timestamp);

    /// Looks at all keys and values of a table.
    fn each_slot(&self, table: SlotTable, look: &mut dyn FnMut(&str, &str));
}

/// A slot's key for a path.
pub(crate) fn path_key(path: &Path) -> String {
    format!("{:016x}", crate::text::checksum(path.as_os_str().as_encoded_bytes()))
}

/// Without a tab, a line end or any other control character of a byte.
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

/// What [`escaped`] was given.
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
