//! Claims verb `overlaps`: finds files that agents have changed in different worktrees
//! and that will conflict when they are merged.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use crate::App;
use crate::Timestamp;
use crate::claims::Overlap;
use crate::claims::wording;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::messages;
use crate::presence;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;

impl App {
    /// Agents in different worktrees of one repository that have written the
    /// same files, or whose branches conflict. May start `git` for each pair:
    /// not for hooks.
    pub fn overlaps(&mut self, project: Option<&ProjectId>) -> Result<Vec<Overlap>, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        // What an agent wrote outside of its worktree belongs to another one.
        let mut files: BTreeMap<(SessionId, PathBuf), BTreeSet<String>> = BTreeMap::new();
        for touch in side_files.all_touched(now.minus(Timestamp::DAY)) {
            files.entry((touch.session, touch.worktree)).or_default().insert(touch.path);
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
        // Several agents may share a worktree: its branches are compared once.
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
                    overlaps.push(Overlap { agents, files, conflicts: conflicts.clone() });
                }
            }
        }
        Ok(overlaps)
    }

    /// Tells both of each pair, once of each file.
    pub fn tell_overlaps(&mut self, overlaps: &[Overlap]) -> Result<usize, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let mut told = 0;
        for overlap in overlaps {
            for (me, other) in [(0, 1), (1, 0)].map(|(a, b)| (&overlap.agents[a], &overlap.agents[b])) {
                let mut new = overlap.clone();
                let is_new = |what: &str, path: &str| {
                    !side_files.notified_before(&me.session, &format!("{what} {} {path}", other.session))
                };
                new.files.retain(|path| is_new("edited", path));
                new.conflicts.retain(|path| is_new("conflict", path));
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
