//! A subagent starts or stops: it shows under its session.

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::hooks::HookCall;
use consort_core::host::Host;
use consort_core::presence::PresenceError;

use crate::Answer;

pub(crate) fn started<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    id: &str,
    kind: &str,
) -> Result<Answer, PresenceError> {
    app.subagent_started(&call.session, id, kind)?;
    Ok(Answer::SILENCE)
}

pub(crate) fn stopped<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    id: &str,
) -> Result<Answer, PresenceError> {
    app.subagent_stopped(&call.session, id)?;
    Ok(Answer::SILENCE)
}
