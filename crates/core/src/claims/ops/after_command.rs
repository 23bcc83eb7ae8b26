//! Claims verbs around a shell command whose writes its text does not tell: they
//! compare the held files before and after it.

use std::path::Path;

use super::Viewer;
use super::gather;
use super::project_of;
use crate::App;
use crate::Timestamp;
use crate::claims::Extent;
use crate::claims::Hold;
use crate::claims::Obstacle;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::claims::rules;
use crate::claims::wording;
use crate::config::Enforcement;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::SessionId;

/// A held directory may be large; beyond this many files it is not searched.
const SEARCHED: usize = 500;

/// Clocks of file systems run a little behind.
const SLACK: i64 = 20;

impl App {
    /// A command begins that may write something.
    pub fn begin_command(&mut self, session: &SessionId, call: &str) -> Result<(), StoreError> {
        self.engine.side_files().begin(session, call, self.host.now())
    }

    /// One has ended that wrote what its text tells, and no more.
    pub fn end_known_command(&mut self, session: &SessionId, call: &str) {
        let _ = self.engine.side_files().end(session, call, self.host.now());
    }

    /// One has ended whose text does not tell what it writes. Finds files that
    /// others hold and that changed while it ran. Both are told: the session in answer, the holders by
    /// message. While a holder runs commands of its own, nobody can tell whose
    /// doing it was, and nothing is said.
    pub fn end_command(
        &mut self,
        session: &SessionId,
        call: &str,
        cwd: &Path,
        command: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, case, side_files) = (self.host.now(), self.host.case(), self.engine.side_files());
        let begun = side_files.end(session, call, now).map(|begun| begun.minus(SLACK));
        let Some(begun) = begun.filter(|_| side_files.is_anything_held()) else { return Ok(None) };
        let me = Actor::Agent(session.clone());
        let here = self.host.locate(cwd);
        let side_files = self.engine.side_files();
        let tx = self.engine.read()?;
        let project = project_of(&*tx, &here)?;
        if hook_settings(&*tx, &here.worktree, environment)?.enforcement == Enforcement::Off {
            return Ok(None);
        }
        let live = gather(&*self.host, &*side_files, &*tx, tx.all_holds()?, now)?;
        let viewer = Viewer::new(&live, &*tx, &me);
        let is_strange = |path: &str, hold: &Hold| {
            let place = here.worktree.join(path);
            let changed = self.host.stamp(&place).changed / 1_000_000;
            // One that is gone has left its mark on its directory.
            let changed = match (changed, place.parent()) {
                (0, Some(above)) => self.host.stamp(above).changed / 1_000_000,
                _ => changed,
            };
            let file = Pattern::file(path);
            changed >= begun.max(hold.since.minus(SLACK)).0
                && rules::is_in_the_way(hold, Strength::Blocking, project.as_ref(), &file, case)
                && rules::overridden_until(&live.holds, hold, &file, case).is_none()
                && !rules::has_joined(&live.holds, hold, &me, case)
                && side_files
                    .touched(&place)
                    .is_none_or(|touch| touch.session == *session || touch.at < begun)
        };
        let mut obstacles = Vec::new();
        for hold in live.holds.iter().filter(|hold| hold.holder != me) {
            let (Actor::Agent(holder), Some(pattern)) = (&hold.holder, hold.resource.pattern()) else {
                continue;
            };
            if side_files.runs_or_ran(holder, begun) {
                continue;
            }
            let files = match pattern.literal() {
                Some(file) => vec![file],
                None => self.host.files(&here.worktree, &pattern.stem(), pattern.depth(), SEARCHED).0,
            };
            for path in files.into_iter().filter(|path| is_strange(path, hold)) {
                let held = viewer.see(hold)?;
                let place = here.worktree.join(&path);
                obstacles.push(Obstacle { path, place, extent: Extent::File, by: String::new(), held });
            }
        }
        obstacles.retain(|obstacle| {
            let stamp = self.host.stamp(&obstacle.place);
            !side_files
                .notified_before(session, &format!("trespass {} {}", stamp.changed, obstacle.place.display()))
        });
        drop(tx);
        if obstacles.is_empty() {
            return Ok(None);
        }
        // Whatever becomes of the message, the session is told.
        let _ = self.tell_holders(session, &obstacles, command, now);
        Ok(Some(wording::trespass(&obstacles, now)))
    }

    /// One message to each holder.
    fn tell_holders(
        &mut self,
        session: &SessionId,
        obstacles: &[Obstacle],
        command: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut holders: Vec<&Actor> = obstacles.iter().map(|obstacle| &obstacle.held.hold.holder).collect();
        holders.sort();
        holders.dedup();
        for holder in holders {
            let Actor::Agent(holding) = holder else { continue };
            let tx = self.engine.write()?;
            let (Some((me, None)), Some((agent, None))) = (tx.agent(session)?, tx.agent(holding)?) else {
                continue;
            };
            let theirs = obstacles.iter().filter(|obstacle| obstacle.held.hold.holder == *holder);
            let text = wording::trespassed(theirs.map(|obstacle| obstacle.path.as_str()), command);
            let (kind, priority) = (MessageType::Info, Priority::High);
            let change =
                messages::notice(messages::sender(&*self.host, Some(&me)), &[&agent], kind, priority, text);
            let (project, actor) = (Some(me.project.id.clone()), Actor::Agent(session.clone()));
            Self::conclude(&*self.host, tx, now, project, actor, vec![change])?;
        }
        Ok(())
    }
}
