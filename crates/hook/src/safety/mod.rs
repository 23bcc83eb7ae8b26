//! Hook door: refuses tools that the safety level of a run does not allow.

#[cfg(test)]
mod tests;

use consort_core::dispatch::ActionClass;
use consort_core::dispatch::RunBounds;
use consort_core::dispatch::SAFETY_VARIABLE;
use consort_core::dispatch::classify;
use consort_core::dispatch::safety_refusal;
use consort_core::dispatch::tool_refusal;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;

use crate::HookContext;
use crate::policy;
use crate::tool_files::ToolFiles;

/// Returns the reason why a session of a run may not use a tool; `None` if it may, or if there is no
/// run.
pub(crate) fn refusal(
    host: &dyn Host,
    call: &HookCall,
    context: &dyn HookContext,
    tool: &ToolUse,
) -> Option<String> {
    let bounds = RunBounds::from_variable(&context.variable(SAFETY_VARIABLE)?);
    if !bounds.allows_tool(&tool.name) {
        return Some(tool_refusal(&bounds, &tool.name));
    }
    let safety = bounds.safety;
    let request = policy::request(host, &call.cwd, tool, &ToolFiles::default());
    let mut found = classify(&request, &tool.name);
    if tool.deletes {
        found = found.at_least(ActionClass::FileDelete);
    }
    (!safety.allows(found.class)).then(|| safety_refusal(safety, &found))
}
