//! The session is about to shorten its context.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;

use super::pulse;
use crate::Answer;
use crate::Surroundings;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    around: &dyn Surroundings,
) -> Result<Answer, PresenceError> {
    let compacting =
        ActivityUpdate { activity: Some("compacting".into()), ..ActivityUpdate::of(Status::Working) };
    pulse(app, call, around, &compacting);
    Ok(Answer::SILENCE)
}
