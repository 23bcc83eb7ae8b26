//! The port to terminals: traits to look at, type into, open and close the panes of a multiplexer.
//!
//! [`PaneViewer`] looks, [`PaneWriter`] types, [`PaneManager`] opens and closes, [`ProcessTrees`] finds and
//! ends processes. A pane is named by its address; no call uses "the active pane".
//!
//! **Nothing here decides**: the rules of this room say whether a text may be typed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;
use thiserror::Error;

use crate::Timestamp;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::host::Process;

/// The address of a pane within a multiplexer's server, valid while that server lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PaneAddress {
    /// The socket of the multiplexer's server.
    pub server: PathBuf,
    /// The pane's id, such as `%3`, which the server never gives to another pane.
    pub id: String,
}

impl fmt::Display for PaneAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// The facts that a multiplexer reports about a pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaneFacts {
    /// The process that the pane was opened with.
    pub pid: u32,
    /// The program in the foreground of the pane.
    pub command: String,
    pub title: String,
    /// Whether that process has ended while the pane is kept.
    pub is_dead: bool,
    /// The exit of that process, if it has ended.
    pub exit: Option<PaneExit>,
    /// Whether the person scrolls in the pane, so that keys do not reach the program.
    pub is_in_mode: bool,
    pub columns: usize,
    pub rows: usize,
    /// The time when the pane's window last drew anything, to the second.
    pub active_at: Option<Timestamp>,
    /// The number of clients that show the pane's session.
    pub clients: usize,
    /// The time of the last key press in a client that shows the pane, to the second.
    pub last_key_at: Option<Timestamp>,
}

/// The exit code of a pane's process, or the signal that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneExit {
    Code(i32),
    Signal(i32),
}

/// All panes of one server as seen in one look.
#[derive(Clone, Debug, Default)]
pub struct ServerPanes {
    /// All panes of the server. A pane that is not among them is gone.
    pub panes: BTreeMap<String, PaneFacts>,
    /// The screens of the requested panes by pane id, with escapes.
    pub screens: BTreeMap<String, String>,
}

/// Reads the contents of panes.
pub trait PaneViewer {
    /// Lists all panes of a server, and captures the screens of the panes in `shown`.
    fn sweep(&self, server: &std::path::Path, shown: &[String]) -> Result<ServerPanes, TerminalError>;

    /// Returns the last `lines` lines of a pane, including lines that scrolled away, without escapes.
    fn history(&self, pane: &PaneAddress, lines: usize) -> Result<String, TerminalError>;

    /// Sleeps for `time`.
    fn pause(&self, time: Duration);

    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// Types into panes. **The caller must have checked the rules of this room first.**
pub trait PaneWriter: PaneViewer {
    /// Pastes a whole text without submitting it.
    fn paste(&self, pane: &PaneAddress, text: &str) -> Result<(), TerminalError>;

    /// Presses one key.
    fn press(&self, pane: &PaneAddress, key: KeyPress) -> Result<(), TerminalError>;

    /// Presses Enter in the same step if a line of the pane ends with this text; returns whether it did.
    /// Characters that are neither letters nor digits may follow the text.
    fn enter_after(&self, pane: &PaneAddress, text: &str) -> Result<bool, TerminalError>;
}

/// Opens, shows and closes panes.
pub trait PaneManager {
    /// Starts a program as the process of a new pane; the pane is kept after the program has ended.
    fn open(&self, pane: &NewPane) -> Result<PaneAddress, TerminalError>;

    /// Makes a pane the active one in the clients of its server.
    fn select(&self, pane: &PaneAddress) -> Result<(), TerminalError>;

    /// Removes a pane with everything that runs in it.
    fn remove(&self, pane: &PaneAddress) -> Result<(), TerminalError>;
}

/// Finds the descendants of a process, and ends processes.
pub trait ProcessTrees {
    /// Lists a process and all its living descendants, parents first.
    fn tree(&self, root: u32) -> Vec<TreeProcess>;

    /// Asks exactly this process to end or kills it, never a later process with the same id.
    fn end(&self, process: &Process, how: EndMethod);

    /// Tells whether exactly this process still runs, and not a later one with the same id.
    fn lives(&self, process: &Process) -> bool;
}

/// One process of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeProcess {
    pub process: Process,
    pub parent: u32,
    /// The CPU time that the process has used, in milliseconds.
    pub cpu_ms: u64,
    /// The bytes that the process has read and written.
    pub io: u64,
}

/// The way to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndMethod {
    /// The process is asked, and may clean up.
    Asked,
    Forced,
}

/// A request to open a pane.
#[derive(Clone, Debug)]
pub struct NewPane {
    pub server: PathBuf,
    /// The name of the pane's window.
    pub name: String,
    pub cwd: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// A key to press in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPress {
    Enter,
    Up,
    Down,
    Left,
    Right,
    Tab,
    Escape,
    /// Ctrl with a letter.
    Control(char),
    /// A digit or a letter.
    Character(char),
}

/// A failure of a terminal or its multiplexer.
#[derive(Debug, Error)]
pub enum TerminalError {
    #[error("tmux is not on PATH")]
    NotInstalled,
    #[error("the tmux server at {server} does not answer")]
    NoServer { server: PathBuf },
    #[error("the pane {pane} is gone")]
    Gone { pane: PaneAddress },
    #[error("tmux refused: {said}")]
    Refused { said: String },
}

impl Explain for TerminalError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::User
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::NotInstalled => "install tmux, 3.2 or newer".into(),
            Self::NoServer { .. } => {
                "its panes are gone with it; `consort pane list` shows what is left".into()
            }
            Self::Gone { .. } => "`consort pane list` shows which there are".into(),
            Self::Refused { .. } => "check that this tmux is 3.2 or newer: `tmux -V`".into(),
        }]
    }
}
