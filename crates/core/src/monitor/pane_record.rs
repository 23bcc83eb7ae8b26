//! Records of panes: who opened a pane, and the last state of it that people should know.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use super::PaneAddress;
use super::PaneState;
use crate::Timestamp;
use crate::host::Process;
use crate::journal::Actor;
use crate::journal::Number;
use crate::presence::Agent;
use crate::presence::AgentName;
use crate::project::ProjectId;

/// One life of one pane on one machine. The process that the pane was opened with tells it apart from a later
/// pane of the same address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneIdentity {
    pub machine: String,
    #[serde(flatten)]
    pub address: PaneAddress,
    pub process: Process,
}

impl PaneIdentity {
    /// Returns a string that is unique to this life of the pane.
    pub fn key(&self) -> String {
        let Self { machine, address, process } = self;
        format!("{machine}\t{}\t{}\t{}\t{}", address.server.display(), address.id, process.pid, process.start)
    }

    /// Tells whether that agent runs in this pane.
    pub fn hosts(&self, agent: &Agent) -> bool {
        let terminal = &agent.location.terminal;
        agent.location.machine == self.machine
            && terminal.pane.as_ref() == Some(&self.address.id)
            && terminal.tmux.as_ref() == Some(&self.address.server)
    }
}

/// A pane that we opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedPane {
    #[serde(flatten)]
    pub place: PaneIdentity,
    /// The name of the pane's agent, unless the name was taken when the agent joined.
    pub name: AgentName,
    /// The agent CLI that runs in the pane.
    pub cli: String,
    pub project: Option<ProjectId>,
    pub cwd: PathBuf,
    pub by: Actor,
    /// The agent's first prompt, as far as prompts are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The commit of the pane's worktree when it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether the agent's work is to be reviewed when it has finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reviewed: bool,
}

/// The change of a pane to a state that matters to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneStateChange {
    #[serde(flatten)]
    pub place: PaneIdentity,
    pub name: AgentName,
    pub cli: String,
    pub state: RecordedPaneState,
    /// The question, the error, or the end of a limit, in the CLI's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// The states of a pane that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedPaneState {
    /// The agent waits for an answer.
    Waiting,
    Limit,
    Error,
    Finished,
    Stalled,
    Exited,
    Dead,
    /// The agent's first prompt was not seen to arrive.
    Unconfirmed,
    /// The agent works again after one of the other states.
    Working,
}

impl RecordedPaneState {
    /// Returns the state's name in JSON and in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Limit => "limit",
            Self::Error => "error",
            Self::Finished => "finished",
            Self::Stalled => "stalled",
            Self::Exited => "exited",
            Self::Dead => "dead",
            Self::Unconfirmed => "unconfirmed",
            Self::Working => "working",
        }
    }

    /// Tells whether the pane no longer shows an agent.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Exited | Self::Dead)
    }

    /// Returns the recorded form of a pane's state, if that state matters to people.
    pub fn of(state: PaneState) -> Option<Self> {
        match state {
            PaneState::Permission | PaneState::Question | PaneState::Plan | PaneState::Dialog => {
                Some(Self::Waiting)
            }
            PaneState::Limit => Some(Self::Limit),
            PaneState::Error => Some(Self::Error),
            PaneState::Finished | PaneState::Suggestion => Some(Self::Finished),
            PaneState::Exited => Some(Self::Exited),
            PaneState::Dead => Some(Self::Dead),
            PaneState::Working => Some(Self::Working),
            PaneState::Starting
            | PaneState::Ready
            | PaneState::Retrying
            | PaneState::Background
            | PaneState::Unknown => None,
        }
    }
}

/// The record of one pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneRecord {
    /// The pane's number, if we opened the pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<OpenedPane>,
    pub opened_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<PaneStateChange>,
    pub turned_at: Option<Timestamp>,
}

impl PaneRecord {
    /// Returns the place of the pane; every record has `opened` or `turn`.
    pub fn place(&self) -> Option<&PaneIdentity> {
        let opened = self.opened.as_ref().map(|opened| &opened.place);
        opened.or_else(|| self.turn.as_ref().map(|turn| &turn.place))
    }
}

/// A change of the records of panes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorChange {
    Opened(Box<OpenedPane>),
    Turned(Box<PaneStateChange>),
    /// The pane is gone, and its record is dropped.
    Closed {
        #[serde(flatten)]
        place: PaneIdentity,
        name: AgentName,
    },
}

impl MonitorChange {
    /// Returns the pane that the change is about.
    pub fn place(&self) -> &PaneIdentity {
        match self {
            Self::Opened(opened) => &opened.place,
            Self::Turned(turn) => &turn.place,
            Self::Closed { place, .. } => place,
        }
    }

    /// Lists the subjects of the change, for the journal.
    pub(crate) fn about(&self) -> Vec<String> {
        vec![format!("pane:{}", self.place().key())]
    }
}
