//! Claims verb `restore`: restores the content that a file's holder wrote last.

use std::path::Path;

use super::actor;
use super::find;
use super::gather;
use super::keep_content;
use super::project_of;
use super::speaker;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimError;
use crate::claims::LastWrite;
use crate::claims::Pattern;
use crate::claims::Resource;
use crate::claims::RestoreOutcome;
use crate::claims::Strength;
use crate::claims::rules;
use crate::journal::Actor;
use crate::presence;
use crate::presence::CallerFacts;

/// The choice between a preview and restoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreMode {
    Look,
    /// Restore, if the file is still the one that was looked at: `over` is its
    /// [`RestoreOutcome::checksum_before`].
    Do {
        over: Option<u64>,
    },
}

impl App {
    /// Restores a file as its holder wrote it last. Only its holder and the person may ask for that.
    pub fn restore(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        path: &str,
        what: RestoreMode,
    ) -> Result<RestoreOutcome, ClaimError> {
        let (now, case, files) = (self.host.now(), self.host.case(), self.engine.side_files());
        if path.trim().is_empty() {
            return Err(ClaimError::Nothing);
        }
        let (located, _) = find(&*self.host, cwd, path)?;
        let (file, place) = (Pattern::file(&located.path), located.worktree.join(&located.path));
        let tx = self.engine.read()?;
        let me = speaker(presence::who_calls(&*self.host, &*files, &*tx, caller)?)?;
        let asker = actor(me.as_ref());
        let project = project_of(&*tx, &located)?;
        let near = tx.holds_near(&[Resource::Paths(file.clone())], case)?;
        let live = gather(&*self.host, &*files, &*tx, near, now)?;
        let is_held_by_asker = live.holds.iter().any(|hold| {
            hold.holder == asker
                && rules::is_in_the_way(hold, Strength::Blocking, project.as_ref(), &file, case)
        });
        if asker != Actor::Person && !is_held_by_asker {
            return Err(ClaimError::NotTheHolder { path: located.path });
        }
        let kept = files.kept_file(&place).filter(|kept| now.since(kept.at) < Timestamp::DAY);
        let kept = kept.and_then(|kept| Some((files.kept(kept.content.as_deref()?)?, kept)));
        let Some((content, kept)) = kept else {
            return Err(ClaimError::NothingKept { path: located.path });
        };
        let by = tx.agent(&kept.session)?.map_or_else(|| "?".into(), |(agent, _)| agent.name.to_string());
        drop(tx);
        let present = self.host.content(&place, u64::MAX);
        let mut outcome = RestoreOutcome {
            at: now,
            path: located.path.clone(),
            by,
            kept_at: kept.at,
            before: present.as_ref().map(|present| present.bytes.clone()),
            after: content,
            restored: false,
            replaced: None,
        };
        let RestoreMode::Do { over } = what else { return Ok(outcome) };
        if over != outcome.checksum_before() {
            return Err(ClaimError::ChangedMeanwhile { path: located.path });
        }
        // The content that is overwritten is kept too, as far as it may be kept.
        if let Some(present) = present.filter(|present| {
            present.bytes.len() as u64 <= keep_content::LONGEST
                && !rules::looks_secret(&located.path, &present.bytes)
        }) {
            outcome.replaced = files.keep(&present.hash, &present.bytes, now).ok().map(|()| present.hash);
        }
        self.host
            .put_back(&located.worktree, &located.path, &outcome.after, kept.is_executable)
            .map_err(|source| ClaimError::NotWritten { path: located.path.clone(), source })?;
        outcome.restored = true;
        if let Some(me) = me {
            let write = LastWrite {
                session: me.session.clone(),
                at: now,
                worktree: located.worktree,
                path: located.path,
            };
            files.note_write(&write)?;
            self.note_writes(&me.session, &[place])?;
        }
        Ok(outcome)
    }
}
