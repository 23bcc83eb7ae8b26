//! Hook door: turns a tool call into the request that the person's rules decide about, and into the
//! question that is kept for the person.

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::AskCall;
use consort_core::hooks::Dialog;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolAction;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;
use consort_core::policy::Action;
use consort_core::policy::AnswerDeliverer;
use consort_core::policy::Ask;
use consort_core::policy::AskKind;
use consort_core::policy::Commands;
use consort_core::policy::PathNames;
use consort_core::policy::PermissionRequest;
use consort_core::secrets;

use crate::policy_places as places;
use crate::tool_files::ToolFiles;

/// The tool name by which rules mean a command line, whatever a CLI calls its shell.
const SHELL: &str = "Bash";

/// Makes the policy request of a tool that reads and writes `files`.
pub(crate) fn request(host: &dyn Host, cwd: &Path, tool: &ToolUse, files: &ToolFiles) -> PermissionRequest {
    let here = host.locate(cwd).worktree;
    let located = |path: &PathBuf| {
        let found = host.locate(&cwd.join(path));
        let own = match found.worktree == here {
            true => found.path.clone(),
            false => found.worktree.join(&found.path).to_string_lossy().into_owned(),
        };
        PathNames { own, anywhere: found.path }
    };
    let (class, action) = match &tool.act {
        ToolAction::Runs(command) => {
            let is_outside = |path: &Path| host.locate(path).worktree != here;
            let mut commands = commands_in(command, &places::PolicyProject { cwd, is_outside: &is_outside });
            commands.writes =
                files.writes.iter().filter_map(|target| places::reached(host, &here, target)).collect();
            commands.reads =
                files.reads.iter().map(|path| places::read_patterns(host, &here, path)).collect();
            (SHELL, Action::Commands(commands))
        }
        ToolAction::Writes(paths) => ("Edit", Action::Paths(paths.iter().map(located).collect())),
        ToolAction::Reads(path) => ("Read", Action::Paths(vec![located(path)])),
        ToolAction::Visits(_) | ToolAction::Other => (tool.name.as_str(), Action::Other),
    };
    PermissionRequest { tool: class.to_owned(), name: tool.name.clone(), is_own: tool.is_own, action }
}

/// Makes the policy request of a kept question, as far as its text tells.
pub fn kept_request(ask: &Ask) -> PermissionRequest {
    let action = match ask.tool.as_str() {
        SHELL => {
            let is_outside = |path: &Path| path.is_absolute() || path.starts_with("..");
            Action::Commands(commands_in(
                &ask.text,
                &places::PolicyProject { cwd: Path::new(""), is_outside: &is_outside },
            ))
        }
        _ if !ask.paths.is_empty() => {
            let names = |path: &String| PathNames { own: path.clone(), anywhere: path.clone() };
            Action::Paths(ask.paths.iter().map(names).collect())
        }
        _ => Action::Other,
    };
    PermissionRequest { tool: ask.tool.clone(), name: ask.tool.clone(), is_own: true, action }
}

/// Makes the record of a session's question that is kept for the person.
pub(crate) fn ask(
    call: &HookCall,
    asked: &AskCall,
    request: &PermissionRequest,
    holder: Option<AnswerDeliverer>,
) -> Ask {
    Ask {
        session: call.session.clone(),
        kind: asked.kind,
        tool: request.tool.clone(),
        text: secrets::redacted(&asked.text),
        is_cut: asked.is_cut,
        paths: paths(request),
        questions: asked.questions.clone(),
        can_be_always: asked.can_be_always,
        holder,
    }
}

/// Makes the policy request of a tool that nobody is asked about, and the record by which a refusal
/// is kept.
pub(crate) fn unasked(
    host: &dyn Host,
    call: &HookCall,
    tool: &ToolUse,
    files: &ToolFiles,
) -> (PermissionRequest, Ask) {
    let request = request(host, &call.cwd, tool, files);
    let text = match &tool.act {
        ToolAction::Runs(command) => command.clone(),
        _ => paths(&request).join("\n"),
    };
    let asked = AskCall {
        tool: ToolUse::default(),
        kind: AskKind::Permission,
        text,
        is_cut: false,
        questions: Vec::new(),
        can_be_always: false,
        dialog: Dialog::MayNotCome,
    };
    let ask = ask(call, &asked, &request, None);
    (request, ask)
}

fn paths(request: &PermissionRequest) -> Vec<String> {
    match &request.action {
        Action::Paths(paths) => paths.iter().map(|path| path.own.clone()).collect(),
        Action::Commands(_) | Action::Other => Vec::new(),
    }
}

/// Reads all commands that a text may run, with every place counted as inside the project.
#[cfg(test)]
pub(crate) fn commands(text: &str) -> Commands {
    commands_in(text, &places::PolicyProject { cwd: Path::new(""), is_outside: &|_| false })
}

fn commands_in(text: &str, project: &places::PolicyProject<'_>) -> Commands {
    let found = consort_shell::calls(text);
    Commands {
        redirects: found.redirected.iter().any(|path| path.as_deref() != Some("/dev/null")),
        targets: found.redirected,
        is_read: found.is_read,
        is_whole: found.is_whole,
        is_plain: found.is_plain,
        calls: places::mark_outside_words(project, found.calls),
        ..Commands::default()
    }
}
