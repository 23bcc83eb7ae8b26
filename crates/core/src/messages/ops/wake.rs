//! Whom a message should wake.

use crate::App;
use crate::Timestamp;
use crate::config::hook_settings;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::host::Host;
use crate::journal::Actor;
use crate::messages::SendOutcome;
use crate::messages::SendRequest;
use crate::messages::rules;
use crate::presence::Agent;
use crate::presence::Heard;
use crate::presence::PresenceStore as _;
use crate::presence::PulseStore as _;
use crate::presence::Status;

/// Longer than most tools take.
const LONG_SILENCE: i64 = Timestamp::MINUTE;

impl<E: Engine, H: Host> App<E, H> {
    /// The recipients that sit idle after a turn, and would not hear of this
    /// message until the person speaks to them. One that was never spoken to is
    /// left alone.
    pub fn asleep(
        &mut self,
        request: &SendRequest,
        outcome: &SendOutcome,
    ) -> Result<Vec<(Agent, Heard)>, StoreError> {
        let priority = request.priority.unwrap_or_else(|| request.kind.priority());
        if outcome.duplicate || !rules::is_worth_waking(request.kind, priority, outcome.to.len()) {
            return Ok(Vec::new());
        }
        let now = self.host.now();
        let pulses = self.engine.pulses();
        let mut asleep = Vec::new();
        for recipient in &outcome.to {
            let Actor::Agent(session) = &recipient.who else { continue };
            // One that works without a sign may have been interrupted, which
            // fires no hook; its CLI knows.
            let Some(heard) = pulses.heard(session) else { continue };
            let is_busy = heard.status != Status::Idle && now.since(heard.last_active) < LONG_SILENCE;
            if is_busy || heard.prompts == 0 {
                continue;
            }
            let tx = self.engine.read()?;
            if let Some((agent, None)) = tx.agent(session)?
                && agent.host == self.host.name()
                && hook_settings(&tx, &agent.worktree, &|_| None)?.wake_idle
            {
                asleep.push((agent, heard));
            }
        }
        Ok(asleep)
    }
}
