//! Claims verbs about files that changed since a session read them: they note each
//! read, and tell the session of changes by others.

use std::path::Path;

use crate::App;
use crate::claims::ReadStamp;
use crate::claims::wording;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::presence::SessionId;

/// How many of the files a session has seen are looked after.
const LOOKED_AFTER: usize = 32;

impl App {
    /// A session has read a file.
    pub fn note_read(&mut self, session: &SessionId, path: &Path) -> Result<(), StoreError> {
        let sight = ReadStamp { path: path.to_owned(), at: self.host.now(), stamp: self.host.stamp(path) };
        self.engine.side_files().note_read(session, &[sight])
    }

    /// Which of the files that a session has seen were changed by others since:
    /// said once. What changed while its own command ran counts as its own
    /// doing, unless another one has said that it wrote it.
    pub fn changed_since_seen(
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
            let touch =
                files.touched(&located.worktree.join(&located.path)).filter(|touch| touch.at >= sight.at);
            let is_own = touch.as_ref().map_or(after_own_command, |touch| touch.session == *session);
            seen_anew.push(ReadStamp { path: sight.path.clone(), at: now, stamp });
            let what = format!("changed {} {} {}", stamp.changed, stamp.size, sight.path.display());
            if !is_own && !files.notified_before(session, &what) {
                strange.push((located, touch, stamp));
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
        let mut changes = Vec::new();
        for (located, touch, stamp) in &strange {
            let by = match touch {
                Some(touch) => tx.agent(&touch.session)?.map(|(agent, _)| agent.name.to_string()),
                None => None,
            };
            changes.push((located.path.as_str(), by, *stamp));
        }
        Ok(Some(wording::changed(&changes, now)))
    }
}
