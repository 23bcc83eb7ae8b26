//! The commands `consort know search`, `show`, `list`, `history`, `stale` and `as-of`: each asks one
//! question, and prints the answer for people.

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Scope;
use consort_core::presence::Caller;
use consort_knowledge::Format;
use serde_json::Value;

use super::query;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::knowledge;
use crate::knowledge::ScopeArgs;
use crate::knowledge::USUAL_TOKENS;
use crate::knowledge::envelope;
use crate::knowledge::file;
use crate::render;
use crate::world::OpenWorld;
use crate::world::World;

/// Most things that a search finds, and most lines of a list that are shown.
const MOST_FOUND: usize = 50;
const MOST_LISTED: usize = 200;

/// Most of the things shown that are noted for an agent.
const MOST_SHOWN: usize = 20;

pub(super) enum LookUp<'a> {
    Search(String),
    Show(&'a str),
    List(Kind),
    History(&'a str),
    Stale,
    AsOf(&'a str, &'a str),
}

impl LookUp<'_> {
    /// Returns the question in the query language, if only that can answer it.
    fn source(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        match self {
            Self::History(name) => format!("(history {})", quoted(name)),
            Self::AsOf(when, expression) => {
                format!("(as-of {} (lambda () {expression}))", quoted(when))
            }
            _ => String::new(),
        }
    }
}

pub(super) fn run(world: &World, look: &LookUp<'_>, args: &ScopeArgs) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let scope = args.of(&opened);
    if matches!(look, LookUp::History(_) | LookUp::AsOf(..)) {
        return ask(world, &mut opened, &scope, look, args.json);
    }
    let found = found(&mut opened, &scope, look)?;
    if let (LookUp::Show(name), true) = (look, found.is_empty()) {
        return Err(unknown(name));
    }
    note_shown(&mut opened, &found);
    if args.json {
        let items: Vec<Value> = found.iter().map(Known::item).collect();
        let now = opened.app.host().now();
        match (look, items.first()) {
            (LookUp::Show(_), Some(known)) => envelope::one(world, now, "known", known)?,
            _ => envelope::list(world, now, &items)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let LookUp::Show(_) = look {
        found.iter().flat_map(render::known::page).try_for_each(|line| world.out.line(line))?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        world.out.line(if matches!(look, LookUp::Stale) { "Nothing is stale." } else { "Nothing found." })?;
    }
    found.iter().take(MOST_LISTED).try_for_each(|known| world.out.line(render::known::line(known)))?;
    if let Some(more) = found.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        world.out.line(format!("and {more} more: `consort know search <words>` finds what you mean"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks a question that only the query language can answer, and prints the answer.
fn ask(
    world: &World,
    opened: &mut OpenWorld,
    scope: &Scope,
    look: &LookUp<'_>,
    is_json: bool,
) -> Result<ExitCode, CommandError> {
    let format = if is_json { Format::Json } else { Format::Columnar };
    let answer = knowledge::ask(opened, scope, &look.source(), format, USUAL_TOKENS)?;
    if let (LookUp::History(name), "nil" | "()" | "[]") = (look, answer.text.trim()) {
        return Err(unknown(name));
    }
    if is_json {
        return query::print_json(world, opened.app.host().now(), &answer);
    }
    world.out.line(answer.text)?;
    Ok(ExitCode::from(if answer.has_failed { exit::FOUND_SOMETHING } else { 0 }))
}

/// Notes the things an agent was shown, so that it hears if they become stale.
fn note_shown(opened: &mut OpenWorld, found: &[Known]) {
    if let Ok(Caller::Agent(agent)) = opened.caller() {
        let current = found.iter().filter(|known| known.stale.is_none()).take(MOST_SHOWN);
        let shown: Vec<(Kind, String)> = current.map(|known| (known.kind, known.name.clone())).collect();
        opened.app.note_shown(&agent.session, &shown);
    }
}

/// Finds the whole entities that a question is about in the index.
fn found(opened: &mut OpenWorld, scope: &Scope, look: &LookUp<'_>) -> Result<Vec<Known>, CommandError> {
    file::take_in(opened, scope);
    let index = opened.app.knowledge_seen_from(scope, &opened.place.worktree, &opened.cwd)?;
    let mut found = Vec::new();
    match look {
        LookUp::Search(words) => {
            found.extend(index.search(Some(scope), words, MOST_FOUND)?.into_iter().map(|(_, known)| known));
        }
        LookUp::Show(name) => {
            for kind in Kind::ALL {
                found.extend(index.known(scope, kind, name)?);
            }
        }
        LookUp::List(kind) => index.each(scope, *kind, &mut |row| found.push(row.decode()))?,
        _ => {
            for kind in Kind::ALL {
                index.each(scope, kind, &mut |row| {
                    if row.stale_since().is_some() {
                        found.push(row.decode());
                    }
                })?;
            }
        }
    }
    Ok(found)
}

fn unknown(name: &str) -> CommandError {
    CommandError::user(
        format!("nothing called `{name}` is known"),
        format!("`consort know search {name}` finds what is like it"),
    )
}
