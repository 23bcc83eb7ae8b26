//! The turn is over, well or badly.

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::host::Host;
use consort_core::presence::PresenceError;
use consort_core::presence::Pulse;
use consort_core::presence::Status;
use consort_core::text;

use super::pulse;
use crate::Surroundings;

pub(crate) fn handle<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    around: &dyn Surroundings,
    error: Option<&str>,
) -> Result<HookReply, PresenceError> {
    let failed = error.map(|error| format!("stopped by {}", text::one_line(error, 80)));
    pulse(app, call, around, &Pulse { activity: failed, ..Pulse::of(Status::Idle) })?;
    Ok(HookReply::Silence)
}
