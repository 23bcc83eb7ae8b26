//! Claims verb that frees what stuck agents hold: those that have been idle for long and have
//! not answered who asked for it.

use super::gather;
use crate::App;
use crate::claims::ClaimError;
use crate::claims::Hold;
use crate::claims::rules;
use crate::journal::Actor;

impl App {
    /// Frees what is held by agents that have been idle for long, and was contested for long
    /// enough; both sides are told.
    pub fn free_stuck(&mut self) -> Result<Vec<Hold>, ClaimError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let is_due = |hold: &Hold| {
            let is_contested = hold.contest.as_ref().is_some_and(|contest| now >= contest.until);
            let heard = hold.holder.session().and_then(|session| files.activity(session));
            is_contested && heard.is_some_and(|heard| heard.is_idle_for_long(now))
        };
        // Most looks find nothing, and nobody is to wait for them.
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
