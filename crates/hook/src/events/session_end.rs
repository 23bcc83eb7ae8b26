//! Hook event: the session ended, and its agent leaves.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::journal::Actor;
use consort_core::presence::LeaveReason;
use consort_core::presence::PresenceError;

use crate::HookAnswer;

pub(crate) fn handle(app: &mut App, call: &HookCall, is_replaced: bool) -> Result<HookAnswer, PresenceError> {
    // The session that replaces it inherits all that is its own.
    if is_replaced {
        app.note_replacement(&call.session)?;
        return Ok(HookAnswer::SILENCE);
    }
    app.leave(&call.session, LeaveReason::Ended, Actor::Agent(call.session.clone()))?;
    Ok(HookAnswer::SILENCE)
}
