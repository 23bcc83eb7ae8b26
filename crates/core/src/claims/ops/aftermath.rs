//! After a command whose text does not tell what it writes: has it changed what
//! another holds?

use std::path::Path;

use super::Standing;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimStore as _;
use crate::claims::Extent;
use crate::claims::Mode;
use crate::claims::Obstacle;
use crate::claims::PathNotes as _;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::claims::told;
use crate::config::Enforcement;
use crate::config::hook_settings;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::host::Host;
use crate::journal::Actor;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::PresenceStore as _;
use crate::presence::SessionId;

/// A held directory may be large; beyond this many files it is not searched.
const SEARCHED: usize = 500;

/// Clocks of file systems run a little behind.
const SLACK: i64 = 10;

impl<E: Engine, H: Host> App<E, H> {
    /// Finds files that others hold and that changed while a command of this
    /// session ran. Both are told: the session in answer, the holders by
    /// message.
    pub fn aftermath(
        &mut self,
        session: &SessionId,
        cwd: &Path,
        command: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, case, notes) = (self.host.now(), self.host.case(), self.engine.notes());
        let me = Actor::Agent(session.clone());
        let Some(begun) = notes.begun(session).map(|begun| begun.minus(SLACK)) else { return Ok(None) };
        if !notes.is_anything_held() {
            return Ok(None);
        }
        let here = self.host.locate(cwd);
        let pulses = self.engine.pulses();
        let tx = self.engine.read()?;
        let project = match &here.repository {
            Some(repository) => tx.project_of(repository)?.map(|project| project.id),
            None => None,
        };
        if hook_settings(&tx, &here.worktree, environment)?.enforcement == Enforcement::Off {
            return Ok(None);
        }
        let standing = Standing::new(&self.host, &pulses, &tx, tx.all_holds()?, now)?;
        let mut obstacles = Vec::new();
        for hold in &standing.holds {
            let (Actor::Agent(holder), Some(pattern)) = (&hold.holder, hold.resource.pattern()) else {
                continue;
            };
            if hold.holder == me
                || hold.project != project
                || hold.strength != Strength::Blocking
                || hold.mode != Mode::Exclusive
            {
                continue;
            }
            let files = match pattern.literal() {
                Some(file) => vec![file],
                None => self.host.files(&here.worktree, &pattern.stem(), SEARCHED),
            };
            for path in files {
                let changed = self.host.stamp(&here.worktree.join(&path)).changed / 1_000_000;
                let touch = notes.touched(&here.worktree.join(&path));
                if changed >= begun.0
                    && pattern.overlaps(&Pattern::file(&path), case)
                    && !Standing::is_holders_own(touch.as_ref(), holder, begun)
                {
                    let held = standing.see(&tx, hold, &me)?;
                    obstacles.push(Obstacle { path, extent: Extent::File, by: String::new(), held });
                }
            }
        }
        drop(tx);
        if obstacles.is_empty() {
            return Ok(None);
        }
        self.tell_holders(session, &obstacles, command, now)?;
        Ok(Some(told::trespass(&obstacles, now)))
    }

    /// One message to each holder.
    fn tell_holders(
        &mut self,
        session: &SessionId,
        obstacles: &[Obstacle],
        command: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut holders: Vec<&Actor> = Vec::new();
        for obstacle in obstacles {
            if !holders.contains(&&obstacle.held.hold.holder) {
                holders.push(&obstacle.held.hold.holder);
            }
        }
        for holder in holders {
            let Actor::Agent(holder) = holder else { continue };
            let mut tx = self.engine.write()?;
            let (Some((me, None)), Some((agent, None))) = (tx.agent(session)?, tx.agent(holder)?) else {
                continue;
            };
            let paths: Vec<&str> = obstacles
                .iter()
                .filter(|obstacle| obstacle.held.hold.holder == Actor::Agent(holder.clone()))
                .map(|obstacle| obstacle.path.as_str())
                .collect();
            let text = told::trespassed(&paths, command);
            let (kind, priority) = (MessageType::Info, Priority::High);
            let change = messages::notice(&mut tx, &self.host, Some(&me), &agent, kind, priority, text)?;
            let (project, actor) = (Some(me.project.id.clone()), Actor::Agent(session.clone()));
            Self::conclude(&self.host, tx, now, project, actor, vec![change])?;
        }
        Ok(())
    }
}
