//! What the watcher does besides looking: follows those who stand still, and hands over what
//! waits for those who can be typed to.

use std::sync::Arc;

use consort_core::Timestamp;
use consort_core::messages::WakeCheck;
use consort_core::monitor::Delivery;
use consort_core::monitor::PaneState;
use consort_core::monitor::PaneTurn;
use consort_core::monitor::ProcessTrees as _;
use consort_core::monitor::Refusal;
use consort_core::monitor::TreeProcess;
use consort_core::monitor::Triage;
use consort_core::monitor::TurnState;
use consort_core::presence::AgentName;
use consort_core::presence::is_shell;
use consort_core::text;
use consort_host::Tmux;
use consort_host::env;

use super::typing;
use super::watcher::WatchedPane;
use super::watcher::Watcher;
use crate::error::CommandError;
use crate::world::Opened;
use crate::world::is_agent;

/// How long a CLI's own way has to bring mail before anything is typed.
const NATIVE: i64 = 5 * Timestamp::SECOND;

/// How long nothing is typed after something was.
const AGAIN: i64 = 20 * Timestamp::SECOND;

/// So much computed since the last look is no idling.
const EFFORT: u64 = 50;

impl Watcher<'_> {
    /// Does what is due after a look.
    pub(crate) fn act(&mut self, opened: &mut Opened) -> Result<(), CommandError> {
        let now = self.now();
        let mut stalled = Vec::new();
        let tmux = Tmux::new(&opened.data);
        for pane in self.panes_mut() {
            let doing = pane.subject.heard.as_ref().and_then(|heard| heard.doing.clone()).unwrap_or_default();
            if !pane.watched.seems_stalled(&doing, now) {
                pane.effort = 0;
                continue;
            }
            let tree = tmux.tree(pane.place.process.pid);
            let is_busy = is_busy(pane, &tree, !doing.is_empty());
            match pane.watched.triage(&doing, is_busy, now) {
                Triage::Act => pane.diagnosis = Some(diagnosis(pane, &tree, now)),
                Triage::Escalate => stalled.push(turn(pane)),
                Triage::Watch | Triage::Wait => {}
            }
        }
        for turn in stalled {
            opened.app.note_turn(&turn)?;
        }
        if opened.config.get("messages.type_into_panes") == "true" {
            self.type_mail(opened)?;
        }
        Ok(())
    }

    /// Wakes those who are idle and have mail that nothing else brings them, by a line in
    /// their terminal.
    fn type_mail(&mut self, opened: &mut Opened) -> Result<(), CommandError> {
        let (now, data) = (self.now(), opened.data.clone());
        let mut due = Vec::new();
        for pane in self.panes_mut() {
            let Some(agent) = pane.subject.agent.clone() else { continue };
            let is_idle =
                matches!(pane.watched.state, PaneState::Ready | PaneState::Finished | PaneState::Suggestion);
            let has_mail = is_idle && opened.app.check_wake(&agent.session, &env::get)? == WakeCheck::Mail;
            pane.mail.waits_since = pane.mail.waits_since.filter(|_| has_mail).or(has_mail.then_some(now));
            // A plugin or a socket of its own is quicker.
            let waits = pane.mail.waits_since.is_some_and(|since| now.since(since) >= NATIVE);
            let is_rested = pane.mail.typed_at.is_none_or(|at| now.since(at) >= AGAIN);
            if waits && is_rested {
                pane.mail.typed_at = Some(now);
                due.push((pane.subject.clone(), Arc::clone(&pane.mail.outcome)));
            }
        }
        for (subject, outcome) in due {
            let Some(cli) = consort_agents::find(subject.cli()) else { continue };
            let signature = self.signature(subject.cli());
            let data = data.clone();
            // The others are looked at meanwhile.
            std::thread::spawn(move || {
                let tmux = Tmux::new(&data);
                let delivery = match typing::is_known_version(cli, &signature) {
                    true => typing::deliver(&data, &tmux, &subject, &signature, &typing::wake_line(1)).ok(),
                    false => Some(Delivery::Refused(Refusal::NotUnderstood)),
                };
                if let Ok(mut outcome) = outcome.lock() {
                    *outcome = delivery;
                }
            });
        }
        Ok(())
    }
}

/// Whether what an agent has started does something. The agent itself turns its spinner, and
/// our own servers listen: neither says anything.
fn is_busy(pane: &mut WatchedPane, tree: &[TreeProcess], has_tool: bool) -> bool {
    let is_tool = |one: &&TreeProcess| !is_agent(&one.process) && !one.process.program.starts_with("consort");
    let tools: Vec<&TreeProcess> = tree.iter().filter(is_tool).collect();
    let effort = tools.iter().map(|one| one.cpu_ms + one.io / 1_024).sum();
    let before = std::mem::replace(&mut pane.effort, effort);
    let has_shell = tools.iter().any(|one| is_shell(&one.process));
    (before > 0 && effort > before + EFFORT) || (has_tool && has_shell)
}

/// What can be said of an agent that stands still.
fn diagnosis(pane: &WatchedPane, tree: &[TreeProcess], now: Timestamp) -> String {
    let unchanged = i64::try_from(pane.watched.unchanged(now).as_millis()).unwrap_or(i64::MAX);
    let lives = match tree.first() {
        None => "its process is gone".to_owned(),
        Some(_) if tree.len() == 1 => "its process lives and has started nothing".to_owned(),
        Some(_) => {
            let below = tree.iter().skip(1).map(|one| one.process.program.clone());
            format!("its process lives, with {} below it", text::first_few(below, 4))
        }
    };
    format!("nothing new for {}; {lives}", text::age(unchanged))
}

fn turn(pane: &WatchedPane) -> PaneTurn {
    PaneTurn {
        place: pane.place.clone(),
        name: AgentName::from(pane.subject.name()),
        cli: pane.subject.cli().to_owned(),
        state: TurnState::Stalled,
        about: pane.diagnosis.clone(),
    }
}
