//! Messages verbs that decide which idle sessions to wake for mail.

use super::delivery_states;
use crate::App;
use crate::Timestamp;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::messages::SendOutcome;
use crate::messages::SendRequest;
use crate::messages::WakeCheck;
use crate::messages::rules;
use crate::messages::rules::DeliveryState;
use crate::presence::Activity;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::presence::Status;

/// Silence after which a busy session may have been interrupted: longer than most tools take.
const LONG_SILENCE: i64 = Timestamp::MINUTE;

impl App {
    /// Returns the recipients of a message that are idle after a turn, and would not see the message until
    /// the person prompts them. A session that was never prompted is left alone.
    pub fn idle_recipients(
        &mut self,
        request: &SendRequest,
        outcome: &SendOutcome,
    ) -> Result<Vec<(Agent, Activity)>, StoreError> {
        let priority = request.priority.unwrap_or_else(|| request.kind.priority());
        if outcome.duplicate || !rules::is_worth_waking(request.kind, priority, outcome.to.len()) {
            return Ok(Vec::new());
        }
        let now = self.host.now();
        let files = self.engine.side_files();
        let mut asleep = Vec::new();
        for recipient in &outcome.to {
            let Actor::Agent(session) = &recipient.who else { continue };
            // A session that seems busy but silent may have been interrupted, which fires no hook; the caller
            // asks its CLI.
            let Some(activity) = files.activity(session) else { continue };
            let is_busy = activity.status != Status::Idle && now.since(activity.last_active) < LONG_SILENCE;
            if is_busy || activity.prompts == 0 {
                continue;
            }
            let tx = self.engine.read()?;
            if let Some((agent, None)) = tx.agent(session)?
                && agent.location.machine == self.host.name()
                && hook_settings(&*tx, &agent.location.worktree, &|_| None)?.wake_idle
            {
                asleep.push((agent, activity));
            }
        }
        Ok(asleep)
    }

    /// Checks for mail on behalf of an idle session whose plugin waits for mail itself. Delivers nothing;
    /// opens no database if the flags say that there is no mail.
    pub fn check_wake(
        &mut self,
        session: &SessionId,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<WakeCheck, StoreError> {
        let flags = self.engine.side_files();
        let activity = self.engine.side_files().activity(session);
        let flag = flags.mail_flags(session);
        if activity.is_some() && !flag.new && !flag.later {
            return Ok(WakeCheck::Nothing);
        }
        let tx = self.engine.read()?;
        let Some((agent, None)) = tx.agent(session)? else { return Ok(WakeCheck::Gone) };
        // A session that was never prompted is left alone.
        let is_spoken_to = activity.is_some_and(|activity| activity.prompts > 0);
        if !is_spoken_to || !hook_settings(&*tx, &agent.location.worktree, environment)?.wake_idle {
            return Ok(WakeCheck::Nothing);
        }
        let mailbox = Actor::Agent(session.clone());
        let letters = tx.unread(&mailbox)?;
        let state_of = delivery_states(&*self.host, &*flags, &mailbox);
        let wakes = letters.iter().any(|letter| {
            let state = letter.delivered_by.as_ref().map(&state_of);
            matches!(state, None | Some(DeliveryState::CutShort)) && rules::is_letter_worth_waking(letter)
        });
        Ok(if wakes { WakeCheck::Mail } else { WakeCheck::Nothing })
    }
}
