//! Decides, by the person's rules, what an agent may do.

use super::Action;
use super::Call;
use super::Commands;
use super::Effect;
use super::Request;
use super::Rule;
use super::Verdict;
use super::pattern;
use super::pattern::Match;
use crate::claims::Case;
use crate::claims::Pattern;
use crate::journal::Number;

/// What the rules that hold say of a request; `None` if none is about it.
pub fn decide(rules: &[(Number, Rule)], request: &Request) -> Option<Verdict> {
    let rules: Vec<_> = rules.iter().filter(|(_, rule)| is_tool(&rule.tool, &request.tool)).collect();
    let strict = rules.iter().filter_map(|(number, rule)| {
        let effect = match (rule.effect, about(rule, &request.action)) {
            (Effect::Allow, _) | (_, Match::No) => return None,
            (effect, Match::Yes) => effect,
            // Nobody is refused for what may not be so.
            (_, Match::Perhaps) => Effect::Ask,
        };
        Some(Verdict { effect, rule: *number })
    });
    // Of equals the first.
    let strictest = strict.min_by_key(|verdict| std::cmp::Reverse(verdict.effect));
    strictest.or_else(|| {
        let allows: Vec<_> = rules.into_iter().filter(|(_, rule)| rule.effect == Effect::Allow).collect();
        let rule = match &request.action {
            Action::Commands(commands) => allowed(&allows, commands)?,
            action => allows.iter().find(|(_, rule)| about(rule, action) == Match::Yes)?.0,
        };
        Some(Verdict { effect: Effect::Allow, rule })
    })
}

fn is_tool(wanted: &str, tool: &str) -> bool {
    pattern::glob(&wanted.to_lowercase(), &tool.to_lowercase())
}

/// Whether a rule is about any part of it.
fn about(rule: &Rule, action: &Action) -> Match {
    let Some(text) = &rule.pattern else { return Match::Yes };
    match action {
        Action::Commands(commands) => {
            let calls = commands.calls.iter().map(|call| pattern::concerns(text, call));
            let unread = if commands.is_whole { Match::No } else { Match::Perhaps };
            calls.max().unwrap_or(Match::No).max(unread)
        }
        Action::Path(path) => {
            let covers = Pattern::new(text).is_ok_and(|one| one.covers(&Pattern::file(path), Case::Matters));
            if covers { Match::Yes } else { Match::No }
        }
        Action::Other => Match::No,
    }
}

/// The first rule that allows some of it, if every part is allowed.
fn allowed(rules: &[&(Number, Rule)], commands: &Commands) -> Option<Number> {
    if !commands.is_whole {
        return None;
    }
    // One without a pattern allows whatever can be seen.
    if let Some((number, _)) = rules.iter().find(|(_, rule)| rule.pattern.is_none()) {
        return Some(*number);
    }
    if commands.redirects {
        return None;
    }
    let mut first = None;
    for call in &commands.calls {
        if !call.variables.iter().all(|name| HARMLESS_VARIABLES.contains(&name.as_str())) {
            return None;
        }
        if call.words.is_empty() || call.is_wrapper {
            continue;
        }
        let is_about = |text: &String| pattern::allows(text, call);
        let by = rules.iter().find(|(_, rule)| rule.pattern.as_ref().is_some_and(is_about));
        match by {
            Some((number, _)) => first = first.or(Some(*number)),
            None if is_harmless(call) => {}
            None => return None,
        }
    }
    first
}

/// Variables that change what a program prints, and nothing else.
const HARMLESS_VARIABLES: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LINES",
    "NO_COLOR",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// What stands around other commands and does nothing of its own.
fn is_harmless(call: &Call) -> bool {
    let words: Option<Vec<&str>> = call.words.iter().map(Option::as_deref).collect();
    match (call.words.first().and_then(Option::as_deref), words.as_deref()) {
        (Some("echo" | "printf" | "true" | "false" | ":" | "test" | "[" | "pwd" | "sleep" | "wait"), _) => {
            true
        }
        (Some("exit" | "return" | "break" | "continue"), _) => true,
        // Elsewhere other files are meant.
        (_, Some(["cd", directory])) => {
            !directory.starts_with(['/', '~', '-']) && directory.split('/').all(|part| part != "..")
        }
        (_, Some(["set", options @ ..])) => options.iter().all(|option| {
            matches!(*option, "-e" | "-u" | "-x" | "-eu" | "-ex" | "-eux" | "-euo" | "-o" | "pipefail")
        }),
        _ => false,
    }
}
