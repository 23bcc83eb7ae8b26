//! The agent waits for the person.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;
use consort_core::text;

use super::pulse;
use crate::Answer;
use crate::Surroundings;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    around: &dyn Surroundings,
    what: &str,
) -> Result<Answer, PresenceError> {
    let waiting = ActivityUpdate {
        waiting_for: Some(text::one_line(what, 120)),
        ..ActivityUpdate::of(Status::Waiting)
    };
    pulse(app, call, around, &waiting);
    Ok(Answer::SILENCE)
}

/// The person has answered.
pub(crate) fn over(
    app: &mut App,
    call: &HookCall,
    around: &dyn Surroundings,
) -> Result<Answer, PresenceError> {
    pulse(app, call, around, &ActivityUpdate::of(Status::Working));
    Ok(Answer::SILENCE)
}
