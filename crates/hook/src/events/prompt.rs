//! The person sent a prompt: the agent is at work.

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::host::Host;
use consort_core::presence::PresenceError;
use consort_core::presence::Pulse;
use consort_core::presence::Status;

use super::pulse;
use crate::Surroundings;

pub(crate) fn handle<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    around: &dyn Surroundings,
) -> Result<HookReply, PresenceError> {
    let prompt = Pulse { prompt: true, model: call.model.clone(), ..Pulse::of(Status::Working) };
    pulse(app, call, around, &prompt)?;
    Ok(HookReply::Silence)
}
