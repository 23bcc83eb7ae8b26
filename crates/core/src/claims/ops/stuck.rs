//! Claims verb that frees the holds of stuck agents: those that have been idle for long and have
//! not answered a contest.

use super::gather;
use crate::App;
use crate::claims::ClaimError;
use crate::claims::Hold;
use crate::claims::rules;
use crate::journal::Actor;

impl App {
    /// Frees the holds of agents that have been idle for long, once the deadline of a contest is
    /// over; notifies both sides.
    pub fn free_stuck(&mut self) -> Result<Vec<Hold>, ClaimError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let is_due = |hold: &Hold| {
            let is_contested = hold.contest.as_ref().is_some_and(|contest| now >= contest.until);
            let heard = hold.holder.session().and_then(|session| files.activity(session));
            is_contested && heard.is_some_and(|heard| heard.is_idle_for_long(now))
        };
        // Most calls find nothing, and no writer is to wait for them.
        if !self.engine.read()?.all_holds()?.iter().any(is_due) {
            return Ok(Vec::new());
        }
        let tx = self.engine.write()?;
        let due = tx.all_holds()?.into_iter().filter(is_due).collect();
        let live = gather(&*self.host, &*files, &*tx, due, now)?;
        let changes = rules::free_stuck(&live);
        let project = live.holds.first().and_then(|hold| hold.project.clone());
        Self::conclude(&*self.host, tx, now, project, Actor::Consort, changes)?;
        Ok(live.holds)
    }
}
