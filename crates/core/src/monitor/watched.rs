//! One pane as it is watched: how it stands, since when, and what has changed. Pure.

use std::time::Duration;

use serde::Serialize;

use super::PaneLook;
use super::PaneReading;
use super::PaneState;
use super::combine::combine;
use super::progress::progress_hash;
use super::schedule::Pace;
use super::schedule::Stall;
use super::schedule::Triage;
use super::schedule::stall;
use super::schedule::triage;
use crate::Timestamp;
use crate::presence::Activity;

/// How many changes of state are remembered.
const HISTORY: usize = 20;

/// For so long after we have typed something, what changes on the screen is our own text.
const ECHO: i64 = 5 * Timestamp::SECOND;

/// A pane as it is watched.
#[derive(Clone, Debug)]
pub struct Watched {
    pub state: PaneState,
    pub since: Timestamp,
    pub reading: PaneReading,
    /// The last changes, oldest first.
    pub history: Vec<(Timestamp, PaneState)>,
    /// What its screen has shown for how long, without what moves by itself.
    progress: (u64, Timestamp),
    /// The same of the state that the screen alone shows.
    seen: (PaneState, Timestamp),
    prompted_at: Timestamp,
    pub stall: Stall,
    acts: u32,
    acted_at: Timestamp,
    is_escalated: bool,
    typed_at: Option<Timestamp>,
}

/// That a pane came into another state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transition {
    pub from: PaneState,
    pub to: PaneState,
    pub question: Option<String>,
}

impl Watched {
    /// As it is first seen.
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
            stall: Stall::No,
            acts: 0,
            acted_at: now,
            is_escalated: false,
            typed_at: None,
        }
    }

    /// Something was typed into it, or is being typed: that shows, and is no progress.
    pub fn note_typing(&mut self, now: Timestamp) {
        self.typed_at = Some(now);
    }

    /// For how long its screen has shown this state.
    pub fn held(&self, now: Timestamp) -> Duration {
        Duration::from_millis(now.since(self.seen.1).unsigned_abs())
    }

    /// Takes in a look; what has changed by it.
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
        let next = combine(heard.map(|heard| heard.status), look.reading.state, self.held(now));
        // What nobody understands changes nothing.
        let is_understood = next != PaneState::Unknown || self.state == PaneState::Starting;
        // A menu, work and an end are what they look like; rest may be a gap between two frames.
        let is_plain =
            next.has_menu() || matches!(next, PaneState::Working | PaneState::Exited | PaneState::Dead);
        let is_settled = is_plain || self.held(now) >= Duration::from_millis(900);
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

    /// It is gone, without a last look.
    pub fn vanish(&mut self, now: Timestamp) -> Option<Transition> {
        if matches!(self.state, PaneState::Exited | PaneState::Dead) {
            return None;
        }
        let from = std::mem::replace(&mut self.state, PaneState::Dead);
        self.since = now;
        self.history.push((now, PaneState::Dead));
        Some(Transition { from, to: PaneState::Dead, question: None })
    }

    /// What it does, as far as it matters for how long that takes.
    pub fn pace(&self, doing: &str, now: Timestamp) -> Pace {
        Pace::of(self.state, doing, Duration::from_millis(now.since(self.prompted_at).unsigned_abs()))
    }

    /// For how long it has shown no progress.
    pub fn unchanged(&self, now: Timestamp) -> Duration {
        Duration::from_millis(now.since(self.progress.1).unsigned_abs())
    }

    /// Whether it may have stalled, before anyone looks at its processes.
    pub fn seems_stalled(&self, doing: &str, now: Timestamp) -> bool {
        stall(self.state, self.pace(doing, now), self.unchanged(now), false) > Stall::No
    }

    /// What is to be done now; `is_busy` says that what it has started does something.
    pub fn triage(&mut self, doing: &str, is_busy: bool, now: Timestamp) -> Triage {
        if is_busy {
            self.progress.1 = now;
        }
        self.stall = stall(self.state, self.pace(doing, now), self.unchanged(now), is_busy);
        let since_act = Duration::from_millis(now.since(self.acted_at).unsigned_abs());
        let next = triage(self.stall, self.acts, since_act, self.is_escalated);
        match next {
            Triage::Act => (self.acts, self.acted_at) = (self.acts + 1, now),
            Triage::Escalate => self.is_escalated = true,
            Triage::Watch | Triage::Wait => {}
        }
        next
    }

    /// How often something was done about it since it stands still.
    pub fn acts(&self) -> u32 {
        self.acts
    }

    /// Whatever was feared, it goes on.
    fn recover(&mut self) {
        (self.stall, self.acts, self.is_escalated) = (Stall::No, 0, false);
    }
}
