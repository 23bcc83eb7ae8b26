//! Has agents go on whose usage limit has ended, one after the other, where the person
//! allows it.

use consort_core::Timestamp;
use consort_core::monitor::PaneState;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::Purpose;
use consort_core::monitor::TurnState;

use super::act::Due;
use super::act::is_on;
use super::typing;
use super::typing::Typeable;
use super::watcher::Watcher;
use crate::time;
use crate::world::Opened;

/// How long after a limit has ended the first one goes on: clocks differ.
const AFTER: i64 = Timestamp::MINUTE;

/// How long after one the next goes on.
const STAGGER: i64 = 15 * Timestamp::SECOND;

/// How long it has to go on before it is told so again.
const AGAIN: i64 = 5 * Timestamp::MINUTE;

/// When the limit of an agent ends, by what its screen said when it was first seen: a time
/// without a day means the next such time then, not now.
pub(crate) fn reset_at(subject: &PaneSubject) -> Option<Timestamp> {
    let record = subject.record.as_ref()?;
    let turn = record.turn.as_ref().filter(|turn| turn.state == TurnState::Limit)?;
    time::parse_reset(turn.about.as_deref()?, record.turned_at?)
}

impl Watcher<'_> {
    /// Those whose limit has ended, and who are to be told so now.
    pub(super) fn continue_after_limits(&mut self, opened: &Opened) -> Due {
        let now = self.now();
        if !is_on(opened, "monitor.continue_after_limit") {
            return Due::new();
        }
        let limited = self.panes_mut().filter(|(_, pane)| pane.watched.state == PaneState::Limit);
        let ended = limited.filter_map(|(key, pane)| Some((key, reset_at(&pane.subject)?, pane)));
        let mut due = Due::new();
        for (rank, (key, reset, pane)) in (0i64..).zip(ended) {
            let starts = reset.plus(AFTER + rank * STAGGER);
            if now >= starts && pane.typed.rested(now) >= AGAIN {
                due.push((key.clone(), Typeable { purpose: Purpose::Continue, text: typing::GO_ON.into() }));
            }
        }
        due
    }
}
