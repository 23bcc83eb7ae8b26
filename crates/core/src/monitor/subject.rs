//! Joins everything known about a pane besides its screen: its agent, the agent's activity, and its record.

use serde_json::Value;
use serde_json::json;

use super::PaneAddress;
use super::PaneRecord;
use crate::journal::Actor;
use crate::journal::Number;
use crate::presence::Activity;
use crate::presence::Agent;

/// A pane, its agent if the agent has joined, and the pane's record.
#[derive(Clone, Debug)]
pub struct PaneSubject {
    pub address: PaneAddress,
    pub agent: Option<Agent>,
    /// The latest activity that the agent's hooks reported.
    pub heard: Option<Activity>,
    pub record: Option<PaneRecord>,
}

impl PaneSubject {
    /// Returns the name of the pane's agent.
    pub fn name(&self) -> String {
        let opened = || self.record.as_ref().and_then(|record| record.opened.as_ref());
        let turned = || self.record.as_ref().and_then(|record| record.turn.as_ref());
        let joined = self.agent.as_ref().map(|agent| &agent.name);
        let name = joined.or_else(|| opened().map(|opened| &opened.name));
        name.or_else(|| turned().map(|turn| &turn.name)).map_or_else(String::new, ToString::to_string)
    }

    /// Returns the name of the agent CLI in the pane.
    pub fn cli(&self) -> &str {
        let opened = || self.record.as_ref().and_then(|record| record.opened.as_ref());
        let turned = || self.record.as_ref().and_then(|record| record.turn.as_ref());
        let joined = self.agent.as_ref().map(|agent| agent.kind.as_str());
        let cli = joined.or_else(|| opened().map(|opened| opened.cli.as_str()));
        cli.or_else(|| turned().map(|turn| turn.cli.as_str())).unwrap_or_default()
    }

    /// Returns the agent in the JSON form of all answers; an agent that has not joined has no session.
    pub fn agent_json(&self) -> Value {
        let place = self.record.as_ref().and_then(|record| record.place());
        let machine = self.agent.as_ref().map(|agent| &agent.location.machine);
        json!({
            "name": self.name(),
            "cli": self.cli(),
            "session": self.agent.as_ref().map(|agent| &agent.session),
            "machine": machine.or(place.map(|place| &place.machine)),
        })
    }

    /// Returns the pane's number, if we opened the pane.
    pub fn number(&self) -> Option<Number> {
        self.record.as_ref().and_then(|record| record.number)
    }

    /// Returns who opened the pane, if we opened it.
    pub fn opener(&self) -> Option<&Actor> {
        self.record.as_ref().and_then(|record| record.opened.as_ref()).map(|opened| &opened.by)
    }

    pub(super) fn is_opened_as(&self, name: &str) -> bool {
        let opened = self.record.as_ref().and_then(|record| record.opened.as_ref());
        let number = self.number().map(|number| number.to_string());
        opened.is_some_and(|opened| opened.name.as_str().eq_ignore_ascii_case(name))
            || number.as_deref() == Some(name.trim_start_matches('#'))
    }
}
