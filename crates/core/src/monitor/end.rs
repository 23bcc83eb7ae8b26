//! Ends what runs in a pane: asks first, then ends the whole tree of processes, and sees it
//! gone before the pane goes.

use std::time::Duration;

use super::Ending;
use super::PaneAddress;
use super::PaneKeeper;
use super::PaneViewer;
use super::ProcessTrees;
use super::TerminalError;
use super::TreeProcess;

/// How long a program has to end when it is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the kernel has to end what is forced to.
const FORCED: Duration = Duration::from_secs(2);

const BEAT: Duration = Duration::from_millis(50);

/// How many of its last lines are kept.
const LAST_LINES: usize = 20;

/// What came of ending a pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// What it showed last.
    pub last_lines: String,
    /// Those that had to be forced.
    pub forced: usize,
    /// Those that live on, whatever was done.
    pub left: Vec<TreeProcess>,
}

/// Ends all that runs in a pane and removes it. `pid` is the process that it was opened with.
pub fn end_pane<T: PaneViewer + PaneKeeper + ProcessTrees>(
    terminal: &T,
    pane: &PaneAddress,
    pid: u32,
) -> Result<Ended, TerminalError> {
    let before = terminal.tree(pid);
    // The agent ends what is its own, and says how it is resumed.
    before.iter().take(1).for_each(|root| terminal.end(&root.process, Ending::Asked));
    let mut left = wait(terminal, before, PATIENCE);
    left.iter().for_each(|one| terminal.end(&one.process, Ending::Asked));
    left = wait(terminal, left, FORCED);
    let forced = left.len();
    left.iter().for_each(|one| terminal.end(&one.process, Ending::Forced));
    left = wait(terminal, left, FORCED);
    let last_lines = terminal.history(pane, LAST_LINES).unwrap_or_default();
    terminal.remove(pane)?;
    Ok(Ended { last_lines, forced, left })
}

/// Waits until none of these lives, or for so long; those that do.
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
