//! What the watcher last said of each pane: a published text, for `who`, for status lines and
//! for those who follow.

use serde::Deserialize;
use serde::Serialize;

use super::PaneAddress;
use crate::App;
use crate::Timestamp;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::presence::Status;

/// What the text is called.
const NAME: &str = "panes";

/// The watcher writes every few seconds; what is older is nobody's word any more.
const FRESH: i64 = 5 * Timestamp::SECOND;

/// All panes, as the watcher saw them then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glances {
    pub at: Timestamp,
    pub panes: Vec<PaneGlance>,
}

/// One pane at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneGlance {
    pub name: String,
    pub cli: String,
    /// Of its agent, once that has joined.
    #[serde(default)]
    pub session: Option<SessionId>,
    #[serde(default)]
    pub machine: String,
    #[serde(flatten)]
    pub address: PaneAddress,
    /// As [`super::PaneState::as_str`] has it.
    pub state: String,
    pub since: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stalled: bool,
    /// Whether nobody has been at it for long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_away: bool,
    /// What came of the last text that was typed into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// What it was before, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<(Timestamp, String)>,
}

impl PaneGlance {
    /// Whether that agent runs in it.
    pub fn is_of(&self, agent: &Agent) -> bool {
        let terminal = &agent.location.terminal;
        terminal.pane.as_ref() == Some(&self.address.id)
            && terminal.tmux.as_ref() == Some(&self.address.server)
    }

    /// What that means for those who look at agents; nothing where it is not understood.
    pub fn status(&self) -> Option<Status> {
        match self.state.as_str() {
            "permission" | "question" | "plan" | "dialog" => Some(Status::Waiting),
            "working" | "retrying" => Some(Status::Working),
            "unknown" | "starting" | "exited" | "dead" => None,
            _ => Some(Status::Idle),
        }
    }
}

impl App {
    /// What the watcher says, if one has been at work just now.
    pub fn glances(&self) -> Option<Glances> {
        let text = self.engine.side_files().text(NAME)?;
        let glances: Glances = serde_json::from_str(&text).ok()?;
        (self.host.now().since(glances.at) <= FRESH).then_some(glances)
    }

    /// Says it, for all who look.
    pub fn publish_glances(&self, glances: &Glances) {
        let text = serde_json::to_string(glances).unwrap_or_default();
        self.engine.side_files().set_text(NAME, &text);
    }

    /// Says that nobody watches any more.
    pub fn withdraw_glances(&self) {
        self.engine.side_files().set_text(NAME, "");
    }
}
