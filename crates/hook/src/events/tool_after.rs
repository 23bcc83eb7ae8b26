//! A tool is done: still at work, on nothing in particular. What it read and
//! wrote is noted, and mail comes in here.

use std::path::PathBuf;

use consort_core::App;
use consort_core::claims::Extent;
use consort_core::engine::Engine;
use consort_core::hooks::Act;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;
use consort_core::messages::Moment;
use consort_core::presence::PresenceError;
use consort_core::presence::Pulse;
use consort_core::presence::Status;

use super::mail;
use super::news;
use super::pulse;
use super::told;
use super::tool_before::targets;
use crate::Answer;
use crate::Surroundings;

pub(crate) fn handle<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    around: &dyn Surroundings,
    tool: &ToolUse,
    failed: bool,
) -> Result<Answer, PresenceError> {
    pulse(app, call, around, &Pulse::of(Status::Working))?;
    let mut words = Vec::new();
    match &tool.act {
        Act::Writes(_) if failed => {}
        Act::Writes(paths) => {
            let paths: Vec<PathBuf> = paths.iter().map(|path| call.cwd.join(path)).collect();
            app.wrote(&call.session, &paths)?;
        }
        Act::Reads(path) if !call.in_subagent && !failed => app.saw(&call.session, &call.cwd.join(path))?,
        Act::Runs(command) => {
            let (targets, is_certain) = targets(call, around, tool);
            let files = targets.into_iter().filter(|target| target.extent == Extent::File);
            app.wrote(&call.session, &files.map(|target| target.path).collect::<Vec<_>>())?;
            if !is_certain {
                let environment = |name: &str| around.variable(name);
                words.extend(app.aftermath(&call.session, &call.cwd, command, &environment)?);
            }
        }
        Act::Reads(_) | Act::Visits(_) | Act::Other => {}
    }
    words.extend(news(app, call, around, matches!(tool.act, Act::Runs(_)))?);
    Ok(told(words, mail(app, call, around, Moment::AfterTool)?))
}
