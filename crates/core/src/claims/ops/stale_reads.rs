//! Claims verbs about files that changed since a session read them: they note each
//! read, and tell the session of changes by others.

use std::path::Path;

use super::keep_content::held_by;
use crate::App;
use crate::Timestamp;
use crate::claims::FileStamp;
use crate::claims::Pattern;
use crate::claims::ReadStamp;
use crate::claims::Strength;
use crate::claims::wording;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::presence::SessionId;
use crate::side_files::SideFiles;

/// Most files seen by a session that are checked for changes.
const LOOKED_AFTER: usize = 32;

/// Most files of a reservation that are checked for changes.
const SEARCHED: usize = 500;

/// Milliseconds that the clock of a file system may run behind.
const SLACK: i64 = 20;

impl App {
    /// Tells a session, once, which of its reserved files the person has saved, even if it has
    /// not read them.
    pub fn person_saves_notice(&mut self, session: &SessionId) -> Result<Option<String>, StoreError> {
        let (now, case, files) = (self.host.now(), self.host.case(), self.engine.side_files());
        if !files.has_ever_held(session) {
            return Ok(None);
        }
        let tx = self.engine.read()?;
        let mut saved: Vec<(String, FileStamp)> = Vec::new();
        for hold in tx.holds_of(&Actor::Agent(session.clone()))? {
            let (Some(pattern), Some(worktree)) = (hold.resource.pattern(), &hold.worktree) else { continue };
            let reserved = match pattern.literal() {
                _ if hold.strength != Strength::Blocking => Vec::new(),
                Some(file) => vec![file],
                None => self.host.files(worktree, &pattern.stem(), pattern.depth(), SEARCHED).0,
            };
            let since = hold.since.max(now.minus(Timestamp::HOUR));
            let mut strange = Vec::new();
            for path in reserved {
                let (place, file) = (worktree.join(&path), Pattern::file(&path));
                let stamp = self.host.stamp(&place);
                if stamp.changed / 1_000_000 > since.0
                    && pattern.overlaps(&file, case)
                    && is_outside(&*files, &*tx, &place, stamp)?
                    && !files.note_notified(session, &what_changed(stamp, &place))
                {
                    strange.push((path, stamp));
                }
            }
            let paths: Vec<&str> = strange.iter().map(|(path, _)| path.as_str()).collect();
            let ignored = match paths.is_empty() || pattern.literal().is_some() {
                true => Vec::new(),
                false => self.host.ignored(worktree, &paths).unwrap_or_default(),
            };
            saved.extend(strange.into_iter().filter(|(path, _)| !ignored.contains(path)));
        }
        Ok((!saved.is_empty()).then(|| wording::saved(&saved, now)))
    }

    /// Notes that a session has read a file.
    pub fn note_read(&mut self, session: &SessionId, path: &Path) -> Result<(), StoreError> {
        let sight = ReadStamp { path: path.to_owned(), at: self.host.now(), stamp: self.host.stamp(path) };
        self.engine.side_files().note_read(session, &[sight])
    }

    /// Tells a session, once, which of the files that it has seen were changed by others since. A
    /// change while its own command ran counts as its own, unless another session's tool has
    /// reported the write.
    pub fn stale_reads_notice(
        &mut self,
        session: &SessionId,
        after_own_command: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let (mut seen_anew, mut strange) = (Vec::new(), Vec::new());
        for sight in files.read_stamps(session).into_iter().take(LOOKED_AFTER) {
            let stamp = self.host.stamp(&sight.path);
            if stamp == sight.stamp {
                continue;
            }
            let located = self.host.locate(&sight.path);
            let write =
                files.last_write(&located.worktree.join(&located.path)).filter(|write| write.at >= sight.at);
            let is_own = write.as_ref().map_or(after_own_command, |write| write.session == *session);
            seen_anew.push(ReadStamp { path: sight.path.clone(), at: now, stamp });
            let what = what_changed(stamp, &sight.path);
            if !is_own && !files.note_notified(session, &what) {
                strange.push((located, write, stamp));
            }
        }
        if seen_anew.is_empty() {
            return Ok(None);
        }
        files.note_read(session, &seen_anew)?;
        let Some((first, ..)) = strange.first() else { return Ok(None) };
        let tx = self.engine.read()?;
        if !hook_settings(&*tx, &first.worktree, environment)?.tells_stale_reads() {
            return Ok(None);
        }
        let is_holder = files.has_ever_held(session);
        let mut changes = Vec::new();
        for (located, write, stamp) in &strange {
            let by = match write {
                Some(write) => tx.agent(&write.session)?.map(|(agent, _)| agent.name.to_string()),
                // No agent's tool wrote it; if no agent's command ran either, the person did.
                None => {
                    let is_persons = is_holder
                        && !held_by(&*self.host, &*files, session, located).is_empty()
                        && is_outside(&*files, &*tx, &located.worktree.join(&located.path), *stamp)?;
                    is_persons.then(|| "your user".to_owned())
                }
            };
            changes.push((located.path.as_str(), by, *stamp));
        }
        Ok(Some(wording::changed(&changes, now)))
    }
}

/// Makes the key of a notice about a state of a file, which is given once.
fn what_changed(stamp: FileStamp, path: &Path) -> String {
    format!("changed {} {} {}", stamp.changed, stamp.size, path.display())
}

/// Tells whether a file came into this state by no agent's tool and while no agent ran a command.
fn is_outside(
    side_files: &dyn SideFiles,
    tx: &dyn Tx,
    place: &Path,
    stamp: FileStamp,
) -> Result<bool, StoreError> {
    let changed = Timestamp(stamp.changed / 1_000_000);
    // A file that is gone does not tell when it was removed.
    if changed.0 == 0 || side_files.last_write(place).is_some_and(|write| write.at.plus(SLACK) >= changed) {
        return Ok(false);
    }
    let mut present = tx.present()?.into_iter();
    Ok(!present.any(|agent| side_files.ran_between(&agent.session, changed, changed.plus(SLACK))))
}
