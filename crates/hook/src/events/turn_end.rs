//! Hook events: the model's turn is over, well or badly, or goes on because there is mail; and the
//! session has been idle for a while.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::messages::DeliveryPoint;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;
use consort_core::text;

use super::end_commands;
use super::mail;
use super::note_activity;
use crate::HookAnswer;
use crate::HookContext;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    may_go_on: bool,
    runs_on: bool,
) -> Result<HookAnswer, PresenceError> {
    // First, so that a sender either finds the session idle and wakes it, or has already
    // raised the mail flag that is read next.
    note_activity(app, call, context, &ActivityUpdate::of(Status::Idle));
    look_after_commands(app, call, context, runs_on);
    let mail = mail(app, call, context, DeliveryPoint::End { may_go_on })?;
    if mail.is_some() {
        note_activity(app, call, context, &ActivityUpdate::of(Status::Working));
    }
    let reply = mail.as_ref().map_or(HookReply::Silence, |mail| HookReply::GoOn(mail.text.clone()));
    Ok(HookAnswer { reply, mail, ask: None })
}

/// Ends the turn's commands, and keeps what they did to files of others for the next prompt: it is
/// no reason for the turn to go on.
fn look_after_commands(app: &mut App, call: &HookCall, context: &dyn HookContext, runs_on: bool) {
    if let Some(found) = end_commands(app, call, context, runs_on) {
        app.keep_text_for_prompt(&call.session, &found);
    }
}

/// Handles a session that has been idle for a while.
pub(crate) fn idle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
) -> Result<HookAnswer, PresenceError> {
    note_activity(app, call, context, &ActivityUpdate::of(Status::Idle));
    look_after_commands(app, call, context, true);
    Ok(HookAnswer::SILENCE)
}

pub(crate) fn failed(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    error: &str,
) -> Result<HookAnswer, PresenceError> {
    let why = format!("stopped by {}", text::one_line(error, 80));
    note_activity(
        app,
        call,
        context,
        &ActivityUpdate { doing: Some(why), ..ActivityUpdate::of(Status::Idle) },
    );
    look_after_commands(app, call, context, true);
    Ok(HookAnswer::SILENCE)
}
