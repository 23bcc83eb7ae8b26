//! Keeps the commands of sessions, and finds those that failed and then worked: what a session had
//! to find out the hard way.
//!
//! Commands are kept only where `privacy.store_commands` says so. **A published text names those
//! worktrees**; without it a hook looks for one file and finds none.

use std::path::Path;
use std::path::PathBuf;

use crate::engine::StoreError;
use crate::presence::SessionId;
use crate::secrets;
use crate::side_files::LogLine;
use crate::side_files::SideFiles;
use crate::text;

/// Name of the published text.
const TEXT: &str = "commands kept in";

/// Longest command that is kept, in bytes: longer ones are programs of their own.
const LONGEST: usize = 300;

/// Number of later commands among which the one that worked may be.
const SOON: usize = 5;

/// A command of a session, and whether it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCommand {
    pub text: String,
    pub failed: bool,
}

impl dyn SideFiles + '_ {
    /// Returns the worktrees in which commands are kept.
    fn worktrees_keeping(&self) -> Vec<PathBuf> {
        let text = self.text(TEXT).unwrap_or_default();
        text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
    }

    /// Tells whether commands that are run in a directory are kept.
    pub fn keeps_commands(&self, place: &Path) -> bool {
        self.worktrees_keeping().iter().any(|worktree| place.starts_with(worktree))
    }

    /// Begins or ends the keeping of commands in a worktree.
    pub fn set_keeps_commands(&self, worktree: &Path, keeps: bool) {
        let mut all = self.worktrees_keeping();
        if all.iter().any(|one| one == worktree) != keeps {
            all.retain(|one| one != worktree);
            all.extend(keeps.then(|| worktree.to_owned()));
            let lines = all.iter().map(|one| one.display().to_string());
            self.set_text(TEXT, &lines.collect::<Vec<_>>().join("\n"));
        }
    }

    /// Keeps a command that a session has run, if commands are kept in its directory. A command
    /// with what looks like a secret is not kept.
    pub fn note_command(
        &self,
        session: &SessionId,
        place: &Path,
        command: &str,
        failed: bool,
    ) -> Result<(), StoreError> {
        if command.len() > LONGEST || !self.keeps_commands(place) || secrets::find(command).is_some() {
            return Ok(());
        }
        self.add(session, &LogLine::Ran { failed, text: text::one_line(command, LONGEST) })
    }
}

/// Returns pairs of a command that failed and the one that worked soon after: of the same program,
/// but not the identical command.
pub(super) fn failed_then_worked(commands: &[KeptCommand]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, failed) in commands.iter().enumerate().filter(|(_, command)| command.failed) {
        let later = commands[at + 1..].iter().take(SOON);
        let mut same = later.filter(|later| program(&later.text) == program(&failed.text));
        // A second try of the same command tells nothing of how to do it.
        let worked = same.find(|later| !later.failed).filter(|later| later.text != failed.text);
        found.extend(worked.map(|worked| (failed.text.clone(), worked.text.clone())));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the program of a command, without the variables before it.
fn program(command: &str) -> &str {
    command.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(commands: &[(&str, bool)]) -> Vec<(String, String)> {
        let one = |(text, failed): &(&str, bool)| KeptCommand { text: (*text).to_owned(), failed: *failed };
        failed_then_worked(&commands.iter().map(one).collect::<Vec<_>>())
    }

    #[test]
    fn the_same_program_with_other_words_worked() {
        let pair = |one: &str, two: &str| vec![(one.to_owned(), two.to_owned())];
        let tried = [("cargo test", true), ("ls", false), ("A=1 cargo test --features x", false)];
        assert_eq!(found(&tried), pair("cargo test", "A=1 cargo test --features x"));
        assert!(found(&[("cargo test", true), ("cargo test", false)]).is_empty());
        assert!(found(&[("cargo test", true), ("npm test", false)]).is_empty());
        assert!(found(&[("cargo test", true)]).is_empty());
    }
}
