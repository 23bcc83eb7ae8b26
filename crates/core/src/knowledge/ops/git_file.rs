//! Knowledge verbs about the file in git: they take in what it brought before a read, and have it
//! written after a write.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use crate::App;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::knowledge::GitFile;
use crate::knowledge::GitFileMark;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Scope;
use crate::knowledge::TakenIn;
use crate::knowledge::worktree_index::Contents;
use crate::knowledge::worktree_index::WorktreeIndex;
use crate::presence::Agent;
use crate::project::ProjectId;

/// Longest file that a hook takes in, in bytes: a session that starts does not wait for more.
const LONGEST_IN_HOOK: u64 = 256 << 10;

impl App {
    /// Returns the app with a port to the file in git. Without one, nothing is taken in or written.
    pub fn with_git_file(mut self, file: Arc<dyn GitFile>) -> Self {
        self.git_file = Some(file);
        self
    }

    /// Opens what is known in a scope as of now, with what git has brought to a worktree.
    pub fn knowledge_from_git(
        &mut self,
        scope: &Scope,
        worktree: &Path,
        cwd: &Path,
    ) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        // A file that cannot be understood must not keep anybody from what is known.
        let _ = self.take_in_git_file(scope, worktree);
        self.knowledge_seen_from(scope, worktree, cwd)
    }

    /// Opens what is known in a scope as of now, as it is seen from a worktree: records about files
    /// are stale if the files there are not what they were. Paths are relative to `cwd`.
    pub fn knowledge_seen_from(
        &mut self,
        scope: &Scope,
        worktree: &Path,
        cwd: &Path,
    ) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        match self.seen_from(scope, worktree, cwd)? {
            Some(seen) => Ok(Box::new(seen)),
            None => self.knowledge(),
        }
    }

    /// Opens what is known in a project as it is seen from a worktree; `None` for the person's own
    /// knowledge.
    pub(super) fn seen_from(
        &mut self,
        scope: &Scope,
        worktree: &Path,
        cwd: &Path,
    ) -> Result<Option<WorktreeIndex>, StoreError> {
        let Scope::Project(project) = scope else { return Ok(None) };
        let index = self.knowledge()?;
        let side_files = self.engine.side_files();
        let mut contents = Contents::load(&*self.host, &*side_files, worktree);
        let mut seen = WorktreeIndex::new(index, scope, &mut contents, Rc::clone(&self.host), cwd)?;
        contents.keep(&*side_files);
        // A linked worktree has files of its own; only the state of the repository's main worktree
        // is noted.
        if !seen.to_note.is_empty() && self.main_worktrees(scope).iter().any(|main| main == worktree) {
            let _ = self.mark_stale(project, worktree, &seen.to_note, Actor::Consort);
            self.catch_up(&mut *seen.index)?;
        }
        Ok(Some(seen))
    }

    /// Opens what is known in a scope for an agent, which may ask for another project than its own.
    pub fn knowledge_for(
        &mut self,
        scope: &Scope,
        agent: &Agent,
    ) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        let (worktree, cwd) = self.worktree_and_directory(scope, agent);
        self.knowledge_from_git(scope, &worktree, &cwd)
    }

    /// Returns the worktree that has a scope's files, and the directory that an agent's paths are
    /// relative to: its own, or those of another project that it asks for.
    pub fn worktree_and_directory(&mut self, scope: &Scope, agent: &Agent) -> (PathBuf, PathBuf) {
        let is_own = scope.project().is_none_or(|project| *project == agent.project.id);
        let other = if is_own { None } else { self.main_worktrees(scope).into_iter().next() };
        match other {
            Some(worktree) => (worktree.clone(), worktree),
            None => (agent.location.worktree.clone(), agent.location.cwd.clone()),
        }
    }

    /// Takes in what git has brought to a worktree: somebody may have pulled, checked
    /// out or merged.
    pub fn take_in_git_file(&mut self, scope: &Scope, worktree: &Path) -> TakenIn {
        self.take_in_up_to(scope, worktree, u64::MAX)
    }

    fn take_in_up_to(&mut self, scope: &Scope, worktree: &Path, longest: u64) -> TakenIn {
        let (Scope::Project(_), Some(file)) = (scope, &self.git_file) else { return TakenIn::Before };
        let Some(stamp) = file.stamp(worktree) else { return TakenIn::Before };
        let side_files = self.engine.side_files();
        let mark = side_files.git_file_mark(worktree).filter(|mark| mark.stamp == stamp.text);
        if mark.is_some_and(|mark| !mark.is_bad || longest < u64::MAX) {
            return TakenIn::Before;
        }
        if stamp.length > longest {
            return TakenIn::Later;
        }
        let taken = file.take_in(worktree);
        if matches!(taken, TakenIn::Failed(_)) {
            let mark = GitFileMark { stamp: stamp.text, is_bad: true, place: None };
            side_files.set_git_file_mark(worktree, &mark);
        }
        taken
    }

    /// Returns what is noted of the file of a worktree.
    pub fn git_file_mark(&self, worktree: &Path) -> Option<GitFileMark> {
        self.engine.side_files().git_file_mark(worktree)
    }

    /// Replaces what is noted of the file of a worktree, after it was taken in or written.
    pub fn set_git_file_mark(&self, worktree: &Path, mark: &GitFileMark) {
        self.engine.side_files().set_git_file_mark(worktree, mark);
    }

    /// Takes in the file for a session that starts. The session does not wait for a long file: it
    /// gets its digest with the first prompt after somebody has taken that in.
    pub(super) fn take_in_for(&mut self, agent: &Agent, tokens: usize) {
        let (project, worktree) = (&agent.project.id, &agent.location.worktree);
        let scope = Scope::Project(project.clone());
        if self.take_in_up_to(&scope, worktree, LONGEST_IN_HOOK) == TakenIn::Later {
            let side_files = self.engine.side_files();
            let mut waiting = side_files.sessions_without_digest(project);
            waiting.retain(|(session, _)| *session != agent.session);
            waiting.push((agent.session.clone(), tokens));
            side_files.set_sessions_without_digest(project, &waiting);
        }
    }

    /// Takes in what git has brought to the repositories of a project, for a caller that
    /// is in none of them.
    pub fn take_in_git_files(&mut self, scope: &Scope) {
        for worktree in self.main_worktrees(scope) {
            let _ = self.take_in_git_file(scope, &worktree);
        }
    }

    /// Has the file of a worktree written again, if such a file is wanted.
    pub fn request_git_file(&self, scope: &Scope, worktree: &Path) {
        if let (Scope::Project(_), Some(file)) = (scope, &self.git_file) {
            file.request_write(worktree);
        }
    }

    /// Has the files of all repositories of a project written again, for a caller that is in none
    /// of them.
    pub fn request_git_files(&mut self, scope: &Scope) {
        for worktree in self.main_worktrees(scope) {
            self.request_git_file(scope, &worktree);
        }
    }

    /// Gives waiting sessions, with their next prompt, the digest that they could not get when they
    /// began.
    pub fn give_late_digests(&mut self, project: &ProjectId) -> Result<(), StoreError> {
        let side_files = self.engine.side_files();
        let waiting = side_files.sessions_without_digest(project);
        if waiting.is_empty() {
            return Ok(());
        }
        side_files.set_sessions_without_digest(project, &[]);
        for (session, tokens) in waiting {
            let agent = self.engine.read()?.agent(&session)?;
            let Some((agent, None)) = agent else { continue };
            let kept = side_files.take_kept_texts(&session).into_iter();
            let told: Vec<String> = kept.chain(self.known_digest(&agent, tokens)).collect();
            if !told.is_empty() {
                side_files.keep_text_for_prompt(&session, &told.join("\n\n"));
            }
        }
        Ok(())
    }

    /// Returns the worktrees of all projects in which an agent is at work now, for a process that
    /// looks after all of them.
    pub fn places_at_work(&mut self) -> Result<Vec<(ProjectId, PathBuf)>, StoreError> {
        let agents = self.engine.read()?.present()?;
        let projects: BTreeSet<ProjectId> = agents.into_iter().map(|agent| agent.project.id).collect();
        let mut places = Vec::new();
        for project in projects {
            let worktrees = self.main_worktrees(&Scope::Project(project.clone()));
            places.extend(worktrees.into_iter().map(|worktree| (project.clone(), worktree)));
        }
        Ok(places)
    }

    /// Returns the directories in which the repositories of a project are checked out, without
    /// linked worktrees.
    pub fn main_worktrees(&mut self, scope: &Scope) -> Vec<PathBuf> {
        let Scope::Project(project) = scope else { return Vec::new() };
        let repositories = self.engine.read().and_then(|tx| tx.repositories(project)).unwrap_or_default();
        let worktree = |repository: PathBuf| match repository.file_name().is_some_and(|name| name == ".git") {
            true => repository.parent().map(Path::to_owned),
            false => Some(repository),
        };
        repositories.into_iter().filter_map(worktree).collect()
    }
}
