//! Claims verb `contest`: asks the holder to give up what it holds.

use std::path::Path;

use super::asker;
use super::gather;
use super::parse_resources;
use super::speaker;
use crate::App;
use crate::claims::ClaimError;
use crate::claims::Hold;
use crate::claims::Resource;
use crate::claims::rules;
use crate::claims::rules::Want;
use crate::config::hook_settings;
use crate::presence;
use crate::presence::CallerFacts;

impl App {
    /// Contests another's hold; the holder gets an urgent message in the same entry. A second
    /// contest changes nothing: the deadline of the first stays.
    pub fn contest(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        what: &str,
        reason: Option<&str>,
    ) -> Result<Hold, ClaimError> {
        let now = self.host.now();
        let (files, case) = (self.engine.side_files(), self.host.case());
        self.settle_projects_of(cwd, &[what])?;
        let tx = self.engine.write()?;
        let me = speaker(presence::who_calls(&*self.host, &*files, &*tx, caller)?)?;
        let meant = parse_resources(&*self.host, &*tx, cwd, what, None)?;
        let resources: Vec<Resource> = meant.iter().map(|one| one.resource.clone()).collect();
        let live = gather(&*self.host, &*files, &*tx, tx.holds_near(&resources, case)?, now)?;
        // The files decide: no caller shortens the time by its own environment.
        let seconds = hook_settings(&*tx, &self.host.locate(cwd).worktree, &|_| None)?.contest_seconds;
        let asker = asker(&*self.host, me.as_ref());
        let want = Want { typed: what, meant, reason, seconds };
        let (hold, changes) = rules::contest(&live, &asker, &want, case, now)?;
        let project = hold.project.clone().or_else(|| asker.project.clone());
        Self::conclude(&*self.host, tx, now, project, asker.actor, changes)?;
        Ok(hold)
    }
}
