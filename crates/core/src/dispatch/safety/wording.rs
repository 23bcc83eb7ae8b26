//! The texts that a model reads when its run may not do something.

use super::ActionClass;
use super::Classified;
use super::RunBounds;
use super::Safety;
use crate::text;

/// Returns the reason why a call is refused, and what the model can do instead.
pub fn safety_refusal(safety: Safety, found: &Classified) -> String {
    let (what, instead) = match found.class {
        ActionClass::FileRead => ("reading", "say in your result what should be read"),
        ActionClass::Network => ("using the network", "say in your result what should be looked up"),
        ActionClass::FileWrite => ("changing files", "say in your result what should be changed, as a diff"),
        ActionClass::BashExec => ("running commands", "say in your result what should be run"),
        ActionClass::AgentDispatch => {
            ("starting agents", "do it yourself, or say in your result what is left")
        }
        ActionClass::FileDelete => ("deleting files", "say in your result what should be deleted"),
        ActionClass::BashDestructive => (
            "what destroys files or processes",
            "do it in a way that can be taken back, or say in your result what should be run",
        ),
        ActionClass::GitPush => {
            ("pushing or publishing", "commit, and say in your result what should be pushed")
        }
        ActionClass::GitDestructive => (
            "taking commits or changes away",
            "add commits on top, or say in your result what should be done",
        ),
        ActionClass::SystemModify => {
            ("changing the machine or its settings", "say in your result what your user should do")
        }
    };
    let about = match found.about.is_empty() {
        true => "this command".to_owned(),
        false => format!("`{}`", text::one_line(&found.about, 80)),
    };
    let what = match &found.unclear {
        Some(why) => format!("{about} {why}, and that is not allowed"),
        None => format!("{what} is not allowed ({about})"),
    };
    format!(
        "[consort] Blocked: your run's safety is {}: {what}. Instead: {instead}. Do not get around this with another tool.",
        safety.as_str()
    )
}

/// Returns the reason why a tool is refused that the role of the run does not have.
pub fn tool_refusal(bounds: &RunBounds, tool: &str) -> String {
    let own = bounds.tools.as_deref().unwrap_or_default();
    let has = match own.is_empty() {
        true => "no tools".to_owned(),
        false => format!("only these tools: {}", text::one_line(&own.join(", "), 300)),
    };
    format!(
        "[consort] Blocked: your role has {has}. `{}` is not one of them. Instead: say in your result what is left to do.",
        text::one_line(tool, 80)
    )
}
