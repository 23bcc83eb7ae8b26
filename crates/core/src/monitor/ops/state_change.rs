//! Monitor verb that records the state a pane came into, and notifies the agent that opened the pane.

use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::Change;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::monitor::MonitorChange;
use crate::monitor::MonitorError;
use crate::monitor::OpenedPane;
use crate::monitor::PaneStateChange;
use crate::monitor::RecordedPaneState;
use crate::monitor::wording;
use crate::presence::Agent;
use crate::project::ProjectId;

impl App {
    /// Records that a pane came into a state and notifies the agent that opened it; returns `false` if that
    /// state is already recorded.
    pub fn note_state_change(&mut self, turn: &PaneStateChange) -> Result<bool, MonitorError> {
        let now = self.host.now();
        let tx = self.engine.write()?;
        let record = tx.pane(&turn.place)?;
        let last = record.as_ref().and_then(|record| record.turn.as_ref());
        let is_same = last.is_some_and(|last| last.state == turn.state && last.about == turn.about);
        // Working is news only after another state.
        if is_same || (last.is_none() && turn.state == RecordedPaneState::Working) {
            return Ok(false);
        }
        let opened = record.and_then(|record| record.opened);
        let project = match &opened {
            Some(opened) => opened.project.clone(),
            None => project_of(&*tx, turn)?,
        };
        let mut changes = vec![Change::Monitor(MonitorChange::Turned(Box::new(turn.clone())))];
        if let Some(opened) = opened.filter(|_| turn.state != RecordedPaneState::Working)
            && let Some(opener) = opener(&*tx, &opened)?
        {
            let text = wording::told_opener(turn, &opened);
            changes.push(messages::notice(&[&opener], MessageType::Info, Priority::High, text));
        }
        Self::conclude(&*self.host, tx, now, project, Actor::Consort, changes)?;
        Ok(true)
    }
}

/// Finds the project of the agent in a pane.
fn project_of(tx: &dyn Tx, turn: &PaneStateChange) -> Result<Option<ProjectId>, StoreError> {
    let agent = tx.present()?.into_iter().find(|agent| turn.place.hosts(agent));
    Ok(agent.map(|agent| agent.project.id))
}

/// Finds the agent that opened a pane, unless it has left since.
fn opener(tx: &dyn Tx, opened: &OpenedPane) -> Result<Option<Agent>, StoreError> {
    let Actor::Agent(session) = &opened.by else { return Ok(None) };
    Ok(tx.agent(session)?.filter(|(_, left)| left.is_none()).map(|(agent, _)| agent))
}
