//! Before a write: is anyone's hold in the way?

use super::Standing;
use super::reach;
use crate::App;
use crate::claims::Case;
use crate::claims::ClaimStore as _;
use crate::claims::Extent;
use crate::claims::Held;
use crate::claims::HeldLine;
use crate::claims::Hold;
use crate::claims::Obstacle;
use crate::claims::PathNotes as _;
use crate::claims::Pattern;
use crate::claims::Resource;
use crate::claims::Target;
use crate::claims::Verdict;
use crate::claims::rules;
use crate::claims::told;
use crate::config::Enforcement;
use crate::config::hook_settings;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::host::Host;
use crate::host::Located;
use crate::journal::Actor;
use crate::presence::PresenceStore;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// How many files a glob is held against.
const SEARCHED: usize = 2_000;

impl<E: Engine, H: Host> App<E, H> {
    /// Decides about writes of a session. What hooks read beside the store sifts
    /// out nearly all of them; only where it names a hold of another is the
    /// store asked, whose word counts.
    pub fn guard(
        &mut self,
        session: &SessionId,
        targets: &[Target],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Verdict, StoreError> {
        let notes = self.engine.notes();
        if targets.is_empty() || !notes.is_anything_held() {
            return Ok(Verdict::Free);
        }
        let (me, now, case) = (Actor::Agent(session.clone()), self.host.now(), self.host.case());
        let mut doubtful: Vec<(&Target, Located, Pattern)> = Vec::new();
        for target in targets {
            // What cannot be a path is written by nobody.
            let Ok((located, paths)) = reach(&self.host, target) else { continue };
            doubtful.push((target, located, paths));
        }
        let all: Vec<Pattern> = doubtful.iter().map(|(.., paths)| paths.clone()).collect();
        let mut held = notes.held_near(&all, case);
        held.holds.retain(|line| line.holder != me && line.until.is_none_or(|until| until > now));
        doubtful.retain(|(_, located, paths)| may_be_held(&held, located, paths, case));
        if doubtful.is_empty() {
            return Ok(Verdict::Free);
        }
        let pulses = self.engine.pulses();
        let tx = self.engine.read()?;
        let settings = hook_settings(&tx, &doubtful[0].1.worktree, environment)?;
        if settings.enforcement == Enforcement::Off {
            return Ok(Verdict::Free);
        }
        let named: Vec<Resource> = held.holds.into_iter().map(|line| Resource::Paths(line.pattern)).collect();
        let all = if held.is_partial { tx.all_holds()? } else { tx.holds_on(&named)? };
        let standing = Standing::new(&self.host, &pulses, &tx, all, now)?;
        let mut obstacles: Vec<Obstacle> = Vec::new();
        for (target, located, paths) in &doubtful {
            let project = project_of(&tx, located)?;
            if rules::lifted_until(&standing.holds, project.as_ref(), paths, case).is_some() {
                continue;
            }
            for hold in &standing.holds {
                if hold.holder != me
                    && rules::blocks(hold, project.as_ref(), paths, case)
                    && is_reached(&self.host, target.extent, located, paths, hold, &standing)
                {
                    let held = standing.see(&tx, hold, &me)?;
                    let (path, extent, by) = (located.path.clone(), target.extent, target.by.clone());
                    obstacles.push(Obstacle { path, extent, by, held });
                }
            }
        }
        Ok(match settings.enforcement {
            _ if obstacles.is_empty() => Verdict::Free,
            Enforcement::Block => Verdict::Denied(told::denial(&obstacles, now)),
            _ => Verdict::Warned(told::warning(&obstacles, now)),
        })
    }
}

/// Whether a write meets what is held, and not only in name: one to a whole
/// worktree does where the holder works in it, a glob where there is a file.
fn is_reached(
    host: &impl Host,
    extent: Extent,
    located: &Located,
    paths: &Pattern,
    hold: &Hold,
    standing: &Standing,
) -> bool {
    let Some(held) = hold.resource.pattern() else { return false };
    let works_here = || standing.holder(hold).is_none_or(|agent| agent.worktree == located.worktree);
    match extent {
        Extent::File | Extent::Tree => true,
        Extent::Glob => is_there_any(host, located, paths, held),
        Extent::Changes => works_here() && host.has_changes(&located.worktree, held),
        Extent::Worktree => works_here(),
    }
}

/// Whether any file is meant by both a glob and a hold: the shell expands it to
/// what there is. Where there is too much to look at, there may be.
fn is_there_any(host: &impl Host, located: &Located, paths: &Pattern, held: &Pattern) -> bool {
    let case = host.case();
    let files = host.files(&located.worktree, &paths.stem(), SEARCHED);
    let is_meant = |file: Pattern| file.overlaps(paths, case) && file.overlaps(held, case);
    files.len() >= SEARCHED || files.iter().any(|file| is_meant(Pattern::file(file)))
}

/// Whether the notes name another's hold on these paths.
fn may_be_held(held: &Held, located: &Located, paths: &Pattern, case: Case) -> bool {
    if held.is_partial {
        return true;
    }
    let project = match &located.repository {
        None => None,
        Some(repository) => match held.repositories.iter().find(|(known, _)| known == repository) {
            Some((_, project)) => Some(project),
            // Nothing is held in a repository that is not named.
            None => return false,
        },
    };
    let is_in_the_way =
        |line: &HeldLine| line.project.as_ref() == project && line.pattern.overlaps(paths, case);
    held.holds.iter().any(is_in_the_way)
}

/// The project whose paths these are; outside of any repository there is none.
fn project_of(store: &impl PresenceStore, located: &Located) -> Result<Option<ProjectId>, StoreError> {
    match &located.repository {
        None => Ok(None),
        Some(repository) => Ok(store.project_of(repository)?.map(|project| project.id)),
    }
}
