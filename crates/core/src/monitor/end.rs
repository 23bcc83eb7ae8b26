//! Ends the processes of a pane: asks the agent first, then the rest of the process tree, then kills, and
//! removes the pane last.

use std::time::Duration;

use super::EndMethod;
use super::PaneAddress;
use super::PaneManager;
use super::PaneViewer;
use super::ProcessTrees;
use super::TerminalError;
use super::TreeProcess;

/// Time for a program to end after it was asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time for the processes of the tree to end after they were asked, and again after they were killed.
const FORCED: Duration = Duration::from_secs(2);

const BEAT: Duration = Duration::from_millis(50);

/// Number of the pane's last lines that are kept.
const LAST_LINES: usize = 20;

/// The result of ending a pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The last lines that the pane showed.
    pub last_lines: String,
    /// The number of processes that had to be killed.
    pub forced: usize,
    /// The processes that are still alive.
    pub left: Vec<TreeProcess>,
}

/// Ends all processes of a pane and removes the pane. `pid` is the process that the pane was opened with.
pub fn end_pane<T: PaneViewer + PaneManager + ProcessTrees>(
    terminal: &T,
    pane: &PaneAddress,
    pid: u32,
) -> Result<Ended, TerminalError> {
    let before = terminal.tree(pid);
    // The agent ends its own children, and prints its resume command.
    before.iter().take(1).for_each(|root| terminal.end(&root.process, EndMethod::Asked));
    let mut left = wait(terminal, before, PATIENCE);
    left.iter().for_each(|one| terminal.end(&one.process, EndMethod::Asked));
    left = wait(terminal, left, FORCED);
    let forced = left.len();
    left.iter().for_each(|one| terminal.end(&one.process, EndMethod::Forced));
    left = wait(terminal, left, FORCED);
    let last_lines = terminal.history(pane, LAST_LINES).unwrap_or_default();
    terminal.remove(pane)?;
    Ok(Ended { last_lines, forced, left })
}

/// Waits until none of these processes lives, or for the time `longest`; returns those that still live.
fn wait<T: PaneViewer + ProcessTrees>(
    terminal: &T,
    mut left: Vec<TreeProcess>,
    longest: Duration,
) -> Vec<TreeProcess> {
    for _ in 0..longest.as_millis() / BEAT.as_millis() {
        left.retain(|one| terminal.lives(&one.process));
        if left.is_empty() {
            break;
        }
        terminal.pause(BEAT);
    }
    left
}
