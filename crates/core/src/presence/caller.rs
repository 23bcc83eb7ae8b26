//! Who is calling, and what shows it.

use serde::Serialize;

use crate::host::Process;
use crate::presence::Agent;
use crate::presence::NotAllowed;
use crate::presence::SessionId;

/// What tells who calls, gathered by the door.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerFacts {
    /// The calling process, where it is another than the one that asks.
    pub own: Option<Process>,
    /// Nearest first.
    pub ancestors: Vec<Process>,
    /// The session that the last of them is noted to host: a note, which makes nobody that agent. Not
    /// looked up for callers over the network.
    pub hosted: Option<SessionId>,
    /// Which of the sessions that one process hosts is the likeliest. It tells
    /// them apart, and nothing more.
    pub hints: Vec<SessionId>,
    /// The same by the caller's own word.
    pub thread: Option<SessionId>,
    /// Whether an ancestor is an agent CLI, registered or not, or is noted to host
    /// a session.
    pub in_agent: bool,
    pub proof: Proof,
}

/// What shows that a call comes from the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    None(Unproven),
    /// A controlling terminal of its own, which a person is at.
    Terminal,
    /// The same, and a word that was shown there was typed back.
    Typed,
    /// A token that the person made for this verb.
    Token,
}

impl Proof {
    /// Whether it is enough for what weakens or removes protection.
    pub fn is_confirmed(&self) -> bool {
        matches!(self, Self::Typed | Self::Token)
    }
}

impl Default for Proof {
    fn default() -> Self {
        Self::None(Unproven::NoTerminal)
    }
}

/// Why a call is not known to come from the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unproven {
    /// It has no controlling terminal.
    NoTerminal,
    /// Its terminal is a tmux pane that nobody has looked at lately.
    Unwatched,
    /// Its environment was made by an agent CLI: this variable says so.
    Marked(String),
    /// It is not a process of this user's on this machine.
    Elsewhere,
}

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "caller", content = "agent", rename_all = "snake_case")]
pub enum Caller {
    Agent(Box<Agent>),
    Person,
    /// Neither an agent nor provably the person. It may read what any agent may
    /// read, and change nothing.
    Anonymous(NotAllowed),
}
