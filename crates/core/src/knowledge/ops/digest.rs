//! Knowledge verbs that read the summary of knowledge for a session that starts, and
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

/// As a rule, and rather too few.
const BYTES_PER_TOKEN: usize = 4;

impl App {
    /// What an agent that begins is told of what is known, in so many tokens: what
    /// has to do with its branch and its place first.
    pub fn digest(&mut self, agent: &Agent, tokens: usize) -> Option<String> {
        if tokens > 0 {
            self.take_in_for(agent, tokens);
        }
        self.known_digest(agent, tokens)
    }

    /// A session was shown these: should they become stale, it hears of it with its next
    /// prompt.
    pub fn note_shown(&self, session: &SessionId, shown: &[(Kind, String)]) {
        let side_files = self.engine.side_files();
        for (kind, name) in shown {
            side_files.notified_before(session, &digest::shown_name(*kind, name));
        }
    }

    /// The same of what was taken in before.
    pub(super) fn known_digest(&mut self, agent: &Agent, tokens: usize) -> Option<String> {
        let (project, side_files) = (&agent.project.id, self.engine.side_files());
        let mut digest = side_files.digest(project);
        if side_files.is_behind(project, digest.as_ref()) {
            // Somebody recorded it and could not go on, or it came from elsewhere.
            let _ = self.knowledge();
            digest = side_files.digest(project);
        }
        let lines = digest?.lines;
        let below = agent.location.cwd.strip_prefix(&agent.location.worktree).unwrap_or(Path::new(""));
        let place = format!("{} {}", agent.branch.as_deref().unwrap_or_default(), below.display());
        let words = place.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let digest = digest::digest_for(&lines, &words, tokens * BYTES_PER_TOKEN)?;
        // Should it become stale, the session hears of it.
        for shown in digest::shown_in(&digest) {
            side_files.notified_before(&agent.session, shown);
        }
        Some(digest)
    }

    /// Writes out what sessions of a project are told when they start, and which
    /// files they should say that they have changed.
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
