//! Hook event of our plugins: an idle session was woken for mail, and asks for it.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::messages::DeliveryPoint;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;

use super::mail;
use super::note_activity;
use super::told;
use crate::HookAnswer;
use crate::HookContext;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
) -> Result<HookAnswer, PresenceError> {
    let mail = mail(app, call, context, DeliveryPoint::Prompt)?;
    if mail.is_some() {
        // The mail is delivered already: a failure to note the status must not stop it.
        note_activity(app, call, context, &ActivityUpdate::of(Status::Working));
    }
    Ok(told(Vec::new(), mail))
}
