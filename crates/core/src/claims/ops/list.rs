//! Claims verbs that only read: list all holds, and explain who holds a path.

use std::path::Path;

use super::Viewer;
use super::actor;
use super::caller_actor;
use super::find;
use super::gather;
use super::is_elsewhere;
use super::project_of;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimError;
use crate::claims::HoldView;
use crate::claims::HoldsOutcome;
use crate::claims::HoldsSummary;
use crate::claims::LastWriteView;
use crate::claims::PathExplanation;
use crate::claims::Pattern;
use crate::claims::Resource;
use crate::claims::Strength;
use crate::claims::rules;
use crate::config::Enforcement;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::presence;
use crate::presence::Agent;
use crate::presence::CallerFacts;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

impl App {
    /// Lists the holds in a project and on the machine, or everywhere, and the writes in the last
    /// `touched_for` milliseconds.
    pub fn holds(
        &mut self,
        caller: &CallerFacts,
        project: Option<&ProjectId>,
        touched_for: i64,
    ) -> Result<HoldsOutcome, StoreError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let me = caller_actor(presence::who_calls(&*self.host, &*files, &*tx, caller)?);
        let all = match project {
            Some(project) => tx.holds(Some(project))?,
            None => tx.all_holds()?,
        };
        let live = gather(&*self.host, &*files, &*tx, all, now)?;
        let viewer = Viewer::new(&live, &*tx, &me);
        let mut holds = Vec::new();
        for hold in &live.holds {
            holds.push(viewer.see(hold)?);
        }
        let mut touched = Vec::new();
        for write in files.last_writes(now.minus(touched_for)) {
            let Some((agent, None)) = tx.agent(&write.session)? else { continue };
            if project.is_none_or(|project| agent.project.id == *project)
                && presence::is_alive(&*self.host, &*files, &agent)
            {
                let yours = me == Actor::Agent(agent.session.clone());
                touched.push(LastWriteView { last_write: write, name: agent.name.to_string(), yours });
            }
        }
        touched.sort_by_key(|seen| std::cmp::Reverse(seen.last_write.at));
        Ok(HoldsOutcome { at: now, holds, touched })
    }

    /// Counts the holds in a project, and returns the first few. Overrides do not count.
    pub fn holds_summary(
        &mut self,
        caller: &CallerFacts,
        project: &ProjectId,
        most: usize,
    ) -> Result<HoldsSummary, StoreError> {
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let me = caller_actor(presence::who_calls(&*self.host, &*files, &*tx, caller)?);
        summary(&*self.host, &*files, &*tx, project, &me, |_| true, most)
    }

    /// Explains who holds a path, why, since when, and whether the caller may write it.
    pub fn explain_path(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        path: &str,
    ) -> Result<PathExplanation, ClaimError> {
        let (now, case) = (self.host.now(), self.host.case());
        let files = self.engine.side_files();
        if path.trim().is_empty() {
            return Err(ClaimError::Nothing);
        }
        let (located, pattern) = find(&*self.host, cwd, path)?;
        let tx = self.engine.read()?;
        let me = caller_actor(presence::who_calls(&*self.host, &*files, &*tx, caller)?);
        let project = project_of(&*tx, &located)?;
        let near = tx.holds_near(&[Resource::Paths(pattern.clone())], case)?;
        let live = gather(&*self.host, &*files, &*tx, near, now)?;
        let viewer = Viewer::new(&live, &*tx, &me);
        let is_it = |seen: &HoldView| {
            seen.hold.project == project
                && seen.hold.resource.pattern().is_some_and(|held| held.overlaps(&pattern, case))
        };
        let mut holds = Vec::new();
        for hold in live.holds.iter().filter(|hold| hold.strength != Strength::Overridden) {
            holds.push(viewer.see(hold)?);
        }
        holds.retain(is_it);
        let overrides =
            holds.iter().map(|seen| rules::overridden_until(&live.holds, &seen.hold, &pattern, case));
        let overridden_until = overrides.flatten().min();
        let settings = hook_settings(&*tx, &located.worktree, &|_| None)?;
        let enforcement = settings.enforcement;
        let is_in_the_way = |seen: &&HoldView| {
            !seen.yours
                && rules::is_in_the_way(&seen.hold, Strength::Blocking, project.as_ref(), &pattern, case)
                && rules::overridden_until(&live.holds, &seen.hold, &pattern, case).is_none()
                && !rules::has_joined(&live.holds, &seen.hold, &me, case)
        };
        let (elsewhere, here): (Vec<_>, Vec<_>) = holds.iter().filter(is_in_the_way).partition(|seen| {
            settings.worktrees != Enforcement::Block
                && is_elsewhere(&*self.host, &seen.hold, &located.worktree)
        });
        let (reserved, reserved_elsewhere) = (!here.is_empty(), !elsewhere.is_empty());
        let mut touched = Vec::new();
        if let Some(write) = files.last_write(&located.worktree.join(&located.path))
            && let Some((agent, _)) = tx.agent(&write.session)?
            && now.since(write.at) < Timestamp::DAY
        {
            let yours = me == Actor::Agent(agent.session.clone());
            touched.push(LastWriteView { last_write: write, name: agent.name.to_string(), yours });
        }
        Ok(PathExplanation {
            at: now,
            path: pattern.shown(),
            project,
            reserved,
            reserved_elsewhere,
            writable: !reserved || enforcement != Enforcement::Block || me == Actor::Person,
            enforcement: enforcement.as_str(),
            holds,
            overridden_until,
            touched,
        })
    }
}

