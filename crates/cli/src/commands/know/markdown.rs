//! Reads and writes knowledge as Markdown files that a person can review and edit: one file for each thing,
//! its fields in the front matter, its description as the text.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::knowledge::ImportedThing;
use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Source;
use consort_core::knowledge::recording_action;
use consort_core::knowledge::slug;
use consort_core::text;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

/// Longest candidate, in bytes: a longer text is not one thing.
const LONGEST_CANDIDATE: usize = 600;

/// Returns the page of each thing, with the path of its file.
pub(super) fn files(all: &[Known]) -> Vec<(PathBuf, String)> {
    let mut taken = BTreeSet::new();
    let mut files = Vec::new();
    for known in all {
        let name = slug(&known.name);
        let path = |number: usize| {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            Path::new(&format!("{}s", known.kind.as_str())).join(format!("{name}{number}.md"))
        };
        let free = (1..).map(path).find(|path| taken.insert(path.clone()));
        files.extend(free.map(|path| (path, page(known))));
    }
    files
}

fn page(known: &Known) -> String {
    let body = body_field(known.kind);
    let mut page = format!("---\nkind: {}\n", known.kind.as_str());
    let by = serde_json::to_value(&known.by).unwrap_or_default();
    let about = [("by", by), ("at", known.at.utc().into())];
    let fields = known.kind.fields().iter().filter(|field| field.name != body);
    let fields = fields.filter_map(|field| Some((field.name, known.fields.get(field.name)?.clone())));
    for (name, value) in fields.chain(about) {
        page.push_str(&format!("{name}: {value}\n"));
    }
    page.push_str(&format!("---\n\n{}\n", known.text(body)));
    text::printable(&page)
}

/// Returns the field that is the text of the page.
fn body_field(kind: Kind) -> &'static str {
    if kind == Kind::Relationship { "description" } else { kind.fields()[1].name }
}

/// Parses a page into the action that would record it; `None` if the page is none of ours.
pub(super) fn thing(page: &str, moment: &dyn Fn(&str) -> Option<Timestamp>) -> Option<ImportedThing> {
    let (front, body) = page.strip_prefix("---\n")?.split_once("\n---\n")?;
    let mut fields = Map::new();
    for line in front.lines() {
        let (name, value) = line.split_once(": ")?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        fields.insert(name.to_owned(), value);
    }
    let kind = Kind::named(fields.remove("kind")?.as_str()?)?;
    let by = fields.remove("by").and_then(|by| serde_json::from_value::<Source>(by).ok());
    let at = fields.remove("at").and_then(|at| moment(at.as_str()?));
    if !body.trim().is_empty() {
        fields.insert(body_field(kind).to_owned(), body.trim().into());
    }
    Some(ImportedThing { action: json!([recording_action(kind), fields]), by, at })
}

/// Reduces a page to what somebody has changed in it, as said by the one who imports it now; `None` if the
/// page says what is known.
pub(super) fn changed(mut thing: ImportedThing, known: &Known) -> Option<ImportedThing> {
    let fields = thing.action.get_mut(1)?.as_object_mut()?;
    let (key, mut removed) = (known.kind.key_field(), Map::new());
    for (name, before) in &known.fields {
        let now = fields.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let gone = |one: &&Value| !now.contains(one);
        if let Some(before) = before.as_array() {
            let gone: Vec<Value> = before.iter().filter(gone).cloned().collect();
            if !gone.is_empty() {
                removed.insert(name.clone(), gone.into());
            }
        }
    }
    fields.retain(|name, value| name == key || known.fields.get(name) != Some(value));
    if fields.len() <= 1 && removed.is_empty() {
        return None;
    }
    if !removed.is_empty() {
        fields.insert("remove".into(), removed.into());
    }
    (thing.by, thing.at) = (None, None);
    Some(thing)
}

/// A point of a file of instructions, and the line it begins at.
pub(super) struct Statement {
    pub(super) line: usize,
    pub(super) heading: String,
    pub(super) text: String,
}

/// Finds the points and paragraphs of a file of instructions or memories.
pub(super) fn candidates(page: &str) -> Vec<Statement> {
    let mut candidates: Vec<Statement> = Vec::new();
    let (mut heading, mut is_code, mut is_open) = (String::new(), false, false);
    for (number, line) in page.lines().enumerate() {
        let text = line.trim();
        if text.starts_with("```") {
            is_code = !is_code;
        }
        if is_code || text.starts_with("```") || text.is_empty() || text.starts_with('<') || text == "---" {
            is_open = false;
        } else if let Some(title) = text.strip_prefix('#') {
            title.trim_start_matches('#').trim().clone_into(&mut heading);
            is_open = false;
        } else if let Some(point) = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)) {
            candidates.push(Statement { line: number + 1, heading: heading.clone(), text: point.to_owned() });
            is_open = true;
        } else if let Some(last) = candidates.last_mut().filter(|_| is_open) {
            last.text.push(' ');
            last.text.push_str(text);
        } else {
            candidates.push(Statement { line: number + 1, heading: heading.clone(), text: text.to_owned() });
            is_open = true;
        }
    }
    candidates.retain(|one| one.text.len() <= LONGEST_CANDIDATE && one.text.split_whitespace().count() > 2);
    candidates
}
