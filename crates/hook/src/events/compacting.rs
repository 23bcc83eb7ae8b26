//! The session is about to shorten its context.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;

use super::pulse;
use crate::Answer;
use crate::HookContext;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
) -> Result<Answer, PresenceError> {
    let compacting =
        ActivityUpdate { activity: Some("compacting".into()), ..ActivityUpdate::of(Status::Working) };
    pulse(app, call, context, &compacting);
    Ok(Answer::SILENCE)
}