/// Counts the holds of an agent, and returns the first few.
pub(crate) fn held_by(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    agent: &Agent,
    most: usize,
) -> Result<HoldsSummary, StoreError> {
    let me = actor(Some(agent));
    let live = gather(host, files, tx, tx.holds_of(&me)?, host.now())?;
    let viewer = Viewer::new(&live, tx, &me);
    let first = live.holds.iter().take(most).map(|hold| viewer.see(hold)).collect::<Result<_, _>>()?;
    Ok(HoldsSummary { count: live.holds.len(), first })
}

/// Counts the holds of others in an agent's project, and returns the first few.
pub(crate) fn others_holds(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    agent: &Agent,
    most: usize,
) -> Result<HoldsSummary, StoreError> {
    let me = actor(Some(agent));
    summary(host, files, tx, &agent.project.id, &me, |holder| *holder != me, most)
}

/// Lists the resources that an agent holds and that overlap files which another has read or
/// written lately.
pub(crate) fn in_the_way_of(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    holder: &Agent,
    reader: &Agent,
) -> Result<Vec<String>, StoreError> {
    let holds = tx.holds_of(&actor(Some(holder)))?;
    if holds.is_empty() {
        return Ok(Vec::new());
    }
    let steps = files.trail(&reader.session).map_or_else(Vec::new, |trail| trail.steps);
    let visited = steps.iter().flat_map(|step| step.read.iter().chain(&step.written));
    let visited: Vec<Pattern> = visited.map(|visit| Pattern::file(&visit.path)).collect();
    let is_met = |held: &Pattern| visited.iter().any(|path| held.overlaps(path, host.case()));
    let live = gather(host, files, tx, holds, host.now())?;
    let met = live.holds.iter().filter(|hold| hold.strength != Strength::Overridden);
    let met = met.filter(|hold| hold.resource.pattern().is_some_and(is_met));
    Ok(met.map(|hold| hold.resource.shown()).collect())
}

/// Counts the holds whose holder is wanted and lives, and returns the first few.
fn summary(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    project: &ProjectId,
    me: &Actor,
    is_wanted: impl Fn(&Actor) -> bool,
    most: usize,
) -> Result<HoldsSummary, StoreError> {
    let now = host.now();
    let (mut holders, mut count) = (Vec::new(), 0);
    for (holder, held) in tx.hold_counts(project, now)? {
        let lives = match holder.session() {
            None => true,
            Some(session) => {
                matches!(tx.agent(session)?, Some((agent, None)) if presence::is_alive(host, files, &agent))
            }
        };
        if lives && is_wanted(&holder) {
            holders.push(holder);
            count += held;
        }
    }
    let live = gather(host, files, tx, tx.first_holds(project, &holders, now, most)?, now)?;
    let viewer = Viewer::new(&live, tx, me);
    let first = live.holds.iter().map(|hold| viewer.see(hold)).collect::<Result<_, _>>()?;
    Ok(HoldsSummary { count, first })
}
