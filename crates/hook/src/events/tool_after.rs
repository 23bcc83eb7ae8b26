//! A tool is done: still at work, on nothing in particular.

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
    pulse(app, call, around, &Pulse::of(Status::Working))?;
    Ok(HookReply::Silence)
}
