//! Lets agents go on whose usage limit has ended, one after the other, where the person allows it.

use consort_core::Timestamp;
use consort_core::monitor::Limited;
use consort_core::monitor::PaneState;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::RecordedPaneState;
use consort_core::monitor::TypingPurpose;
use consort_core::monitor::next_to_continue;

use super::typing;
use super::typing::Typeable;
use super::watcher::Watcher;
use super::watcher_actions::DueTexts;
use super::watcher_actions::is_on;
use crate::time;
use crate::world::OpenWorld;

/// Returns the end of an agent's limit, by what its screen said when the limit was first seen: a time without
/// a day means the next such time after that, not after now.
pub(crate) fn reset_at(subject: &PaneSubject) -> Option<Timestamp> {
    let record = subject.record.as_ref()?;
    let turn = record.turn.as_ref().filter(|turn| turn.state == RecordedPaneState::Limit)?;
    time::parse_reset(turn.about.as_deref()?, record.turned_at?)
}

impl Watcher<'_> {
    /// Returns the text for the one agent, if any, whose limit has ended and that goes on next.
    pub(super) fn continue_after_limits(&mut self, opened: &OpenWorld) -> DueTexts {
        let now = self.now();
        if !is_on(opened, "monitor.continue_after_limit") {
            return DueTexts::new();
        }
        let since_any = self.panes_mut().map(|(_, pane)| pane.typed.rested(now)).min();
        let limited = self.panes_mut().filter(|(_, pane)| pane.watched.state == PaneState::Limit);
        let (keys, limited): (Vec<String>, Vec<Limited>) = limited
            .filter_map(|(key, pane)| {
                let reset = reset_at(&pane.subject)?;
                Some((key.clone(), Limited { reset, rested: pane.typed.rested(now) }))
            })
            .unzip();
        let next = next_to_continue(&limited, since_any.unwrap_or(i64::MAX), now);
        let go_on = || Typeable { purpose: TypingPurpose::Continue, text: typing::GO_ON.into() };
        next.map(|at| (keys[at].clone(), go_on())).into_iter().collect()
    }
}
