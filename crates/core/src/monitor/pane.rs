//! Panes that are followed: who opened them, and how they stand.

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

/// One life of one pane on one machine: the process that it was opened with tells it from a
/// later one of the same address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanePlace {
    pub machine: String,
    #[serde(flatten)]
    pub address: PaneAddress,
    pub process: Process,
}

impl PanePlace {
    /// What tells it from all others.
    pub fn key(&self) -> String {
        let Self { machine, address, process } = self;
        format!("{machine}\t{}\t{}\t{}\t{}", address.server.display(), address.id, process.pid, process.start)
    }

    /// Whether that agent runs in it.
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
    pub place: PanePlace,
    /// What its agent is called, unless that name was taken when it joined.
    pub name: AgentName,
    /// Which agent CLI.
    pub cli: String,
    pub project: Option<ProjectId>,
    pub cwd: PathBuf,
    pub by: Actor,
    /// What it was asked to do, as far as prompts are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The commit that its worktree was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether what it did is to be reviewed when it has finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reviewed: bool,
}

/// That a pane came into a state that matters to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneTurn {
    #[serde(flatten)]
    pub place: PanePlace,
    pub name: AgentName,
    pub cli: String,
    pub state: TurnState,
    /// The question, the error, when a limit ends: in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// The states that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// For an answer.
    Waiting,
    Limit,
    Error,
    Finished,
    Stalled,
    Exited,
    Dead,
    /// Its first prompt was not seen to arrive.
    Unconfirmed,
    /// It goes on, after one of the others.
    Working,
}

impl TurnState {
    /// Its name in JSON and in words.
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

    /// Whether its pane shows an agent no more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Exited | Self::Dead)
    }

    /// What a state of a pane is recorded as, where it matters to people.
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

/// A pane as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneRecord {
    /// What people call it, where we opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<OpenedPane>,
    pub opened_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<PaneTurn>,
    pub turned_at: Option<Timestamp>,
}

impl PaneRecord {
    /// Where it is; every record has one of the two.
    pub fn place(&self) -> Option<&PanePlace> {
        let opened = self.opened.as_ref().map(|opened| &opened.place);
        opened.or_else(|| self.turn.as_ref().map(|turn| &turn.place))
    }
}

/// A change of what is known of panes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorChange {
    Opened(Box<OpenedPane>),
    Turned(Box<PaneTurn>),
    /// It is gone, and nobody needs to know of it any more.
    Closed {
        #[serde(flatten)]
        place: PanePlace,
        name: AgentName,
    },
}

impl MonitorChange {
    /// The pane that it is about.
    pub fn place(&self) -> &PanePlace {
        match self {
            Self::Opened(opened) => &opened.place,
            Self::Turned(turn) => &turn.place,
            Self::Closed { place, .. } => place,
        }
    }

    /// Who or what it changes.
    pub(crate) fn about(&self) -> Vec<String> {
        vec![format!("pane:{}", self.place().key())]
    }
}
