//! Follows agents that stand still, step by step: looks more often, looks at their processes, does one thing
//! that the person allows, looks again, and then leaves it to the person.

use consort_core::Timestamp;
use consort_core::monitor::PaneStateChange;
use consort_core::monitor::ProcessTrees as _;
use consort_core::monitor::RecordedPaneState;
use consort_core::monitor::StallResponse;
use consort_core::monitor::TreeProcess;
use consort_core::monitor::TypingPurpose;
use consort_core::monitor::plain_text;
use consort_core::presence::AgentName;
use consort_core::presence::is_shell;
use consort_core::secrets::redacted;
use consort_core::text;
use consort_host::Tmux;

use super::typing;
use super::typing::Typeable;
use super::watcher::WatchedPane;
use super::watcher::Watcher;
use super::watcher_actions::DueTexts;
use super::watcher_actions::is_on;
use crate::error::CommandError;
use crate::world::OpenWorld;
use crate::world::is_agent;

/// Processor time in ms plus I/O in KiB since the last look, above which a tool is not idle.
const EFFORT: u64 = 50;

/// Most lines of a frozen screen that are kept.
const LINES: usize = 50;

impl Watcher<'_> {
    /// Takes the next step with each agent that stands still, and returns the texts to be typed.
    pub(super) fn follow_stalls(&mut self, opened: &mut OpenWorld) -> Result<DueTexts, CommandError> {
        let now = self.now();
        let may_nudge = is_on(opened, "monitor.nudge");
        let tmux = Tmux::new(&opened.data);
        let (mut due, mut stalled) = (DueTexts::new(), Vec::new());
        for (key, pane) in self.panes_mut() {
            let doing = pane.subject.heard.as_ref().and_then(|heard| heard.doing.clone()).unwrap_or_default();
            if !pane.watched.seems_stalled(&doing, now) {
                pane.effort = 0;
                continue;
            }
            let tree = tmux.tree(pane.place.process.pid);
            let is_busy = is_busy(pane, &tree, !doing.is_empty());
            match pane.watched.triage(&doing, is_busy, now) {
                StallResponse::Act => {
                    pane.diagnosis = Some(diagnosis(pane, &tree, now));
                    // One nudge is enough: it stays queued until the agent reads it.
                    if may_nudge && pane.watched.stall_action_count() == 1 {
                        due.push((
                            key.clone(),
                            Typeable { purpose: TypingPurpose::Nudge, text: typing::GO_ON.into() },
                        ));
                    }
                }
                StallResponse::Escalate => stalled.push((turn(pane), frozen(pane))),
                StallResponse::Watch | StallResponse::Wait => {}
            }
        }
        for (turn, screen) in stalled {
            opened.app.keep_frozen_screen(&turn.place, &screen)?;
            opened.app.note_state_change(&turn)?;
        }
        Ok(due)
    }
}

/// Tells whether the programs that an agent has started do something. The agent itself turns its spinner, and
/// our own servers listen: neither says anything.
fn is_busy(pane: &mut WatchedPane, tree: &[TreeProcess], has_tool: bool) -> bool {
    let is_tool = |one: &&TreeProcess| !is_agent(&one.process) && !one.process.program.starts_with("consort");
    let tools: Vec<&TreeProcess> = tree.iter().filter(is_tool).collect();
    let effort = tools.iter().map(|one| one.cpu_ms + one.io / 1_024).sum();
    let before = std::mem::replace(&mut pane.effort, effort);
    let has_shell = tools.iter().any(|one| is_shell(&one.process));
    (before > 0 && effort > before + EFFORT) || (has_tool && has_shell)
}

/// Describes an agent that stands still: for how long, and its processes.
fn diagnosis(pane: &WatchedPane, tree: &[TreeProcess], now: Timestamp) -> String {
    let unchanged = i64::try_from(pane.watched.time_without_progress(now).as_millis()).unwrap_or(i64::MAX);
    format!("nothing new for {}; {}", text::age(unchanged), what_lives(tree))
}

/// Describes a process that stands still, by the processes below it and its connections.
pub(crate) fn what_lives(tree: &[TreeProcess]) -> String {
    match tree.split_first() {
        None => "its process is gone".to_owned(),
        Some((root, below)) => {
            let below = match below {
                [] => "has started nothing".to_owned(),
                below => {
                    let programs = below.iter().map(|one| one.process.program.clone());
                    format!("has started {}", text::first_few(programs, 4))
                }
            };
            let network = match consort_host::count_connections(tree.iter().map(|one| one.process.pid)) {
                None => String::new(),
                Some(0) => "; it has no network connection".to_owned(),
                Some(open) => {
                    format!(
                        "; with {} it may wait for its model",
                        text::counted_noun(open, "network connection")
                    )
                }
            };
            format!("its process {} lives and {below}{network}", root.process.pid)
        }
    }
}

/// Returns the last lines of the screen, without secrets.
fn frozen(pane: &WatchedPane) -> String {
    let plain = plain_text(&pane.look.screen);
    let lines: Vec<&str> = plain.trim_end().lines().collect();
    redacted(&lines[lines.len().saturating_sub(LINES)..].join("\n"))
}

fn turn(pane: &WatchedPane) -> PaneStateChange {
    PaneStateChange {
        place: pane.place.clone(),
        name: AgentName::from(pane.subject.name()),
        cli: pane.subject.cli().to_owned(),
        state: RecordedPaneState::Stalled,
        about: pane.diagnosis.clone(),
    }
}
