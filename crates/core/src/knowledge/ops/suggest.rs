//! Knowledge verb that suggests what to record: files that several sessions had to
//! read, and of which nothing is known.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use crate::App;
use crate::engine::StoreError;
use crate::knowledge::Kind;
use crate::knowledge::Scope;
use crate::knowledge::place::Standpoint;

impl App {
    /// Files of a project that several of its sessions have read and nobody has said
    /// anything of, with how many that were, most first. Only files are known so well:
    /// commands are kept nowhere.
    pub fn suggest_knowledge(
        &mut self,
        scope: &Scope,
        worktree: &Path,
    ) -> Result<Vec<(String, usize)>, StoreError> {
        let index = self.knowledge()?;
        let side_files = self.engine.side_files();
        let mut agents = self.engine.read()?.present()?;
        agents.retain(|agent| Some(&agent.project.id) == scope.project());
        let from = Standpoint { host: &*self.host, worktree, cwd: worktree };
        let mut readers: BTreeMap<String, usize> = BTreeMap::new();
        for agent in agents {
            let read = side_files.read_stamps(&agent.session);
            let paths = read.iter().filter_map(|read| from.place(&read.path.to_string_lossy()).ok());
            for path in paths.collect::<BTreeSet<_>>() {
                *readers.entry(path).or_default() += 1;
            }
        }
        let mut found = Vec::new();
        for (path, count) in readers.into_iter().filter(|(_, count)| *count > 1) {
            if index.known(scope, Kind::File, &path)?.is_none() {
                found.push((path, count));
            }
        }
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(found)
    }
}
