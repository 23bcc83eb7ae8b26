//! Hook event: a subagent started or stopped. It is listed under its session.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::presence::PresenceError;

use crate::HookAnswer;

pub(crate) fn started(
    app: &mut App,
    call: &HookCall,
    id: &str,
    kind: &str,
) -> Result<HookAnswer, PresenceError> {
    app.subagent_started(&call.session, id, kind)?;
    Ok(HookAnswer::SILENCE)
}

pub(crate) fn stopped(app: &mut App, call: &HookCall, id: &str) -> Result<HookAnswer, PresenceError> {
    app.subagent_stopped(&call.session, id)?;
    Ok(HookAnswer::SILENCE)
}
