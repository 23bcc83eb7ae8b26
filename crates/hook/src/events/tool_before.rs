//! A tool is about to be used: the model has answered, and so has seen whatever
//! it was told before.

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;
use consort_core::messages::Moment;
use consort_core::presence::PresenceError;
use consort_core::presence::Pulse;
use consort_core::presence::Status;
use consort_core::text;

use super::mail;
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
    Ok(told(mail(app, call, around, Moment::BeforeTool)?))
}

/// The tool and its object: `Edit src/auth.rs`, `Bash cargo test`.
fn describe(call: &HookCall, tool: &ToolUse) -> String {
    let object = match (&tool.path, &tool.command) {
        (Some(path), _) => path.strip_prefix(&call.cwd).unwrap_or(path).to_string_lossy(),
        (None, Some(command)) => command.as_str().into(),
        (None, None) => "".into(),
    };
    text::one_line(&format!("{} {object}", tool.name), 80)
}
