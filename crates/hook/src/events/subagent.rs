//! A subagent starts or stops: it shows under its session.

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::host::Host;
use consort_core::presence::PresenceError;

pub(crate) fn started<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    id: &str,
    kind: &str,
) -> Result<HookReply, PresenceError> {
    app.subagent_started(&call.session, id, kind)?;
    Ok(HookReply::Silence)
}

pub(crate) fn stopped<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    id: &str,
) -> Result<HookReply, PresenceError> {
    app.subagent_stopped(&call.session, id)?;
    Ok(HookReply::Silence)
}
