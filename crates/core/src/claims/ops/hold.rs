//! Claims verb `hold`: claims or reserves paths and other resources.

use std::path::Path;

use super::Viewer;
use super::asker;
use super::concerned;
use super::gather;
use super::keep_content::keep_lately_written;
use super::speaker;
use super::wanted;
use crate::App;
use crate::claims::ClaimError;
use crate::claims::HoldOutcome;
use crate::claims::HoldRequest;
use crate::claims::Pattern;
use crate::claims::Resource;
use crate::claims::Strength;
use crate::claims::rules;
use crate::claims::rules::ParsedResource;
use crate::claims::rules::Terms;
use crate::presence;

impl App {
    /// Grants the caller all that is asked for, or nothing. Holds that it has already are renewed.
    pub fn hold(&mut self, request: &HoldRequest) -> Result<HoldOutcome, ClaimError> {
        let now = self.host.now();
        let (files, case) = (self.engine.side_files(), self.host.case());
        self.settle_projects_of(&request.cwd, &request.what)?;
        let tx = self.engine.write()?;
        let me = speaker(presence::who_calls(&*self.host, &*files, &*tx, &request.caller)?)?;
        if request.what.is_empty() {
            return Err(ClaimError::Nothing);
        }
        let mut asked: Vec<ParsedResource> = Vec::new();
        for text in &request.what {
            let one = wanted(&*self.host, &*tx, &request.cwd, text, request.strength)?;
            if !asked.contains(&one) {
                asked.push(one);
            }
        }
        let resources: Vec<Resource> = asked.iter().map(|one| one.resource.clone()).collect();
        let near = tx.holds_near(&resources, case)?;
        let live = gather(&*self.host, &*files, &*tx, near, now)?;
        let asker = asker(&*self.host, me.as_ref());
        let HoldRequest { strength, mode, reason, ttl, .. } = request.clone();
        let terms = Terms { strength, mode, reason, ttl };
        let (mut holds, changes) = match rules::hold(&live, &asker, &asked, &terms, case, now) {
            Ok(decided) => decided,
            Err(conflicts) => {
                let viewer = Viewer::new(&live, &*tx, &asker.actor);
                let views = conflicts.iter().map(|hold| viewer.see(hold));
                return Err(ClaimError::Held(views.collect::<Result<_, _>>()?));
            }
        };
        let project = concerned(&asked, me.as_ref());
        let session = me.map(|me| me.session);
        let recorded = Self::conclude(&*self.host, tx, now, project, asker.actor, changes)?;
        let mut numbers = recorded.into_iter().flat_map(|recorded| recorded.numbers).flatten();
        for hold in holds.iter_mut().filter(|hold| hold.generation == 0) {
            hold.generation = numbers.next().unwrap_or(0);
        }
        if let Some(session) = session.filter(|_| request.strength == Strength::Blocking) {
            let is_held = |worktree: &Path, path: &str| {
                let covers = |pattern: &Pattern| pattern.overlaps(&Pattern::file(path), case);
                holds.iter().any(|hold| {
                    hold.worktree.as_deref() == Some(worktree) && hold.resource.pattern().is_some_and(covers)
                })
            };
            keep_lately_written(&*self.host, &*files, &session, is_held);
        }
        let overrides = rules::overrides_of(&live.holds, &holds, case);
        Ok(HoldOutcome { holds, overrides })
    }
}
