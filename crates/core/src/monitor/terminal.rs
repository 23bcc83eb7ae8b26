//! The port to terminals: what a multiplexer shows of panes, and what can be done to them.
//!
//! Three concerns, three traits: [`PaneViewer`] looks, [`PaneWriter`] types, [`PaneKeeper`]
//! opens and closes. A pane is meant by its address, never by what is active.
//!
//! **Nothing here decides**: whether something may be typed is a rule of this room.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;
use thiserror::Error;

use crate::Timestamp;
use crate::explain::Explain;
use crate::explain::Kind;
use crate::host::Process;

/// One pane of one multiplexer's server, for as long as that server lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PaneAddress {
    /// The socket of the server.
    pub server: PathBuf,
    /// `%3`: never given to another pane of that server.
    pub id: String,
}

impl fmt::Display for PaneAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// What a multiplexer says of a pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaneFacts {
    /// The process that the pane was opened with.
    pub pid: u32,
    /// The program in its foreground.
    pub command: String,
    pub title: String,
    /// That process has ended, and the pane is kept.
    pub is_dead: bool,
    /// What it ended with, if it did.
    pub exit: Option<PaneExit>,
    /// The person scrolls in it: keys do not reach the program.
    pub is_in_mode: bool,
    pub columns: usize,
    pub rows: usize,
    /// When its window last drew anything, to the second.
    pub active_at: Option<Timestamp>,
    /// How many clients show its session.
    pub clients: usize,
    /// When a client that shows it last pressed a key, to the second.
    pub last_key_at: Option<Timestamp>,
}

/// How the process of a pane ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneExit {
    Code(i32),
    Signal(i32),
}

/// What a look at one server found.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// All panes of the server. A pane that is not among them is gone.
    pub panes: BTreeMap<String, PaneFacts>,
    /// What the panes show that were asked for, with escapes.
    pub screens: BTreeMap<String, String>,
}

/// Looks at panes.
pub trait PaneViewer {
    /// Looks at a server once: all its panes, and what those show that are meant.
    fn sweep(&self, server: &std::path::Path, shown: &[String]) -> Result<Sweep, TerminalError>;

    /// What a pane has shown: so many lines, with those that have scrolled away. Without
    /// escapes.
    fn history(&self, pane: &PaneAddress, lines: usize) -> Result<String, TerminalError>;

    /// Lets time pass.
    fn pause(&self, time: Duration);

    /// What time it is.
    fn now(&self) -> Timestamp;
}

/// Types into panes. **The caller has asked the rules of this room before.**
pub trait PaneWriter: PaneViewer {
    /// Pastes a text as a whole, without submitting it.
    fn paste(&self, pane: &PaneAddress, text: &str) -> Result<(), TerminalError>;

    /// Presses one key.
    fn press(&self, pane: &PaneAddress, key: Key) -> Result<(), TerminalError>;

    /// Presses Enter if a line of the pane ends with this text, in one step; whether it did.
    /// What is neither a letter nor a digit may follow.
    fn enter_after(&self, pane: &PaneAddress, text: &str) -> Result<bool, TerminalError>;
}

/// Opens panes, shows them and closes them.
pub trait PaneKeeper {
    /// Starts a program as the process of a new pane, which is kept after it has ended.
    fn open(&self, pane: &NewPane) -> Result<PaneAddress, TerminalError>;

    /// Makes a pane the active one, for those who look at its server.
    fn select(&self, pane: &PaneAddress) -> Result<(), TerminalError>;

    /// Removes a pane, with whatever runs in it.
    fn remove(&self, pane: &PaneAddress) -> Result<(), TerminalError>;
}

/// Sees what a process has started, and ends it.
pub trait ProcessTrees {
    /// A process and all below it that live, parents first.
    fn tree(&self, root: u32) -> Vec<TreeProcess>;

    /// Asks that very life of a process to end, or ends it.
    fn end(&self, process: &Process, how: Ending);

    /// Whether that very life of a process goes on.
    fn lives(&self, process: &Process) -> bool;
}

/// One process of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeProcess {
    pub process: Process,
    pub parent: u32,
    /// The time that it has computed for, in milliseconds.
    pub cpu_ms: u64,
    /// What it has read and written, in bytes.
    pub io: u64,
}

/// How a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It may tidy up.
    Asked,
    Forced,
}

/// A pane to be opened.
#[derive(Clone, Debug)]
pub struct NewPane {
    pub server: PathBuf,
    /// What its window is called.
    pub name: String,
    pub cwd: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// A key that is pressed by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Enter,
    Up,
    Down,
    Left,
    Right,
    Tab,
    Escape,
    /// Ctrl and a letter.
    Control(char),
    /// A digit, a letter.
    Character(char),
}

/// What can go wrong with a terminal.
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
    fn kind(&self) -> Kind {
        Kind::User
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
