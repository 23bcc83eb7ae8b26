//! Decides, by the person's rules, what an agent may do.

use super::Action;
use super::Commands;
use super::PermissionRequest;
use super::PolicyVerdict;
use super::ProgramCall;
use super::ReachedPatterns;
use super::Rule;
use super::RuleEffect;
use super::pattern;
use super::pattern::Match;
use crate::claims::Case;
use crate::claims::Pattern;

/// Decides on a request by the rules that hold; `None` if no rule is about it. Each rule comes with
/// its name.
pub fn decide<'a, N>(rules: &'a [(N, Rule)], request: &PermissionRequest) -> Option<PolicyVerdict<'a, N>> {
    let strict = rules.iter().filter_map(|(name, rule)| {
        let effect = match (rule.effect, about(rule, request)) {
            (RuleEffect::Allow, _) | (_, Match::No) => return None,
            (effect, Match::Yes) => effect,
            // A request that the rule only perhaps means is not refused: the person is asked.
            (_, Match::Perhaps) => RuleEffect::Ask,
        };
        Some(PolicyVerdict { effect, name, rule })
    });
    // Of equally strict rules the first decides.
    let strictest = strict.min_by_key(|verdict| std::cmp::Reverse(verdict.effect));
    strictest.or_else(|| {
        let allows: Vec<_> = rules.iter().filter(|(_, rule)| may_allow(rule, request)).collect();
        let (name, rule) = match &request.action {
            Action::Commands(commands) => allowed(&allows, commands)?,
            Action::Paths(paths) => every(&allows, paths.iter(), |rule, path| allows_path(rule, &path.own))?,
            Action::Other => allows.into_iter().find(|(_, rule)| rule.pattern.is_none())?,
        };
        Some(PolicyVerdict { effect: RuleEffect::Allow, name, rule })
    })
}

fn is_tool(wanted: &str, tool: &str) -> bool {
    pattern::glob(&wanted.to_lowercase(), &tool.to_lowercase())
}

/// Tells whether a rule allows, and means the tool of the request.
fn may_allow(rule: &Rule, request: &PermissionRequest) -> bool {
    let is_meant = match request.is_own {
        true => is_tool(&rule.tool, &request.tool) || is_tool(&rule.tool, &request.name),
        false => is_tool(&rule.tool, &request.name) && rule.pattern.is_none(),
    };
    rule.effect == RuleEffect::Allow && is_meant
}

/// Tells whether a rule that asks or refuses is about any part of a request.
fn about(rule: &Rule, request: &PermissionRequest) -> Match {
    if is_tool(&rule.tool, &request.tool) || is_tool(&rule.tool, &request.name) {
        return about_action(rule, &request.action);
    }
    // Files that a command writes or shows are edited or read.
    let Action::Commands(commands) = &request.action else { return Match::No };
    let reaches = |tool, files: &[ReachedPatterns]| {
        is_tool(&rule.tool, tool)
            && files.iter().any(|one| meets(rule, &one.own) || meets(rule, &one.anywhere))
    };
    match reaches("Edit", &commands.writes) || reaches("Read", &commands.reads) {
        true => Match::Yes,
        false => Match::No,
    }
}

fn about_action(rule: &Rule, action: &Action) -> Match {
    let Some(text) = &rule.pattern else { return Match::Yes };
    match action {
        Action::Commands(commands) => {
            let calls = commands.calls.iter().map(|call| pattern::concerns(text, call));
            let unread = if commands.is_whole { Match::No } else { Match::Perhaps };
            calls.max().unwrap_or(Match::No).max(unread)
        }
        // A file that goes by that name in any worktree is refused.
        Action::Paths(paths)
            if paths.iter().any(|path| covers(rule, &path.own) || covers(rule, &path.anywhere)) =>
        {
            Match::Yes
        }
        Action::Paths(_) => Match::No,
        // Nothing tells whether the action is meant.
        Action::Other => Match::Perhaps,
    }
}

fn meets(rule: &Rule, files: &Pattern) -> bool {
    let meets = |text| Pattern::new(text).is_ok_and(|one| one.overlaps(files, Case::Matters));
    rule.pattern.as_ref().is_none_or(|text| meets(text))
}

