//! Claims verb `overlaps`: finds files that agents have changed in different worktrees
//! and that will conflict when they are merged.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use crate::App;
use crate::Timestamp;
use crate::claims::LastWrite;
use crate::claims::WorktreeOverlap;
use crate::claims::wording;
use crate::engine::StoreError;
use crate::host::Host;
use crate::host::RealPath;
use crate::journal::Actor;
use crate::messages;
use crate::presence;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::SideFiles;
use crate::text;

impl App {
    /// Finds agents in different worktrees of one repository that have written the same files, or
    /// whose branches conflict. May start `git` for each pair: not for hooks.
    pub fn worktree_overlaps(
        &mut self,
        project: Option<&ProjectId>,
    ) -> Result<Vec<WorktreeOverlap>, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        // A file that an agent wrote outside of its worktree belongs to another worktree.
        let mut files: BTreeMap<(SessionId, PathBuf), BTreeSet<String>> = BTreeMap::new();
        for write in side_files.last_writes(now.minus(Timestamp::DAY)) {
            files.entry((write.session, write.worktree)).or_default().insert(write.path);
        }
        let mut agents = self.engine.read()?.present()?;
        agents.retain(|agent| {
            project.is_none_or(|project| agent.project.id == *project)
                && presence::is_alive(&*self.host, &*side_files, agent)
        });
        let none = BTreeSet::new();
        let of = |agent: &Agent| {
            files.get(&(agent.session.clone(), agent.location.worktree.clone())).unwrap_or(&none)
        };
        let mut overlaps = Vec::new();
        // Several agents may share a worktree: each pair of worktrees is compared once.
        let mut compared: BTreeMap<(&Path, &Path), Vec<String>> = BTreeMap::new();
        for (at, one) in agents.iter().enumerate() {
            for other in &agents[at + 1..] {
                if one.project.id != other.project.id || one.location.worktree == other.location.worktree {
                    continue;
                }
                let files: Vec<String> = of(one).intersection(of(other)).cloned().collect();
                let pair = (one.location.worktree.as_path(), other.location.worktree.as_path());
                let conflicts =
                    compared.entry(pair).or_insert_with(|| self.host.merge_conflicts(pair.0, pair.1));
                if !files.is_empty() || !conflicts.is_empty() {
                    let agents = [one.clone(), other.clone()];
                    overlaps.push(WorktreeOverlap { agents, files, conflicts: conflicts.clone() });
                }
            }
        }
        Ok(overlaps)
    }

    /// Tells both sides that a session has just written files which others have written in other
    /// worktrees: the others by message, the session in the returned text.
    pub(super) fn notify_of_overlap(
        &mut self,
        session: &SessionId,
        met: &[LastWrite],
    ) -> Result<Option<String>, StoreError> {
        let side_files = self.engine.side_files();
        let is_new =
            |write: &&LastWrite| !side_files.was_notified(session, &edited(&write.session, &write.path));
        let met: Vec<&LastWrite> = met.iter().filter(is_new).collect();
        if met.is_empty() {
            return Ok(None);
        }
        let present = self.engine.read()?.present()?;
        let find = |session: &SessionId| present.iter().find(|agent| agent.session == *session);
        let mut overlaps: Vec<WorktreeOverlap> = Vec::new();
        for write in met {
            let (Some(me), Some(other)) = (find(session), find(&write.session)) else { continue };
            // A file that a session wrote outside of its worktree is not on its branch.
            if !presence::is_alive(&*self.host, &*side_files, other)
                || other.project.id != me.project.id
                || other.location.worktree == me.location.worktree
            {
                continue;
            }
            match overlaps.iter_mut().find(|overlap| overlap.agents[1].session == other.session) {
                Some(overlap) => overlap.files.push(write.path.clone()),
                None => overlaps.push(WorktreeOverlap {
                    agents: [me.clone(), other.clone()],
                    files: vec![write.path.clone()],
                    conflicts: Vec::new(),
                }),
            }
        }
        let mut told = Vec::new();
        for overlap in &overlaps {
            let other = &overlap.agents[1];
            for path in &overlap.files {
                let _ = side_files.note_notified(session, &edited(&other.session, path));
            }
            told.push(format!("[consort] {}", text::disarm_hook_tags(&wording::overlap(overlap, other))));
        }
        self.tell_worktree_overlaps(&overlaps)?;
        Ok((!told.is_empty()).then(|| told.join("\n")))
    }

    /// Tells both agents of each pair, once of each file; returns the number of messages.
    pub fn tell_worktree_overlaps(&mut self, overlaps: &[WorktreeOverlap]) -> Result<usize, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let mut told = 0;
        for overlap in overlaps {
            for (me, other) in [(0, 1), (1, 0)].map(|(a, b)| (&overlap.agents[a], &overlap.agents[b])) {
                let mut new = overlap.clone();
                let is_new = |what: &str| !side_files.note_notified(&me.session, what);
                new.files.retain(|path| is_new(&edited(&other.session, path)));
                new.conflicts.retain(|path| is_new(&format!("conflict {} {path}", other.session)));
                if new.files.is_empty() && new.conflicts.is_empty() {
                    continue;
                }
                let tx = self.engine.write()?;
                let change = messages::remark(me, wording::overlap(&new, other), None);
                let project = Some(me.project.id.clone());
                Self::conclude(&*self.host, tx, now, project, Actor::Consort, vec![change])?;
                told += 1;
            }
        }
        Ok(told)
    }
}

/// Makes the key of the notice that another session has edited this file too.
fn edited(other: &SessionId, path: &str) -> String {
    format!("edited {other} {path}")
}

/// Finds the others who wrote the same file, with other content, in another worktree of its
/// repository within a day.
pub(super) fn written_elsewhere(
    host: &dyn Host,
    side_files: &dyn SideFiles,
    session: &SessionId,
    located: &RealPath,
) -> Vec<LastWrite> {
    let Some(repository) = &located.repository else { return Vec::new() };
    let since = host.now().minus(Timestamp::DAY);
    let here = located.worktree.join(&located.path);
    let mut elsewhere = Vec::new();
    for worktree in host.worktrees(repository).into_iter().filter(|one| *one != located.worktree) {
        let there = worktree.join(&located.path);
        let write = side_files.last_write(&there);
        elsewhere.extend(write.filter(|write| {
            write.session != *session
                && write.at >= since
                && host.content_hash(&there).is_none_or(|hash| host.content_hash(&here) != Some(hash))
        }));
    }
    elsewhere
}
