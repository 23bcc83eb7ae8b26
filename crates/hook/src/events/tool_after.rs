//! Hook event: a tool was used. The files that it read and wrote are noted, and mail is
//! delivered.

use std::path::Path;
use std::path::PathBuf;

use consort_core::App;
use consort_core::claims::Extent;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolAction;
use consort_core::hooks::ToolUse;
use consort_core::messages::DeliveryPoint;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;

use super::mail_beside;
use super::news;
use super::note_activity;
use super::roster_news;
use super::told;
use super::tool_before::command_call;
use super::tool_before::command_of;
use crate::HookAnswer;
use crate::HookContext;
use crate::tool_files::tool_files;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    tool: &ToolUse,
    failed: bool,
    met_read_only: bool,
) -> Result<HookAnswer, PresenceError> {
    note_activity(app, call, context, &ActivityUpdate::of(Status::Working));
    let mut words = Vec::new();
    // A failed note costs a hint, and stops no mail.
    match &tool.act {
        ToolAction::Writes(paths) if !failed => {
            let paths: Vec<PathBuf> = paths.iter().map(|path| call.cwd.join(path)).collect();
            words.extend(note_writes(app, call, context, &paths));
        }
        ToolAction::Reads(path) if !failed => {
            words.extend(note_reads(app, call, context, &[call.cwd.join(path)]));
        }
        ToolAction::Runs(_) | ToolAction::Visits(_) => {
            if let ToolAction::Runs(command) = &tool.act {
                let _ = app.note_command(&call.session, &call.cwd, command, failed);
            }
            let used = tool_files(app.host(), call, context, tool);
            if !failed {
                words.extend(note_reads(app, call, context, &used.reads));
            }
            let files = used.writes.iter().filter(|target| target.extent == Extent::File);
            let files: Vec<PathBuf> = files.map(|target| target.path.clone()).collect();
            words.extend(note_writes(app, call, context, &files));
            if !used.is_certain || !used.writes.is_empty() {
                let environment = |name: &str| context.variable(name);
                let ended = command_call(call, tool, command_of(tool).unwrap_or_default(), &used);
                let found = app.end_command(&call.session, &ended, &environment);
                words.extend(found.ok().flatten());
                let met = app.shield_notice(&call.session, &call.cwd, met_read_only, &environment);
                words.extend(met.ok().flatten());
            }
        }
        // By this tool the agent may ask for the state of a background command.
        ToolAction::Other if !call.in_subagent => {
            let found = app.check_background_commands(&call.session, &|name| context.variable(name));
            words.extend(found.ok().flatten());
        }
        _ => {}
    }
    words.extend(news(app, call, context, matches!(tool.act, ToolAction::Runs(_))));
    words.extend(roster_news(app, call, context));
    let mail = mail_beside(app, call, context, DeliveryPoint::AfterTool, &words)?;
    Ok(told(words, mail))
}

/// Notes that files were read and says which other agents work on them. A subagent's reads
/// do not count as its session's.
fn note_reads(app: &mut App, call: &HookCall, context: &dyn HookContext, paths: &[PathBuf]) -> Vec<String> {
    let mut words = Vec::new();
    for path in paths.iter().filter(|path| !call.in_subagent && path.is_file()) {
        let _ = app.note_read(&call.session, path);
        let place = app.host().real_path(path);
        words.extend(note_visit(app, call, context, &place, false));
    }
    words.extend(renewals_for(app, call, paths));
    words
}

/// Notes that files were written and says which other agents write or read them.
fn note_writes(app: &mut App, call: &HookCall, context: &dyn HookContext, paths: &[PathBuf]) -> Vec<String> {
    let outcome = app.note_writes(&call.session, paths).unwrap_or_default();
    let mut words: Vec<String> = outcome.told.into_iter().collect();
    for place in outcome.places {
        words.extend(note_visit(app, call, context, &place, true));
    }
    words.extend(renewals_for(app, call, paths));
    words
}

/// Takes the open requests to look again at knowledge about these files. A subagent is asked
/// nothing: it has another task.
fn renewals_for(app: &mut App, call: &HookCall, paths: &[PathBuf]) -> Vec<String> {
    if call.in_subagent { Vec::new() } else { app.take_renewals(&call.session, paths) }
}

/// Notes that a file was read or written and says which other agents work on it. A subagent's
/// files count as its session's.
fn note_visit(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    path: &Path,
    written: bool,
) -> Vec<String> {
    let environment = |name: &str| context.variable(name);
    // A subagent's context is thrown away with it, so its session gets a message instead.
    app.note_visit(&call.session, path, written, call.in_subagent, &environment).unwrap_or_default()
}
