//! Hook event: a session begins, or goes on after a resume or a compaction. It joins,
//! is told its name and which other agents are here, and gets its waiting mail.

use consort_core::App;
use consort_core::config::ContextMode;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;
use consort_core::messages::DeliveryPoint;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;
use consort_core::text;

use super::mail_beside;
use crate::HookAnswer;
use crate::HookContext;
use crate::join_request;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    replaces: &Replaces,
    is_heard: bool,
) -> Result<HookAnswer, PresenceError> {
    let mut request = join_request(app.host(), call, context)?;
    request.replaces = match replaces {
        Replaces::Session(session) => Some(session.clone()),
        Replaces::TheLast => app.predecessor(&request.kind, &request.process, &call.session)?,
        Replaces::TheLastIfAlone if context.has_one_session(&request.process) => {
            app.predecessor(&request.kind, &request.process, &call.session)?
        }
        Replaces::TheLastIfAlone | Replaces::Nobody => None,
    };
    let (settings, outcome) = app.join_by_hook(&request, true, &|name| context.variable(name))?;
    if outcome.as_ref().is_some_and(|outcome| !outcome.joined) {
        // Its previous activity, such as compacting, is over.
        app.note_activity(&call.session, &ActivityUpdate::of(Status::Idle))?;
    }
    let Some(outcome) = outcome else { return Ok(HookAnswer::SILENCE) };
    let told: Vec<String> = app.start_text(&outcome, settings)?.into_iter().collect();
    // If the model does not hear this answer, mail waits for a later hook.
    let mail = match is_heard {
        true => mail_beside(app, call, context, DeliveryPoint::Start, &told)?,
        false => None,
    };
    app.note_roster_told(&outcome);
    let learned = match settings.context {
        ContextMode::Full => app.digest(&outcome.agent, settings.digest_tokens),
        ContextMode::Minimal | ContextMode::None => None,
    };
    // The process ends in a moment. Freeing fifty agents first would be a twentieth of its instructions.
    std::mem::forget(outcome);
    let told = told.into_iter().chain(learned.map(|learned| text::disarm_hook_tags(&learned).into_owned()));
    let parts: Vec<String> = told.chain(mail.iter().map(|mail| mail.text.clone())).collect();
    if !is_heard && !parts.is_empty() {
        app.keep_text_for_prompt(&call.session, &parts.join("\n\n"));
        return Ok(HookAnswer::SILENCE);
    }
    let reply = if parts.is_empty() { HookReply::Silence } else { HookReply::Context(parts.join("\n\n")) };
    Ok(HookAnswer { reply, mail, ask: None })
}
