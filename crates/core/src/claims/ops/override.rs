//! Claims verb by which the person lets everyone write a reserved path for a while.

use std::path::Path;

use super::wanted;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimChange;
use crate::claims::ClaimError;
use crate::claims::Hold;
use crate::claims::HoldMode;
use crate::claims::Strength;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence;
use crate::presence::CallerFacts;

impl App {
    /// Lets everyone write a path for a while, no matter who holds it.
    pub fn override_hold(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        path: &str,
        minutes: u32,
    ) -> Result<Hold, ClaimError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects_of(cwd, &[path])?;
        let tx = self.engine.write()?;
        presence::require_confirmed(&presence::who_calls(&*self.host, &*files, &*tx, caller)?, caller)?;
        let one = wanted(&*self.host, &*tx, cwd, path, Strength::Overridden)?;
        let hold = Hold {
            project: one.project.clone(),
            resource: one.resource,
            // In Consort's name, so that the person can hold the same path.
            holder: Actor::Consort,
            label: "the person".into(),
            strength: Strength::Overridden,
            mode: HoldMode::Shared,
            reason: None,
            since: now,
            until: Some(now.minus(-(i64::from(minutes) * Timestamp::MINUTE))),
            ttl: None,
            machine: self.host.name(),
            worktree: None,
            generation: 0,
            contest: None,
        };
        let changes = vec![Change::Claims(ClaimChange::Held(Box::new(hold.clone())))];
        Self::conclude(&*self.host, tx, now, one.project, Actor::Person, changes)?;
        Ok(hold)
    }
}
