//! Hook event: a tool is about to be used. The write is refused where another agent has
//! reserved the file. A call of a tool also proves that the model has read what it was
//! told before.

use consort_core::App;
use consort_core::claims::CommandCall;
use consort_core::claims::CommandKind;
use consort_core::claims::Verdict;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::hooks::ToolAction;
use consort_core::hooks::ToolUse;
use consort_core::messages::DeliveryPoint;
use consort_core::policy::RuleEffect;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;
use consort_core::text;

use super::mail;
use super::news;
use super::note_activity;
use super::told;
use crate::HookAnswer;
use crate::HookContext;
use crate::policy;
use crate::safety;
use crate::tool_files::ToolFiles;
use crate::tool_files::tool_files;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    tool: &ToolUse,
) -> Result<HookAnswer, PresenceError> {
    // First, because no later failure may undo a refusal.
    if let Some(reason) = safety::refusal(app.host(), call, context, tool) {
        let reply = HookReply::Deny(reason);
        context.prepare(Some(&reply));
        note_activity(app, call, context, &working(call, tool));
        return Ok(HookAnswer { reply, ..HookAnswer::SILENCE });
    }
    let files = tool_files(app.host(), call, context, tool);
    let refuse = |reason: &str| context.prepare(Some(&HookReply::Deny(reason.to_owned())));
    let verdict = app.guard(&call.session, &files.writes, &|name| context.variable(name), &refuse);
    let working = working(call, tool);
    // News and mail wait for the next hook, so that the model reads the refusal alone.
    if let Verdict::Denied(reason) = verdict {
        let reply = HookReply::Deny(reason);
        context.prepare(Some(&reply));
        note_activity(app, call, context, &working);
        return Ok(HookAnswer { reply, ..HookAnswer::SILENCE });
    }
    context.prepare(None);
    note_activity(app, call, context, &working);
    let ruled =
        app.apply_strict_rules(&call.session, &call.cwd, &|host| policy::unasked(host, call, tool, &files));
    if let Some((RuleEffect::Deny, reason)) = ruled {
        return Ok(HookAnswer { reply: HookReply::Deny(reason), ..HookAnswer::SILENCE });
    }
    let verdict = before_a_write(app, call, context, tool, verdict, &files);
    if let Some((_, reason)) = ruled {
        return Ok(HookAnswer { reply: HookReply::Ask(reason), ..HookAnswer::SILENCE });
    }
    // The model would not hear words here: they are neither said nor recorded as said.
    if !context.hears_before_tools() {
        return Ok(HookAnswer {
            reply: rewritten(app, call, context, tool, &files).map_or(HookReply::Silence, HookReply::Rewrite),
            mail: mail(app, call, context, DeliveryPoint::BeforeTool)?,
            ask: None,
        });
    }
    let mut words = news(app, call, context, false);
    if let Verdict::Warned(warning) = verdict {
        words.push(warning);
    }
    Ok(told(words, mail(app, call, context, DeliveryPoint::BeforeTool)?))
}

fn working(call: &HookCall, tool: &ToolUse) -> ActivityUpdate {
    ActivityUpdate { doing: Some(describe(call, tool)), ..ActivityUpdate::of(Status::Working) }
}

/// Returns the command rewritten to run behind the shield, if the person's settings ask for that.
fn rewritten(
    app: &App,
    call: &HookCall,
    context: &dyn HookContext,
    tool: &ToolUse,
    files: &ToolFiles,
) -> Option<String> {
    let ToolAction::Runs(command) = &tool.act else { return None };
    if tool.in_background || !files.may_write_anything() {
        return None;
    }
    let rewritten = context.shielded(command)?;
    app.rewrites_commands(&call.cwd, &|name| context.variable(name)).then_some(rewritten)
}

/// Notes a command that may write, and warns if another agent has just written the same files.
fn before_a_write(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    tool: &ToolUse,
    verdict: Verdict,
    files: &ToolFiles,
) -> Verdict {
    let environment = |name: &str| context.variable(name);
    // A failed note costs a hint, and stops nothing.
    if let Some(command) = command_of(tool)
        && !(files.is_certain && files.writes.is_empty())
    {
        let begun = command_call(call, tool, command, files);
        let _ = app.begin_command(&call.session, &begun, &environment);
    }
    if !context.hears_before_tools() {
        return verdict;
    }
    let notice = app.recent_writes_notice(&call.session, &files.writes, &environment).ok().flatten();
    match (verdict, notice) {
        (Verdict::Free, Some(notice)) => Verdict::Warned(notice),
        (verdict, _) => verdict,
    }
}

/// Returns the command that a tool runs, or the name of a tool that we do not know.
pub(super) fn command_of(tool: &ToolUse) -> Option<&str> {
    match &tool.act {
        ToolAction::Runs(command) => Some(command),
        ToolAction::Visits(_) => Some(&tool.name),
        ToolAction::Reads(_) | ToolAction::Writes(_) | ToolAction::Other => None,
    }
}

/// Describes the call of a command, and the event by which it will be known to have ended.
pub(super) fn command_call<'a>(
    call: &'a HookCall,
    tool: &'a ToolUse,
    command: &'a str,
    files: &ToolFiles,
) -> CommandCall<'a> {
    let in_background = tool.in_background || files.leaves_job;
    let kind = match (files.is_certain, in_background, call.in_subagent) {
        (true, ..) => CommandKind::Known,
        (false, true, _) => CommandKind::Background,
        (false, false, true) => CommandKind::Subagent,
        (false, false, false) => CommandKind::Tool,
    };
    CommandCall { id: &tool.id, cwd: &call.cwd, command, kind }
}

/// Names the tool and its object: `Edit src/auth.rs`, `Bash cargo test`.
fn describe(call: &HookCall, tool: &ToolUse) -> String {
    let object = match &tool.act {
        ToolAction::Reads(path) | ToolAction::Visits(path) => Some(path),
        ToolAction::Writes(paths) => paths.first(),
        ToolAction::Runs(command) => return text::one_line(&format!("{} {command}", tool.name), 80),
        ToolAction::Other => None,
    };
    let object = object.map(|path| path.strip_prefix(&call.cwd).unwrap_or(path).to_string_lossy());
    text::one_line(&format!("{} {}", tool.name, object.unwrap_or_default()), 80)
}
