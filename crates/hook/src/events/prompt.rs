//! The person sent a prompt: the agent is at work.

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::host::Host;
use consort_core::presence::PresenceError;
use consort_core::presence::PromptFacts;
use consort_core::presence::Pulse;
use consort_core::presence::Status;

use super::pulse;
use crate::Surroundings;

pub(crate) fn handle<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    around: &dyn Surroundings,
) -> Result<HookReply, PresenceError> {
    let facts = PromptFacts { branch: app.host().branch(&call.cwd), model: call.model.clone() };
    pulse(app, call, around, &Pulse { prompt: Some(facts), ..Pulse::of(Status::Working) })?;
    Ok(HookReply::Silence)
}
