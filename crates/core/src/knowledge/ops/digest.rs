//! Knowledge verbs that read the summary of knowledge (the digest) for a session that starts, and
//! write it again after a change.

use std::path::Path;

use crate::App;
use crate::engine::StoreError;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Scope;
use crate::knowledge::digest;
use crate::knowledge::digest::Digest;
use crate::presence::Agent;
use crate::presence::SessionId;

/// Usual bytes of a token, rather too few.
const BYTES_PER_TOKEN: usize = 4;

impl App {
    /// Returns the summary of what is known for an agent that begins, in at most `tokens` tokens:
    /// lines that have to do with its branch and its directory come first.
    pub fn digest(&mut self, agent: &Agent, tokens: usize) -> Option<String> {
        if tokens > 0 {
            self.take_in_for(agent, tokens);
        }
        self.known_digest(agent, tokens)
    }

    /// Notes that a session was shown these: if one becomes stale, the session is told with its
    /// next prompt.
    pub fn note_shown(&self, session: &SessionId, shown: &[(Kind, String)]) {
        let side_files = self.engine.side_files();
        for (kind, name) in shown {
            side_files.note_notified(session, &digest::shown_name(*kind, name));
        }
    }

    /// Returns the summary from what has been taken in already.
    pub(super) fn known_digest(&mut self, agent: &Agent, tokens: usize) -> Option<String> {
        let (project, side_files) = (&agent.project.id, self.engine.side_files());
        let mut digest = side_files.digest(project);
        if side_files.is_behind(project, digest.as_ref()) {
            // The writer of an entry could not go on to the digest, or the entry came from
            // elsewhere.
            let _ = self.knowledge();
            digest = side_files.digest(project);
        }
        let lines = digest?.lines;
        let below = agent.location.cwd.strip_prefix(&agent.location.worktree).unwrap_or(Path::new(""));
        let place = format!("{} {}", agent.branch.as_deref().unwrap_or_default(), below.display());
        let words = place.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let digest = digest::digest_for(&lines, &words, tokens * BYTES_PER_TOKEN)?;
        // If a line becomes stale, the session will be told.
        for shown in digest::shown_in(&digest) {
            side_files.note_notified(&agent.session, shown);
        }
        Some(digest)
    }

    /// Writes the summary for sessions of a project that start, and with `with_files` the list of
    /// files whose change they should report.
    pub(super) fn write_digest(
        &mut self,
        index: &dyn KnowledgeIndex,
        scope: &Scope,
        with_files: bool,
    ) -> Result<(), StoreError> {
        let Scope::Project(project) = scope else { return Ok(()) };
        let side_files = self.engine.side_files();
        let lines = index.most_important(scope, digest::MOST)?;
        let (through, _) = index.last()?;
        side_files.set_digest(project, &Digest { through, lines: lines.join("\n") });
        if with_files {
            let files = index.fresh_files(scope)?;
            for repository in self.engine.read()?.repositories(project)? {
                side_files.set_known_files(&repository, project, &files);
            }
        }
        Ok(())
    }
}
