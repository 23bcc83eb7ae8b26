//! The command `consort know import`: records knowledge from a file or a directory, ours or a memory
//! server's, or lists the points of a file of instructions.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use consort_core::knowledge::ActRequest;
use consort_core::knowledge::ImportOutcome;
use consort_core::knowledge::ImportedThing;
use consort_core::knowledge::Kind;
use consort_core::knowledge::Scope;
use consort_core::knowledge::import_action;
use consort_core::knowledge::slug;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use super::markdown;
use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge::ScopeArgs;
use crate::knowledge::envelope;
use crate::knowledge::file;
use crate::person;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 64 << 20;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A .yjs file, what `export` wrote, a memory server's JSONL, or a Markdown file such as CLAUDE.md; `-` reads standard input
    file: std::path::PathBuf,
    /// Of the candidates in a Markdown file, record these: `1,3` or `all`
    #[arg(long, value_name = "NUMBERS")]
    take: Option<String>,
    /// Record it though something looks like a secret (the person only)
    #[arg(long)]
    even_so: bool,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

pub(super) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    person::refuse_anonymous(&mut opened.app)?;
    let (scope, path) = (args.scope.of(&opened), args.file.as_path());
    file::take_in(&mut opened, &scope);
    if path.extension().is_some_and(|kind| kind == "yjs") {
        let mut index = opened.app.knowledge()?;
        let count = file::ingest_file(&mut opened, &mut *index, &scope, &TheirFile::OfUser(path.to_owned()))?;
        if args.scope.json {
            return envelope::one(world, opened.app.host().now(), "imported", &json!({ "recorded": count }));
        }
        return world.out.line(format!("{} new.", text::counted_noun(count, "word")));
    }
    if path.is_dir() {
        let things = pages(&mut opened, &scope, path)?;
        return record(world, &mut opened, &scope, things, args);
    }
    let text = read(path)?;
    let is_page = path.extension().is_some_and(|kind| kind == "md");
    let things = match is_page {
        true => match page(&mut opened, &scope, &text)? {
            Some(thing) => thing.into_iter().collect(),
            None => return candidates(world, &mut opened, &scope, args, &text),
        },
        false => lines(path, &text)?,
    };
    record(world, &mut opened, &scope, things, args)
}

fn read(path: &Path) -> Result<String, CommandError> {
    let bytes = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(LONGEST).read_to_end(&mut bytes).map(|_| bytes)
    } else {
        consort_files::read_regular_file(path, LONGEST)
    };
    let bytes = bytes.map_err(|error| CommandError::file("cannot read", path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads our own JSON, one thing a line, or the JSON of the official memory server.
fn lines(file: &Path, text: &str) -> Result<Vec<ImportedThing>, CommandError> {
    let mut things = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let one: Option<Value> = serde_json::from_str(line).ok();
        let thing = one.as_ref().and_then(|one| Some((one, import_action(one)?)));
        let Some((one, action)) = thing else {
            return Err(CommandError::user(
                format!("{}, line {}: it cannot be understood", file.display(), number + 1),
                "expected what `consort know export` prints, or a memory server's JSONL; nothing was recorded",
            ));
        };
        let by = one.get("by").and_then(|by| serde_json::from_value(by.clone()).ok());
        let at = one.get("at").and_then(|at| serde_json::from_value(at.clone()).ok());
        things.push(ImportedThing { action, by, at });
    }
    Ok(things)
}

/// Reads a directory that `export --to` wrote, and returns what differs from what is known.
fn pages(opened: &mut OpenWorld, scope: &Scope, dir: &Path) -> Result<Vec<ImportedThing>, CommandError> {
    let mut things = Vec::new();
    for kind in Kind::ALL {
        let dir = dir.join(format!("{}s", kind.as_str()));
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "md"));
        paths.sort();
        for path in paths {
            let thing = page(opened, scope, &read(&path)?)?.ok_or_else(|| {
                let what = format!("{} is no page that `consort know export` wrote", path.display());
                CommandError::user(what, "fix or remove it; nothing was recorded")
            })?;
            things.extend(thing);
        }
    }
    Ok(things)
}

/// Reads an exported page, and returns what it says that is not known, if anything; the outer `None` if the
/// page is not ours.
fn page(
    opened: &mut OpenWorld,
    scope: &Scope,
    text: &str,
) -> Result<Option<Option<ImportedThing>>, CommandError> {
    let (now, worktree) = (opened.app.host().now(), opened.place.worktree.clone());
    let Some(thing) = markdown::thing(text, &|at| time::moment(at, now, &worktree)) else { return Ok(None) };
    let action = thing.action[0].as_str().unwrap_or_default();
    let field = |name: &str| thing.action[1][name].as_str().unwrap_or_default().to_owned();
    let kind = Kind::ALL.into_iter().find(|kind| consort_core::knowledge::recording_action(*kind) == action);
    let index = opened.app.knowledge()?;
    let known = match kind {
        Some(Kind::Relationship) => {
            let links = index.links(scope, &field("from"))?;
            let is_it = |one: &&_| is_link(one, &field("to"), &field("type"));
            links.iter().find(is_it).cloned()
        }
        Some(kind) => index.known(scope, kind, &field(kind.key_field()))?,
        None => None,
    };
    Ok(Some(match known {
        Some(known) => markdown::changed(thing, &known),
        None => Some(thing),
    }))
}

