//! Monitor verb that drops the record of a pane that is gone.

use crate::App;
use crate::journal::Actor;
use crate::journal::Change;
use crate::monitor::MonitorChange;
use crate::monitor::MonitorError;
use crate::monitor::PaneIdentity;
use crate::presence::AgentName;

impl App {
    /// Records that a pane is gone for good, if there is a record of the pane.
    pub fn note_closed(
        &mut self,
        place: &PaneIdentity,
        name: &AgentName,
        actor: Actor,
    ) -> Result<(), MonitorError> {
        let now = self.host.now();
        let tx = self.engine.write()?;
        let Some(record) = tx.pane(place)? else { return Ok(()) };
        let project = record.opened.and_then(|opened| opened.project);
        let changes =
            vec![Change::Monitor(MonitorChange::Closed { place: place.clone(), name: name.clone() })];
        Self::conclude(&*self.host, tx, now, project, actor, changes)?;
        Ok(())
    }
}
