//! Hook event: a subagent started or stopped. It is listed under its session.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::presence::PresenceError;

use crate::Answer;

pub(crate) fn started(app: &mut App, call: &HookCall, id: &str, kind: &str) -> Result<Answer, PresenceError> {
    app.subagent_started(&call.session, id, kind)?;
    Ok(Answer::SILENCE)
}

pub(crate) fn stopped(app: &mut App, call: &HookCall, id: &str) -> Result<Answer, PresenceError> {
    app.subagent_stopped(&call.session, id)?;
    Ok(Answer::SILENCE)
}
