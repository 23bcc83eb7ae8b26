//! The commands `consort know search`, `show`, `list`, `history`, `stale` and `as-of`:
//! each is one question.

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Scope;
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
use crate::world::Opened;
use crate::world::World;

/// How many a search finds.
const MOST_FOUND: usize = 50;

pub(super) enum Look<'a> {
    Search(String),
    Show(&'a str),
    List(Kind),
    History(&'a str),
    Stale,
    AsOf(&'a str, &'a str),
}

impl Look<'_> {
    /// What is asked, in the query language.
    fn source(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        match self {
            Self::Search(words) => format!("(search-knowledge {})", quoted(words)),
            Self::Show(name) => format!("(get-entity {})", quoted(name)),
            Self::List(kind) => format!("(get-{}s)", kind.as_str()),
            Self::History(name) => format!("(history {})", quoted(name)),
            Self::Stale => "(get-stale)".to_owned(),
            Self::AsOf(when, expression) => {
                format!("(as-of {} (lambda () {expression}))", quoted(when))
            }
        }
    }
}

pub(super) fn run(world: &World, look: &Look<'_>, args: &ScopeArgs) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let scope = args.of(&opened);
    if args.json && !matches!(look, Look::History(_) | Look::AsOf(..)) {
        let found = found(&mut opened, &scope, look)?;
        let items: Vec<Value> = found.iter().map(envelope::item).collect();
        let now = opened.app.host().now();
        match (look, items.first()) {
            (Look::Show(name), None) => return Err(unknown(name)),
            (Look::Show(_), Some(known)) => envelope::one(world, now, "known", known)?,
            _ => envelope::list(world, now, &items)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let format = match look {
        _ if args.json => Format::Json,
        Look::Show(_) => Format::Record,
        _ => Format::Columnar,
    };
    let answer = knowledge::ask(&mut opened, &scope, &look.source(), format, USUAL_TOKENS)?;
    if let (Look::Show(name) | Look::History(name), "nil" | "()" | "[]") = (look, answer.text.trim()) {
        return Err(unknown(name));
    }
    if args.json {
        return query::print_json(world, opened.app.host().now(), &answer);
    }
    world.out.line(answer.text)?;
    Ok(ExitCode::from(if answer.has_failed { exit::FOUND_SOMETHING } else { 0 }))
}

/// The same from the index, whole.
fn found(opened: &mut Opened, scope: &Scope, look: &Look<'_>) -> Result<Vec<Known>, CommandError> {
    file::take_in(opened, scope);
    let index = opened.app.knowledge_seen_from(scope, &opened.place.worktree)?;
    let mut found = Vec::new();
    match look {
        Look::Search(words) => {
            found.extend(index.search(Some(scope), words, MOST_FOUND)?.into_iter().map(|(_, known)| known));
        }
        Look::Show(name) => {
            for kind in Kind::ALL {
                found.extend(index.known(scope, kind, name)?);
            }
        }
        Look::List(kind) => index.each(scope, *kind, &mut |row| found.push(row.decode()))?,
        _ => {
            for kind in Kind::ALL {
                index.each(scope, kind, &mut |row| {
                    if row.stale().is_some() {
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
