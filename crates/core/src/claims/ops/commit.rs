//! Claims verb that checks a git commit: does it contain files that another agent has
//! reserved?

use std::path::Path;

use super::Viewer;
use super::caller_actor;
use super::gather;
use super::project_of;
use crate::App;
use crate::Timestamp;
use crate::claims::CommitOutcome;
use crate::claims::Extent;
use crate::claims::ObstructedWrite;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::claims::rules;
use crate::claims::wording;
use crate::config::Enforcement;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::presence;
use crate::presence::CallerFacts;

impl App {
    /// Decides about a commit of these paths, relative to the worktree. An agent's commit is
    /// refused if it has files that another has reserved; the person is only told. Agents and the
    /// person are also told of files that another agent wrote last.
    pub fn check_commit(
        &mut self,
        caller: &CallerFacts,
        worktree: &Path,
        staged: &[String],
    ) -> Result<CommitOutcome, StoreError> {
        let (now, case, files) = (self.host.now(), self.host.case(), self.engine.side_files());
        let here = self.host.locate(worktree);
        let tx = self.engine.read()?;
        let me = caller_actor(presence::who_calls(&*self.host, &*files, &*tx, caller)?);
        let enforcement = hook_settings(&*tx, &here.worktree, &|_| None)?.enforcement;
        if enforcement == Enforcement::Off {
            return Ok(CommitOutcome::default());
        }
        let project = project_of(&*tx, &here)?;
        let live = gather(&*self.host, &*files, &*tx, tx.all_holds()?, now)?;
        let viewer = Viewer::new(&live, &*tx, &me);
        let mut obstacles = Vec::new();
        let mut swept: Vec<(String, String)> = Vec::new();
        for path in staged {
            let file = Pattern::file(path);
            for hold in live.holds.iter().filter(|hold| hold.holder != me) {
                if rules::is_in_the_way(hold, Strength::Blocking, project.as_ref(), &file, case)
                    && rules::overridden_until(&live.holds, hold, &file, case).is_none()
                    && !rules::has_joined(&live.holds, hold, &me, case)
                {
                    let held = viewer.see(hold)?;
                    let (path, place, by) = (path.clone(), here.worktree.join(path), String::new());
                    obstacles.push(ObstructedWrite {
                        path,
                        place,
                        extent: Extent::File,
                        by,
                        held,
                        state: None,
                    });
                }
            }
            let others = files.last_write(&here.worktree.join(path)).filter(|write| {
                me != Actor::Agent(write.session.clone()) && now.since(write.at) < Timestamp::DAY
            });
            if let Some(write) = others
                && let Some((agent, None)) = tx.agent(&write.session)?
                && presence::is_alive(&*self.host, &*files, &agent)
            {
                swept.push((path.clone(), agent.name.to_string()));
            }
        }
        let is_refused = enforcement == Enforcement::Block && me != Actor::Person && !obstacles.is_empty();
        Ok(CommitOutcome { is_refused, told: wording::commit(&obstacles, &swept, is_refused, now) })
    }
}