/// Tells whether a rule allows a path. As in a shell no `*` means a hidden name, because hidden
/// files tell programs what to do.
fn allows_path(rule: &Rule, path: &str) -> bool {
    let is_named =
        |part: &str| rule.pattern.as_ref().is_none_or(|text| text.split('/').any(|named| named == part));
    // A file outside of the worktree is meant only by an absolute pattern.
    let is_here = |text: &String| !path.starts_with('/') || text.starts_with('/');
    rule.pattern.as_ref().is_none_or(is_here)
        && covers(rule, path)
        && path.split('/').filter(|part| part.starts_with('.')).all(is_named)
}

fn covers(rule: &Rule, path: &str) -> bool {
    let covers = |text| Pattern::new(text).is_ok_and(|one| one.covers(&Pattern::file(path), Case::Matters));
    rule.pattern.as_ref().is_none_or(|text| covers(text))
}

/// Returns the rule that is about the first of these, if there is one for each of them.
fn every<'a, N, T>(
    rules: &[&'a (N, Rule)],
    mut all: impl Iterator<Item = T>,
    is_about: impl Fn(&Rule, &T) -> bool,
) -> Option<&'a (N, Rule)> {
    let of = |one: T| rules.iter().find(|(_, rule)| is_about(rule, &one)).copied();
    let first = of(all.next()?)?;
    all.all(|one| of(one).is_some()).then_some(first)
}

/// Returns the rule that allows the first of the commands, if every command is allowed.
fn allowed<'a, N>(rules: &[&'a (N, Rule)], commands: &Commands) -> Option<&'a (N, Rule)> {
    if !commands.is_whole {
        return None;
    }
    // A rule without a pattern allows everything, as long as all of it was seen.
    if let Some(rule) = rules.iter().find(|(_, rule)| rule.pattern.is_none()) {
        return Some(rule);
    }
    if !commands.is_plain {
        return None;
    }
    let is_harmless_variable = |name: &String| HARMLESS_VARIABLES.contains(&name.as_str());
    if commands.redirects
        || !commands.calls.iter().all(|call| call.variables.iter().all(is_harmless_variable))
    {
        return None;
    }
    if commands.writes.iter().chain(&commands.reads).any(|files| files.is_off_limits) {
        return None;
    }
    let is_cd = |call: &ProgramCall| call.words.first().is_some_and(|word| word.as_deref() == Some("cd"));
    let is_moved = commands.is_moved || commands.calls.iter().any(is_cd);
    let is_about = |rule: &Rule, call: &ProgramCall| {
        rule.pattern
            .as_ref()
            .is_some_and(|text| pattern::allows(text, call) && !(is_moved && pattern::names_file(text)))
    };
    let is_named = |call: &ProgramCall| rules.iter().any(|(_, rule)| is_about(rule, call));
    if commands.calls.iter().any(|call| call.is_wrapper && !is_plain_wrapper(call)) {
        return None;
    }
    let acts = commands.calls.iter().filter(|call| !call.words.is_empty() && !call.is_wrapper);
    every(rules, acts.filter(|call| is_named(call) || !is_harmless(call)), |rule, call| is_about(rule, call))
}

/// Tells whether a call runs another and does nothing else: by its own name, without options.
fn is_plain_wrapper(call: &ProgramCall) -> bool {
    let words: Vec<&str> = call.words.iter().map_while(Option::as_deref).collect();
    match words[..] {
        ["timeout", time, program, ..] => {
            time.starts_with(|c: char| c.is_ascii_digit()) && !program.starts_with('-')
        }
        ["nice" | "nohup", program, ..] => !program.starts_with('-'),
        _ => false,
    }
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

/// Tells whether a call may go with others because it does nothing of its own.
fn is_harmless(call: &ProgramCall) -> bool {
    let words: Option<Vec<&str>> = call.words.iter().map(Option::as_deref).collect();
    match (call.words.first().and_then(Option::as_deref), words.as_deref()) {
        (Some("echo" | "true" | "false" | ":" | "pwd" | "sleep" | "exit"), _) => true,
        // Outside of the project the same paths mean other files.
        (_, Some(["cd", directory])) => {
            let is_upwards = directory.split('/').any(|part| part == "..");
            !is_upwards && !directory.starts_with(['~', '-']) && call.detours.is_empty()
        }
        (_, Some(["set", options @ ..])) => {
            options.iter().all(|option| matches!(*option, "-e" | "-u" | "-eu" | "-euo" | "-o" | "pipefail"))
        }
        _ => false,
    }
}
