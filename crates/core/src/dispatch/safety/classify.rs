//! Classifies a tool call by its worst part.

use super::ActionClass;
use super::args::Args;
use super::paths;
use super::programs;
use super::tools;
use crate::policy::Action;
use crate::policy::Commands;
use crate::policy::PermissionRequest;
use crate::policy::ProgramCall;

/// The class of a call, and the part that made it that class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    pub class: ActionClass,
    /// The worst part: a command, a path, a tool.
    pub about: String,
    /// The reason why nobody can tell what the call does, if that is so.
    pub unclear: Option<&'static str>,
}

impl Classified {
    pub(super) fn of(class: ActionClass, about: impl Into<String>) -> Self {
        Self { class, about: about.into(), unclear: None }
    }

    /// Raises the class to `class`, if that is worse.
    pub fn at_least(self, class: ActionClass) -> Self {
        Self { class: self.class.max(class), ..self }
    }

    pub(super) fn unclear(about: impl Into<String>, why: &'static str) -> Self {
        Self { class: ActionClass::SystemModify, about: about.into(), unclear: Some(why) }
    }
}

/// Classifies what a tool is asked to do. `tool` is the CLI's own name of the tool.
pub fn classify(request: &PermissionRequest, tool: &str) -> Classified {
    match &request.action {
        Action::Commands(commands) => of_commands(commands),
        Action::Paths(names) if request.tool == "Read" => {
            Classified::of(ActionClass::FileRead, names.first().map_or("", |name| &name.own))
        }
        Action::Paths(names) => {
            let writes = match tools::deletes(tool) {
                true => ActionClass::FileDelete,
                false => ActionClass::FileWrite,
            };
            let class =
                |path: &str| if paths::is_protected(path) { ActionClass::SystemModify } else { writes };
            worst(names.iter().map(|name| Classified::of(class(&name.own), &name.own)), || {
                Classified::of(writes, tool)
            })
        }
        Action::Other => tools::classify(tool),
    }
}

/// Returns the worst of all; of equally bad ones the first.
fn worst(all: impl Iterator<Item = Classified>, none: impl FnOnce() -> Classified) -> Classified {
    all.reduce(|one, other| if other.class > one.class { other } else { one }).unwrap_or_else(none)
}

fn of_commands(commands: &Commands) -> Classified {
    if !commands.is_read {
        return Classified::unclear("", "does not tell in its text what it runs");
    }
    let calls = commands.calls.iter().map(|call| of_call(call, commands));
    let is_nothing = |call: &ProgramCall| {
        let name = call.words.first().and_then(Option::as_deref);
        call.words.is_empty() || matches!(name, Some(":" | "true"))
    };
    // `> file` alone leaves an empty file.
    let redirected = match commands.calls.iter().all(is_nothing) {
        true => ActionClass::BashDestructive,
        false => ActionClass::FileWrite,
    };
    let targets = commands.targets.iter().filter(|target| !is_no_file(target.as_deref())).map(|target| {
        let class = match target.as_deref().is_some_and(paths::is_protected) {
            true => ActionClass::SystemModify,
            false => redirected,
        };
        Classified::of(class, format!("> {}", target.as_deref().unwrap_or("…")))
    });
    worst(calls.chain(targets), || Classified::of(ActionClass::FileRead, ""))
}

fn is_no_file(target: Option<&str>) -> bool {
    target.is_some_and(|path| matches!(path, "/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty"))
}

fn of_call(call: &ProgramCall, all: &Commands) -> Classified {
    let shown = call.words.iter().map(|word| word.as_deref().unwrap_or("…")).collect::<Vec<_>>().join(" ");
    if let Some(name) = call.variables.iter().find(|name| name.starts_with("CONSORT_")) {
        return Classified::of(ActionClass::SystemModify, format!("{name}="));
    }
    if loosens(call, all) {
        return Classified::of(ActionClass::SystemModify, shown);
    }
    let tells_more = call.variables.iter().any(|name| is_telling(name));
    let least = if tells_more { ActionClass::BashExec } else { ActionClass::FileRead };
    if call.is_wrapper || call.words.is_empty() {
        return Classified::of(least, shown);
    }
    let Some(program) = &call.words[0] else {
        return Classified::unclear(shown, "does not tell which program it runs");
    };
    let args = Args(&call.words[1..]);
    match programs::classify(program, args) {
        // The text does not tell which paths are written, except that some are in the home
        // directory.
        Some(ActionClass::FileWrite | ActionClass::FileDelete | ActionClass::BashDestructive)
            if call.homes.iter().any(|path| paths::is_protected(path)) =>
        {
            Classified::of(ActionClass::SystemModify, shown)
        }
        Some(class) => Classified::of(class.max(least), shown),
        None => Classified::unclear(shown, "runs what its text does not tell"),
    }
}

/// Tells whether a call changes or clears the environment that says how much a session, or an agent
/// that it starts, may do.
fn loosens(call: &ProgramCall, all: &Commands) -> bool {
    let name = call.words.first().and_then(Option::as_deref).map(programs::base_name);
    let args = Args(call.words.get(1..).unwrap_or_default());
    let names_ours = || args.words().any(|word| word.contains("CONSORT_"));
    match name {
        Some("export" | "unset" | "declare" | "typeset" | "readonly" | "local") => names_ours(),
        Some("env") => {
            let is_agent = |call: &ProgramCall| {
                let name = call.words.first().and_then(Option::as_deref).map(programs::base_name);
                name.is_some_and(programs::is_agent)
            };
            let clears =
                args.has(&["-", "-i", "--ignore-environment", "-u", "--unset"]) || args.has_short('i');
            names_ours() || clears && all.calls.iter().any(is_agent)
        }
        _ => false,
    }
}

/// Tells whether a variable makes programs do more than their arguments say.
fn is_telling(name: &str) -> bool {
    const NAMES: &[&str] =
        &["EDITOR", "ENV", "IFS", "PAGER", "PATH", "PROMPT_COMMAND", "SHELLOPTS", "VISUAL"];
    const STARTS: &[&str] =
        &["BASH_", "DYLD_", "GIT_", "LD_", "LESS", "MAN", "NODE_", "PERL", "PYTHON", "RUBY", "RIPGREP_"];
    NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start))
}
