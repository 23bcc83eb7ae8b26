//! A tool is about to be used: the model has answered, and so has seen whatever
//! it was told before. What another agent holds is not written.

use std::path::PathBuf;

use consort_core::App;
use consort_core::claims::Extent;
use consort_core::claims::Target;
use consort_core::claims::Verdict;
use consort_core::engine::Engine;
use consort_core::engine::StoreError;
use consort_core::hooks::Act;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;
use consort_core::messages::Moment;
use consort_core::presence::PresenceError;
use consort_core::presence::Pulse;
use consort_core::presence::Status;
use consort_core::text;

use super::mail;
use super::news;
use super::pulse;
use super::told;
use crate::Answer;
use crate::Surroundings;

pub(crate) fn handle<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    around: &dyn Surroundings,
    tool: &ToolUse,
) -> Result<Answer, PresenceError> {
    let working = Pulse { activity: Some(describe(call, tool)), ..Pulse::of(Status::Working) };
    pulse(app, call, around, &working)?;
    let mut words = news(app, call, around, false)?;
    match may_go_ahead(app, call, around, tool)? {
        // Mail waits for the next hook: a refusal is read as one thing.
        Verdict::Denied(reason) => return Ok(Answer { reply: HookReply::Deny(reason), mail: None }),
        Verdict::Warned(warning) => words.push(warning),
        Verdict::Free => {}
    }
    Ok(told(words, mail(app, call, around, Moment::BeforeTool)?))
}

fn may_go_ahead<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    around: &dyn Surroundings,
    tool: &ToolUse,
) -> Result<Verdict, StoreError> {
    let environment = |name: &str| around.variable(name);
    let (targets, is_certain) = targets(call, around, tool);
    if !is_certain {
        app.begin_command(&call.session)?;
    }
    let verdict = app.guard(&call.session, &targets, &environment)?;
    if verdict != Verdict::Free {
        return Ok(verdict);
    }
    Ok(app.recently_touched(&call.session, &targets, &environment)?.map_or(Verdict::Free, Verdict::Warned))
}

/// What a tool will write, and whether that is all.
pub(super) fn targets(call: &HookCall, around: &dyn Surroundings, tool: &ToolUse) -> (Vec<Target>, bool) {
    let at = |path: &PathBuf| call.cwd.join(path);
    match &tool.act {
        Act::Writes(paths) => {
            let target = |path| Target { path: at(path), extent: Extent::File, by: String::new() };
            (paths.iter().map(target).collect(), true)
        }
        Act::Runs(command) => {
            let reading = consort_shell::read(command, around.variable("HOME").as_deref());
            let target = |write: consort_shell::Write| Target {
                path: at(&write.path.into()),
                extent: match write.extent {
                    consort_shell::Extent::File => Extent::File,
                    consort_shell::Extent::Tree => Extent::Tree,
                    consort_shell::Extent::Glob => Extent::Glob,
                    consort_shell::Extent::Changes => Extent::Changes,
                    consort_shell::Extent::Worktree => Extent::Worktree,
                },
                by: write.by,
            };
            (reading.writes.into_iter().map(target).collect(), reading.is_certain)
        }
        Act::Reads(_) | Act::Visits(_) | Act::Other => (Vec::new(), true),
    }
}

/// The tool and its object: `Edit src/auth.rs`, `Bash cargo test`.
fn describe(call: &HookCall, tool: &ToolUse) -> String {
    let object = match &tool.act {
        Act::Reads(path) | Act::Visits(path) => Some(path),
        Act::Writes(paths) => paths.first(),
        Act::Runs(command) => return text::one_line(&format!("{} {command}", tool.name), 80),
        Act::Other => None,
    };
    let object = object.map(|path| path.strip_prefix(&call.cwd).unwrap_or(path).to_string_lossy());
    text::one_line(&format!("{} {}", tool.name, object.unwrap_or_default()), 80)
}
