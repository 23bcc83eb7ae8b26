//! Tracks one pane over successive looks: its state, its progress, and whether it has stalled. Pure.

use std::time::Duration;

use serde::Serialize;

use super::PaneLook;
use super::PaneReading;
use super::PaneState;
use super::combine::combine;
use super::progress::progress_hash;
use super::schedule::StallCertainty;
use super::schedule::StallResponse;
use super::schedule::WorkKind;
use super::schedule::stall;
use super::schedule::triage;
use crate::Timestamp;
use crate::presence::Activity;

/// Number of state changes that are remembered.
const HISTORY: usize = 20;

/// Time after our typing for which a change of the screen counts as our own text, not as progress.
const ECHO: i64 = 5 * Timestamp::SECOND;

/// The tracked state of one watched pane.
#[derive(Clone, Debug)]
pub struct Watched {
    pub state: PaneState,
    pub since: Timestamp,
    pub reading: PaneReading,
    /// The last states and the times they began, oldest first.
    pub history: Vec<(Timestamp, PaneState)>,
    /// The hash of the screen without spinners and counters, and the time of the last progress.
    progress: (u64, Timestamp),
    /// The state that the screen alone shows, and the time since when.
    seen: (PaneState, Timestamp),
    prompted_at: Timestamp,
    pub stall: StallCertainty,
    acts: u32,
    acted_at: Timestamp,
    is_escalated: bool,
    typed_at: Option<Timestamp>,
}

/// A change of a pane from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transition {
    pub from: PaneState,
    pub to: PaneState,
    pub question: Option<String>,
}

impl Watched {
    /// Begins to track a pane from the first look at it.
    pub fn new(look: &PaneLook, heard: Option<&Activity>, now: Timestamp) -> Self {
        let state = combine(heard.map(|heard| heard.status), look.reading.state, Duration::MAX);
        Self {
            state,
            since: now,
            reading: look.reading.clone(),
            history: vec![(now, state)],
            progress: (progress_hash(&look.screen), now),
            seen: (look.reading.state, now),
            prompted_at: now,
            stall: StallCertainty::No,
            acts: 0,
            acted_at: now,
            is_escalated: false,
            typed_at: None,
        }
    }

    /// Notes that we type into the pane: the text will change the screen, and is no progress.
    pub fn note_typing(&mut self, now: Timestamp) {
        self.typed_at = Some(now);
    }

    /// Returns the time that the screen has shown its current state.
    pub fn state_age(&self, now: Timestamp) -> Duration {
        Duration::from_millis(now.since(self.seen.1).unsigned_abs())
    }

    /// Updates the state from a look, and returns the change of state if there is one.
    pub fn observe(
        &mut self,
        look: &PaneLook,
        heard: Option<&Activity>,
        now: Timestamp,
    ) -> Option<Transition> {
        let hash = progress_hash(&look.screen);
        if hash != self.progress.0 {
            self.progress.0 = hash;
            if self.typed_at.is_none_or(|at| now.since(at) > ECHO) {
                self.progress.1 = now;
                self.recover();
            }
        }
        if look.reading.state != self.seen.0 {
            self.seen = (look.reading.state, now);
        }
        let next = combine(heard.map(|heard| heard.status), look.reading.state, self.state_age(now));
        // A screen that is not understood changes nothing.
        let is_understood = next != PaneState::Unknown || self.state == PaneState::Starting;
        // Menus, work and exits count at once; an idle screen may be a gap between two frames.
        let is_plain =
            next.has_menu() || matches!(next, PaneState::Working | PaneState::Exited | PaneState::Dead);
        let is_settled = is_plain || self.state_age(now) >= Duration::from_millis(900);
        let is_asked_anew = next.has_menu() && look.reading.question != self.reading.question;
        if !is_understood || (next == self.state && !is_asked_anew) || !is_settled {
            if next == self.state {
                self.reading = look.reading.clone();
            }
            return None;
        }
        let from = self.state;
        if next == PaneState::Working && !matches!(from, PaneState::Retrying) && !from.has_menu() {
            self.prompted_at = now;
        }
        (self.state, self.since, self.reading) = (next, now, look.reading.clone());
        self.history.push((now, next));
        let excess = self.history.len().saturating_sub(HISTORY);
        self.history.drain(..excess);
        self.recover();
        self.progress.1 = now;
        Some(Transition { from, to: next, question: look.reading.question.clone() })
    }

    /// Notes that the pane is gone without a last look.
    pub fn vanish(&mut self, now: Timestamp) -> Option<Transition> {
        if matches!(self.state, PaneState::Exited | PaneState::Dead) {
            return None;
        }
        let from = std::mem::replace(&mut self.state, PaneState::Dead);
        self.since = now;
        self.history.push((now, PaneState::Dead));
        Some(Transition { from, to: PaneState::Dead, question: None })
    }

    /// Returns the kind of work that the agent does, which decides how soon its screen should change.
    pub fn work_kind(&self, doing: &str, now: Timestamp) -> WorkKind {
        WorkKind::of(self.state, doing, Duration::from_millis(now.since(self.prompted_at).unsigned_abs()))
    }

    /// Returns the time since the last progress.
    pub fn time_without_progress(&self, now: Timestamp) -> Duration {
        Duration::from_millis(now.since(self.progress.1).unsigned_abs())
    }

    /// Tells whether the agent may have stalled, judged by its screen alone.
    pub fn seems_stalled(&self, doing: &str, now: Timestamp) -> bool {
        stall(self.state, self.work_kind(doing, now), self.time_without_progress(now), false)
            > StallCertainty::No
    }

    /// Decides the next step about a stall, and counts it; `is_busy` says that a process started by the agent
    /// is active.
    pub fn triage(&mut self, doing: &str, is_busy: bool, now: Timestamp) -> StallResponse {
        if is_busy {
            self.progress.1 = now;
        }
        self.stall = stall(self.state, self.work_kind(doing, now), self.time_without_progress(now), is_busy);
        let since_act = Duration::from_millis(now.since(self.acted_at).unsigned_abs());
        let next = triage(self.stall, self.acts, since_act, self.is_escalated);
        match next {
            StallResponse::Act => (self.acts, self.acted_at) = (self.acts + 1, now),
            StallResponse::Escalate => self.is_escalated = true,
            StallResponse::Watch | StallResponse::Wait => {}
        }
        next
    }

    /// Returns the number of actions taken about the current stall.
    pub fn stall_action_count(&self) -> u32 {
        self.acts
    }

    /// Clears the stall, because the agent goes on.
    fn recover(&mut self) {
        (self.stall, self.acts, self.is_escalated) = (StallCertainty::No, 0, false);
    }
}
