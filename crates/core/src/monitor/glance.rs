//! Publishes the watcher's latest view of all panes as a text beside the database, for `who`, status lines
//! and followers.

use serde::Deserialize;
use serde::Serialize;

use super::PaneAddress;
use crate::App;
use crate::Timestamp;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::presence::Status;

/// Name of the published text.
const NAME: &str = "panes";

/// Age up to which the text counts. The watcher writes it every few seconds; an older one has no writer left.
const FRESH: i64 = 5 * Timestamp::SECOND;

/// All panes as the watcher saw them at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glances {
    pub at: Timestamp,
    pub panes: Vec<PaneGlance>,
}

/// The published view of one pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneGlance {
    pub name: String,
    pub cli: String,
    /// The session of the pane's agent, once the agent has joined.
    #[serde(default)]
    pub session: Option<SessionId>,
    #[serde(default)]
    pub machine: String,
    #[serde(flatten)]
    pub address: PaneAddress,
    /// The name of the state, by [`super::PaneState::as_str`].
    pub state: String,
    pub since: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stalled: bool,
    /// Whether an idle agent in a pane that we did not open has had no key press for long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_away: bool,
    /// The result of the last text that we typed into the pane, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// The last states of the pane and the times they began, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<(Timestamp, String)>,
}

impl PaneGlance {
    /// Tells whether that agent runs in this pane.
    pub fn is_of(&self, agent: &Agent) -> bool {
        let terminal = &agent.location.terminal;
        terminal.pane.as_ref() == Some(&self.address.id)
            && terminal.tmux.as_ref() == Some(&self.address.server)
    }

    /// Returns the agent's status by the pane's state; `None` if the state says nothing about it.
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
    /// Reads what the watcher published, unless it is out of date.
    pub fn published_glances(&self) -> Option<Glances> {
        let text = self.engine.side_files().text(NAME)?;
        let glances: Glances = serde_json::from_str(&text).ok()?;
        (self.host.now().since(glances.at) <= FRESH).then_some(glances)
    }

    /// Publishes the state of all panes, for every reader.
    pub fn publish_glances(&self, glances: &Glances) {
        let text = serde_json::to_string(glances).unwrap_or_default();
        self.engine.side_files().set_text(NAME, &text);
    }

    /// Removes the published text, because nobody watches any more.
    pub fn withdraw_glances(&self) {
        self.engine.side_files().set_text(NAME, "");
    }
}
