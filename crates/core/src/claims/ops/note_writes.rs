//! Claims verbs about automatic claims: they note which agent edited a file last, and
//! tell others of it.

use std::path::PathBuf;

use super::overlap::written_elsewhere;
use crate::App;
use crate::Timestamp;
use crate::claims::Extent;
use crate::claims::LastWrite;
use crate::claims::Pattern;
use crate::claims::PendingWrite;
use crate::claims::ReadStamp;
use crate::claims::WroteOutcome;
use crate::claims::wording;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::presence;
use crate::presence::SessionId;

impl App {
    /// Notes that a session has written files: they are its own for a while, and it has seen them
    /// as they are now. Returns their real paths, and once a text about others who have written
    /// the same files in other worktrees.
    pub fn note_writes(
        &mut self,
        session: &SessionId,
        paths: &[PathBuf],
    ) -> Result<WroteOutcome, StoreError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let is_holder = !paths.is_empty() && files.has_ever_held(session);
        let (mut read_stamps, mut places, mut outdated) = (Vec::new(), Vec::new(), Vec::new());
        let (mut met, mut timed) = (Vec::new(), Vec::new());
        for path in paths {
            let located = self.host.locate(path);
            places.push(located.worktree.join(&located.path));
            let known =
                located.repository.as_ref().and_then(|found| files.project_knowing(found, &located.path));
            outdated.extend(known.map(|project| (project, located.worktree.clone(), located.path.clone())));
            met.extend(written_elsewhere(&*self.host, &*files, session, &located));
            if is_holder && self.keep_written(&*files, session, &located) {
                timed.push(located.path.clone());
            }
            files.note_write(&LastWrite {
                session: session.clone(),
                at: now,
                worktree: located.worktree,
                path: located.path,
            })?;
            read_stamps.push(ReadStamp { path: path.clone(), at: now, stamp: self.host.stamp(path) });
        }
        files.note_read(session, &read_stamps)?;
        for (project, worktree, path) in outdated {
            // Knowledge about the file is marked as stale; if that fails, the write has not failed.
            let _ = self.mark_stale(&project, &worktree, &[path], Actor::Agent(session.clone()));
        }
        if !timed.is_empty() {
            let _ = self.renew(session, &timed);
        }
        // If the others cannot be told, the write has not failed either.
        let told = self.notify_of_overlap(session, &met).unwrap_or_default();
        Ok(WroteOutcome { places, told })
    }

    /// Warns a session that is about to write files which another live session has changed a
    /// short while ago and not committed; once for each change.
    pub fn recent_writes_notice(
        &mut self,
        session: &SessionId,
        targets: &[PendingWrite],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let mut found = Vec::new();
        for target in targets.iter().filter(|target| target.extent == Extent::File) {
            let write = files.last_write(&self.host.real_path(&target.path));
            found.extend(
                write.filter(|write| write.session != *session && now.since(write.at) < Timestamp::DAY),
            );
        }
        if found.is_empty() {
            return Ok(None);
        }
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let mut told = Vec::new();
        for write in found {
            let lasts =
                hook_settings(&*tx, &write.worktree, environment)?.auto_claim_minutes * Timestamp::MINUTE;
            let Some((agent, None)) = tx.agent(&write.session)? else { continue };
            let what = format!("touched {} {} {}", write.session, write.at.0 / lasts.max(1), write.path);
            // The check that starts `git` comes after the quick ones.
            if now.since(write.at) < lasts
                && !files.was_notified(session, &what)
                && presence::is_alive(&*self.host, &*files, &agent)
                && self.host.has_changes(&write.worktree, &Pattern::file(&write.path), true) != Some(false)
                && !files.note_notified(session, &what)
            {
                told.push(wording::recent_write(&write, agent.name.as_str(), now));
            }
        }
        Ok((!told.is_empty()).then(|| told.join("\n")))
    }
}
