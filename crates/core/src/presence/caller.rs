//! Types that identify the caller of a command: facts about the process, proof of the person, the result.

use serde::Serialize;

use crate::host::Process;
use crate::presence::Agent;
use crate::presence::NotAllowed;
use crate::presence::SessionId;

/// Facts that identify the caller, gathered by the door.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerFacts {
    /// The calling process, if it is not our own process.
    pub own: Option<Process>,
    /// The caller's ancestor processes, nearest first.
    pub ancestors: Vec<Process>,
    /// The session recorded as hosted by the last of `ancestors`. The record alone does not make the caller
    /// that agent. Not looked up for callers over the network.
    pub hosted: Option<SessionId>,
    /// Session ids from the caller's environment. They only tell the sessions of one process apart.
    pub hints: Vec<SessionId>,
    /// The session that the call itself names; it ranks before `hints` and proves no more.
    pub thread: Option<SessionId>,
    /// Whether an ancestor is an agent CLI, registered or not, or is recorded as hosting a session.
    pub in_agent: bool,
    pub proof: Proof,
}

/// The proof that a call comes from the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    None(Unproven),
    /// The caller has a controlling terminal of its own, and a person is at it.
    Terminal,
    /// The caller has such a terminal, and a word shown there was typed back.
    Typed,
    /// The caller has a token that the person made for this verb.
    Token,
}

impl Proof {
    /// Tells whether the proof is enough for a call that weakens or removes protection.
    pub fn is_confirmed(&self) -> bool {
        matches!(self, Self::Typed | Self::Token)
    }
}

impl Default for Proof {
    fn default() -> Self {
        Self::None(Unproven::NoTerminal)
    }
}

/// The reason a call is not known to come from the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unproven {
    /// The caller has no controlling terminal.
    NoTerminal,
    /// The caller's terminal is a tmux pane that nobody has looked at lately.
    Unwatched,
    /// The caller's environment has this variable, which an agent CLI has set.
    Marked(String),
    /// The caller is not a process of this user's on this machine.
    Elsewhere,
}

/// The identified caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "caller", content = "agent", rename_all = "snake_case")]
pub enum Caller {
    Agent(Box<Agent>),
    Person,
    /// The caller is neither an agent nor provably the person: it may read what any agent may read, and
    /// change nothing.
    Anonymous(NotAllowed),
}
