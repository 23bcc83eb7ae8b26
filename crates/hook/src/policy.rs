//! Hook door: what a tool would do, as the person's rules are asked about it.

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::AskCall;
use consort_core::hooks::Dialog;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolAction;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;
use consort_core::policy::Action;
use consort_core::policy::Ask;
use consort_core::policy::AskHolder;
use consort_core::policy::AskKind;
use consort_core::policy::Call;
use consort_core::policy::Commands;
use consort_core::policy::PathNames;
use consort_core::policy::Request;
use consort_core::secrets;

/// What rules call a command line, whatever a CLI calls its shell.
const SHELL: &str = "Bash";

/// What a tool would do.
pub(crate) fn request(host: &dyn Host, cwd: &Path, tool: &ToolUse) -> Request {
    let here = host.locate(cwd).worktree;
    let located = |path: &PathBuf| {
        let found = host.locate(&cwd.join(path));
        let own = match found.worktree == here {
            true => found.path.clone(),
            false => found.worktree.join(&found.path).to_string_lossy().into_owned(),
        };
        PathNames { own, anywhere: found.path }
    };
    let (name, action) = match &tool.act {
        ToolAction::Runs(command) => (SHELL, Action::Commands(commands(command))),
        ToolAction::Writes(paths) => ("Edit", Action::Paths(paths.iter().map(located).collect())),
        ToolAction::Reads(path) => ("Read", Action::Paths(vec![located(path)])),
        ToolAction::Visits(_) | ToolAction::Other => (tool.name.as_str(), Action::Other),
    };
    Request { tool: name.to_owned(), action }
}

/// The same of a question that was kept.
pub fn kept_request(ask: &Ask) -> Request {
    let action = match ask.tool.as_str() {
        SHELL => Action::Commands(commands(&ask.text)),
        _ if !ask.paths.is_empty() => {
            let names = |path: &String| PathNames { own: path.clone(), anywhere: path.clone() };
            Action::Paths(ask.paths.iter().map(names).collect())
        }
        _ => Action::Other,
    };
    Request { tool: ask.tool.clone(), action }
}

/// What a session asks, as it is kept.
pub(crate) fn ask(call: &HookCall, asked: &AskCall, request: &Request, holder: Option<AskHolder>) -> Ask {
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

/// What a tool would do that nobody is asked about, and how a refusal of it is kept.
pub(crate) fn unasked(host: &dyn Host, call: &HookCall, tool: &ToolUse) -> (Request, Ask) {
    let request = request(host, &call.cwd, tool);
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

fn paths(request: &Request) -> Vec<String> {
    match &request.action {
        Action::Paths(paths) => paths.iter().map(|path| path.own.clone()).collect(),
        Action::Commands(_) | Action::Other => Vec::new(),
    }
}

pub(crate) fn commands(text: &str) -> Commands {
    let found = consort_shell::calls(text);
    let call = |call: consort_shell::Call| Call {
        words: call.words,
        variables: call.variables,
        homes: call.homes,
        is_wrapper: call.is_wrapper,
    };
    Commands {
        redirects: found.redirected.iter().any(|path| path.as_deref() != Some("/dev/null")),
        calls: found.calls.into_iter().map(call).collect(),
        targets: found.redirected,
        is_read: found.is_read,
        is_whole: found.is_whole,
        is_plain: found.is_plain,
    }
}
