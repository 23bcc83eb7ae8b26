//! Hook event: the session is about to compact its context.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;

use super::note_activity;
use crate::HookAnswer;
use crate::HookContext;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
) -> Result<HookAnswer, PresenceError> {
    let compacting =
        ActivityUpdate { doing: Some("compacting".into()), ..ActivityUpdate::of(Status::Working) };
    note_activity(app, call, context, &compacting);
    Ok(HookAnswer::SILENCE)
}
