//! Counts the lines that agents have changed: git is asked in a thread of its own, and only if an agent has
//! done something since the last time.

use std::collections::HashMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use std::time::Instant;

use consort_core::Timestamp;

/// Shortest time between two questions about a worktree.
const AGAIN: Duration = Duration::from_secs(5);

type LineCounts = Arc<Mutex<HashMap<PathBuf, LineCount>>>;

struct LineCount {
    lines: Option<(u32, u32)>,
    /// The last activity of its agents: as known now, and as known when git was asked.
    active: Timestamp,
    active_then: Timestamp,
    asked: Instant,
}

/// The answers of git about worktrees.
pub(super) struct ChangedLines {
    known: LineCounts,
    wanted: Sender<PathBuf>,
}

impl ChangedLines {
    pub(super) fn begin() -> Self {
        let (wanted, asked) = mpsc::channel::<PathBuf>();
        let known = LineCounts::default();
        let answers = Arc::clone(&known);
        let ask = move || {
            for worktree in asked {
                let lines = consort_host::changed_lines(&worktree);
                let mut known = answers.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(answer) = known.get_mut(&worktree) {
                    answer.lines = lines;
                }
            }
        };
        // Without a thread there are no numbers, and nothing else is affected.
        let _ = std::thread::Builder::new().name("lines".into()).spawn(ask);
        Self { known, wanted }
    }

    /// Returns the changed lines of a worktree whose agent was last active then, as far as they are known.
    pub(super) fn of(&self, worktree: &Path, active: Timestamp) -> Option<(u32, u32)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(answer) = known.get_mut(worktree) else {
            let answer = LineCount { lines: None, active, active_then: active, asked: Instant::now() };
            known.insert(worktree.to_owned(), answer);
            let _ = self.wanted.send(worktree.to_owned());
            return None;
        };
        answer.active = answer.active.max(active);
        if answer.active > answer.active_then && answer.asked.elapsed() >= AGAIN {
            (answer.active_then, answer.asked) = (answer.active, Instant::now());
            let _ = self.wanted.send(worktree.to_owned());
        }
        answer.lines
    }
}
