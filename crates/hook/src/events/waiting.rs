//! Hook events: the agent waits for the person's answer or permission; the person has answered.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;
use consort_core::text;

use super::note_activity;
use crate::HookAnswer;
use crate::HookContext;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    what: &str,
) -> Result<HookAnswer, PresenceError> {
    let waiting = ActivityUpdate {
        waiting_for: Some(text::one_line(what, 120)),
        ..ActivityUpdate::of(Status::Waiting)
    };
    note_activity(app, call, context, &waiting);
    Ok(HookAnswer::SILENCE)
}

/// Handles the person's answer: the agent works on.
pub(crate) fn over(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
) -> Result<HookAnswer, PresenceError> {
    note_activity(app, call, context, &ActivityUpdate::of(Status::Working));
    Ok(HookAnswer::SILENCE)
}
