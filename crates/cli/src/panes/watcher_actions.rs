//! Acts on panes as the watcher: nudges agents that stand still, lets those go on whose limit has ended,
//! accepts suggestions, and wakes those that have mail.

use consort_core::Timestamp;
use consort_core::messages::WakeCheck;
use consort_core::monitor::Composer;
use consort_core::monitor::PaneState;
use consort_core::monitor::TypingPurpose;
use consort_core::monitor::WorkKind;
use consort_host::env;

use super::typing;
use super::typing::Typeable;
use super::typing::TypingJob;
use super::watcher::WatchedPane;
use super::watcher::Watcher;
use crate::error::CommandError;
use crate::notify;
use crate::runs::orphans;
use crate::world::OpenWorld;

/// Time that a CLI's own way has to bring mail before anything is typed.
const NATIVE: i64 = 5 * Timestamp::SECOND;

/// Time after typing in which nothing more is typed.
const AGAIN: i64 = 20 * Timestamp::SECOND;

/// Most suggestions of an agent that are accepted.
const MOST_ACCEPTED: u32 = 3;

/// The texts to be typed, each with the key of its pane.
pub(super) type DueTexts = Vec<(String, Typeable)>;

impl Watcher<'_> {
    /// Does everything that is due after a look at the panes.
    pub(crate) fn act(&mut self, opened: &mut OpenWorld) -> Result<(), CommandError> {
        orphans::reap(&self.world.paths, &mut opened.app)?;
        let now = self.now();
        for (_, pane) in self.panes_mut().filter(|(_, pane)| pane.typed.is_typing()) {
            pane.watched.note_typing(now);
        }
        let mut due = self.follow_stalls(opened)?;
        due.extend(self.continue_after_limits(opened));
        due.extend(self.accept_suggestions(opened));
        if is_on(opened, "messages.type_into_panes") {
            due.extend(self.wake_by_mail(opened)?);
        }
        self.type_all(opened, due);
        notify::tell(&mut opened.app, &opened.data, &opened.config)?;
        self.free_stuck(opened)
    }

    /// Collects the suggestions to accept: of agents that we opened and whose composer suggests what to say
    /// next, if the person allows it. A suggestion is typed like any text: so it is seen before Enter.
    fn accept_suggestions(&mut self, opened: &OpenWorld) -> DueTexts {
        let (now, mut due) = (self.now(), DueTexts::new());
        if !is_on(opened, "monitor.accept_suggestions") {
            return due;
        }
        for (key, pane) in self.panes_mut() {
            let rests = pane.watched.state == PaneState::Suggestion && is_idle(pane);
            let is_due =
                rests && pane.watched.time_without_progress(now) >= WorkKind::Suggesting.interval().1;
            if !is_due || pane.accepted == MOST_ACCEPTED || pane.typed.rested(now) < AGAIN {
                continue;
            }
            let suggestion = pane.look.composer.as_ref().and_then(Composer::suggestion);
            if let Some(text) = suggestion.filter(|_| pane.subject.opener().is_some()) {
                due.push((key.clone(), Typeable { purpose: TypingPurpose::Prompt, text: text.to_owned() }));
                pane.accepted += 1;
            }
        }
        due
    }

    /// Collects wake lines for idle agents that have mail which nothing else brings them.
    fn wake_by_mail(&mut self, opened: &mut OpenWorld) -> Result<DueTexts, CommandError> {
        let now = self.now();
        let mut due = DueTexts::new();
        for (key, pane) in self.panes_mut() {
            let Some(agent) = pane.subject.agent.clone() else { continue };
            let has_mail =
                is_idle(pane) && opened.app.check_wake(&agent.session, &env::get)? == WakeCheck::Mail;
            pane.mail_since = pane.mail_since.filter(|_| has_mail).or(has_mail.then_some(now));
            // A CLI's own plugin or socket is quicker.
            let waits = pane.mail_since.is_some_and(|since| now.since(since) >= NATIVE);
            if waits && pane.typed.rested(now) >= AGAIN {
                due.push((
                    key.clone(),
                    Typeable { purpose: TypingPurpose::Prompt, text: typing::wake_line(1) },
                ));
            }
        }
        Ok(due)
    }

    fn type_all(&mut self, opened: &OpenWorld, due: DueTexts) {
        let (now, data) = (self.now(), opened.data.clone());
        for (key, what) in due {
            let Some(cli) = self.pane(&key).map(|pane| pane.subject.cli().to_owned()) else { continue };
            let signature = self.typing_signature(&opened.app, &cli);
            if let Some(pane) = self.pane_mut(&key) {
                pane.watched.note_typing(now);
                let (pane_address, data) = (pane.subject.address.clone(), data.clone());
                pane.typed.begin(now, TypingJob { data, pane: pane_address, signature, what });
            }
        }
    }
}

/// Tells whether a setting is on, in the place where the watcher was started.
pub(super) fn is_on(opened: &OpenWorld, key: &str) -> bool {
    opened.config.get(key) == "true"
}

/// Tells whether an agent rests. An agent whose subagents are at work may ask something at any moment.
fn is_idle(pane: &WatchedPane) -> bool {
    let has_subagents = pane.subject.heard.as_ref().is_some_and(|heard| !heard.subagents.is_empty());
    let rests = matches!(pane.watched.state, PaneState::Ready | PaneState::Finished | PaneState::Suggestion);
    rests && !has_subagents
}
