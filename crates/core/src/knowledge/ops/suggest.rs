//! Knowledge verb that suggests what to record: decisions said in messages, files that
//! several sessions had to read, and commands that failed and then worked.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use crate::App;
use crate::engine::StoreError;
use crate::journal::Change;
use crate::journal::KeptChange;
use crate::journal::TailRequest;
use crate::knowledge::Kind;
use crate::knowledge::Scope;
use crate::knowledge::Suggestion;
use crate::knowledge::commands;
use crate::knowledge::resolve_path::PathBase;
use crate::knowledge::suggestion;
use crate::messages::MessageChange;
use crate::presence::Agent;
use crate::presence::SessionId;

/// Number of entries of the journal that are looked through, the newest.
const NEWEST: usize = 5_000;

/// The most suggestions of each kind.
const FEW: usize = 10;

impl App {
    /// Returns what sessions of a project have found out and nobody has recorded, as far as the
    /// journal and their logs tell.
    pub fn suggest_knowledge(
        &mut self,
        scope: &Scope,
        worktree: &Path,
    ) -> Result<Vec<Suggestion>, StoreError> {
        let mut agents = self.engine.read()?.present()?;
        agents.retain(|agent| Some(&agent.project.id) == scope.project());
        let mut found = self.suggest_decisions(scope)?;
        found.extend(self.suggest_files(scope, worktree, &agents)?);
        let side_files = self.engine.side_files();
        if side_files.keeps_commands(worktree) {
            let logs = agents.iter().map(|agent| side_files.read_log(&agent.session).ran());
            let pairs: BTreeSet<_> = logs.flat_map(|ran| commands::failed_then_worked(&ran)).collect();
            let command = |(failed, worked)| Suggestion::Command { failed, worked };
            found.extend(pairs.into_iter().take(FEW).map(command));
        }
        Ok(found)
    }

    /// Keeps a command that a session has run, if the settings say so.
    pub fn note_command(
        &self,
        session: &SessionId,
        cwd: &Path,
        command: &str,
        failed: bool,
    ) -> Result<(), StoreError> {
        self.engine.side_files().note_command(session, cwd, command, failed)
    }

    /// Returns sentences of messages that sound like decisions, newest first, unless a record says
    /// the same.
    fn suggest_decisions(&mut self, scope: &Scope) -> Result<Vec<Suggestion>, StoreError> {
        let request =
            TailRequest { after: None, since: None, project: scope.project().cloned(), limit: NEWEST };
        let (entries, index) = (self.journal_tail(&request)?, self.knowledge()?);
        let mut found = Vec::new();
        for KeptChange { number, change } in entries.iter().rev().flat_map(|entry| &entry.changes) {
            let Change::Messages(MessageChange::Sent(message)) = change else { continue };
            let Some(text) = suggestion::decision_in(&message.text) else { continue };
            let like_it = index.search(Some(scope), &text, 1)?;
            if found.len() < FEW && !like_it.iter().any(|(_, known)| suggestion::says(known, &text)) {
                let (number, by) = (number.unwrap_or_default(), message.from.name.clone());
                found.push(Suggestion::Decision { number, by, text });
            }
        }
        Ok(found)
    }

    /// Returns files that several sessions have read and nobody has said anything of, most read
    /// first.
    fn suggest_files(
        &mut self,
        scope: &Scope,
        worktree: &Path,
        agents: &[Agent],
    ) -> Result<Vec<Suggestion>, StoreError> {
        let (index, side_files) = (self.knowledge()?, self.engine.side_files());
        let from = PathBase { host: &*self.host, worktree, cwd: worktree };
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
        let file = |(path, readers): (String, usize)| Suggestion::File { path, readers };
        Ok(found.into_iter().take(FEW).map(file).collect())
    }
}
