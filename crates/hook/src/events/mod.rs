//! The handlers of hook events, one file per event.

pub(crate) mod asks;
pub(crate) mod compacting;
pub(crate) mod prompt;
pub(crate) mod session_end;
pub(crate) mod session_start;
pub(crate) mod subagent;
pub(crate) mod tool_after;
pub(crate) mod tool_before;
pub(crate) mod turn_end;
pub(crate) mod waiting;
pub(crate) mod woken;

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::messages::DeliveredBatch;
use consort_core::messages::DeliveryPoint;
use consort_core::presence::ActivityOutcome;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;

use crate::HookAnswer;
use crate::HookContext;
use crate::join_request;

/// Notes what the session does. A session that is not known yet (the hooks were
/// installed while it ran) joins first. **This is only a note**: whatever goes wrong
/// with it (a full disk, a directory in its place) stops nothing else.
fn note_activity(app: &mut App, call: &HookCall, context: &dyn HookContext, update: &ActivityUpdate) {
    let begins = matches!(call.event, HookEvent::Prompt(_));
    if matches!(app.note_activity(&call.session, update), Ok(ActivityOutcome::Stranger))
        && let Ok(request) = join_request(app.host(), call, context)
        && let Ok((_, Some(_))) = app.join_by_hook(&request, begins, &|name| context.variable(name))
    {
        let _ = app.note_activity(&call.session, update);
    }
}

/// Collects the mail to deliver to the session at this point.
fn mail(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    moment: DeliveryPoint,
) -> Result<Option<DeliveredBatch>, PresenceError> {
    // A subagent's context is thrown away with it.
    if call.in_subagent {
        return Ok(None);
    }
    Ok(app.collect(&call.session, moment, &|name| context.variable(name))?)
}

/// Collects mail like [`mail`], but ignores a failure if there are other `words` to say: those
/// must not be lost with the mail.
fn mail_beside(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    moment: DeliveryPoint,
    words: &[String],
) -> Result<Option<DeliveredBatch>, PresenceError> {
    match mail(app, call, context, moment) {
        Err(_) if !words.is_empty() => Ok(None),
        mail => mail,
    }
}

/// Says which files that the session has read were changed by others. For a subagent it looks
/// only after a command of the subagent's, to tell that command's changes from those of others.
fn news(app: &mut App, call: &HookCall, context: &dyn HookContext, after_own_command: bool) -> Vec<String> {
    if call.in_subagent && !after_own_command {
        return Vec::new();
    }
    let environment = |name: &str| context.variable(name);
    let changed = app.stale_reads_notice(&call.session, after_own_command, &environment);
    changed.ok().flatten().into_iter().collect()
}

/// Says which agents have come and gone since the session was last told.
fn roster_news(app: &mut App, call: &HookCall, context: &dyn HookContext) -> Option<String> {
    // A subagent's context is thrown away with it.
    if call.in_subagent {
        return None;
    }
    app.roster_news(&call.session, &|name| context.variable(name)).ok().flatten()
}

/// Ends, when a turn begins or is over, the commands that cannot still run, and says which files of
/// others the session's commands have changed.
fn end_commands(app: &mut App, call: &HookCall, context: &dyn HookContext, runs_on: bool) -> Option<String> {
    // A subagent's turns are not its session's.
    if call.in_subagent {
        return None;
    }
    app.end_commands(&call.session, runs_on, &|name| context.variable(name)).ok().flatten()
}

/// Makes an answer from the words to say and the mail.
fn told(mut words: Vec<String>, mail: Option<DeliveredBatch>) -> HookAnswer {
    words.extend(mail.as_ref().map(|mail| mail.text.clone()));
    let reply = if words.is_empty() { HookReply::Silence } else { HookReply::Context(words.join("\n\n")) };
    HookAnswer { reply, mail, ask: None }
}