fn is_link(link: &consort_core::knowledge::Known, to: &str, of: &str) -> bool {
    link.text("to") == to && link.text("type") == of
}

/// Records all of the things or none, and prints exactly what was recorded.
fn record(
    world: &World,
    opened: &mut OpenWorld,
    scope: &Scope,
    mut things: Vec<ImportedThing>,
    args: &Args,
) -> CommandResult {
    let now = opened.app.host().now();
    if things.is_empty() {
        if args.scope.json {
            return envelope::one(world, now, "imported", &json!(ImportOutcome::default()));
        }
        return world.out.line("Nothing is new in it.");
    }
    // Relationships come after the things that they link.
    things.sort_by_key(|thing| thing.action[0] == "link-entities");
    let request = ActRequest {
        caller: person::acting_caller(&mut opened.app)?,
        worktree: opened.place.worktree.clone(),
        cwd: opened.cwd.clone(),
        scope: scope.clone(),
        actions: Value::Null,
        key: None,
        even_so: args.even_so,
    };
    let mut index = opened.app.knowledge()?;
    let outcome = opened.app.import_knowledge(&mut *index, &request, &things)?;
    opened.app.tidy_knowledge_after(outcome.recorded);
    if args.scope.json {
        return envelope::one(world, now, "imported", &json!(outcome));
    }
    world.out.line(format!("Recorded {}.", text::counted_noun(outcome.recorded, "action")))?;
    for link in &outcome.dangling {
        world.out.line(format!("Nothing is known yet of an end of it: {}", text::one_line(link, 200)))?;
    }
    Ok(())
}

/// Lists the points of a file of instructions, for a person to choose from, or records the chosen ones.
fn candidates(
    world: &World,
    opened: &mut OpenWorld,
    scope: &Scope,
    args: &Args,
    text: &str,
) -> CommandResult {
    let found = markdown::candidates(text);
    let Some(take) = &args.take else { return offer(world, opened, scope, args, &found) };
    let numbers: Option<Vec<usize>> = match take.as_str() {
        "all" => Some((1..=found.len()).collect()),
        some => some.split(',').map(|number| number.trim().parse().ok()).collect(),
    };
    let chosen: Option<Vec<&markdown::Statement>> = numbers
        .and_then(|numbers| numbers.into_iter().map(|number| found.get(number.checked_sub(1)?)).collect());
    let Some(chosen) = chosen else {
        let what = format!("`{take}` does not say which of {}", text::counted_noun(found.len(), "candidate"));
        return Err(CommandError::user(what, "write them as `1,3`, or `all`"));
    };
    let thing = |one: &markdown::Statement| {
        let tags: Vec<String> = if one.heading.is_empty() { Vec::new() } else { vec![slug(&one.heading)] };
        let location = format!("{}:{}", args.file.display(), one.line);
        let props = json!({ "description": one.text, "tags": tags, "locations": [location] });
        ImportedThing { action: json!(["record-note", props]), by: None, at: None }
    };
    record(world, opened, scope, chosen.into_iter().map(thing).collect(), args)
}

/// Lists the candidates that are not known yet. Each keeps its number, whatever was taken before.
fn offer(
    world: &World,
    opened: &mut OpenWorld,
    scope: &Scope,
    args: &Args,
    found: &[markdown::Statement],
) -> CommandResult {
    let mut known = BTreeSet::new();
    opened.app.knowledge()?.each(scope, Kind::Note, &mut |row| {
        known.insert(row.text("description").to_owned());
    })?;
    let new = found.iter().enumerate().filter(|(_, one)| !known.contains(&one.text));
    let new: Vec<(usize, &markdown::Statement)> = new.map(|(place, one)| (place + 1, one)).collect();
    if args.scope.json {
        let item = |(number, one): &(usize, &markdown::Statement)| json!({ "number": number, "line": one.line, "heading": one.heading, "text": one.text });
        let items: Vec<Value> = new.iter().map(item).collect();
        return envelope::list(world, opened.app.host().now(), &items);
    }
    for (number, one) in &new {
        let line = format!("{number} (line {}) {}", one.line, one.text);
        world.out.line(text::one_line(&line, 200))?;
    }
    let how = format!("`consort know import {} --take 1,3` records some as notes", args.file.display());
    world.out.line(format!("{}; {how}", text::counted_noun(new.len(), "candidate")))
}
