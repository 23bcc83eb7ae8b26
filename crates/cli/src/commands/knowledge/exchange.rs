//! Carrying knowledge in and out in forms that others read, and from one project
//! to another.

use std::path::Path;

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::MOST_ACTIONS;
use consort_core::knowledge::Scope;
use consort_core::knowledge::adopted;
use consort_core::knowledge::imported;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use super::record_all;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::Opened;
use crate::world::World;

/// How many others are found.
const FEW: usize = 20;

fn all(opened: &mut Opened, scope: &Scope) -> Result<Vec<Known>, CommandError> {
    let index = opened.app.knowledge()?;
    let mut all = Vec::new();
    for kind in Kind::ALL {
        index.each(scope, kind, &mut |row| all.push(row.decode()))?;
    }
    Ok(all)
}

pub(super) fn export(world: &World, opened: &mut Opened, scope: &Scope, is_markdown: bool) -> CommandResult {
    let all = all(opened, scope)?;
    if !is_markdown {
        return all.iter().try_for_each(|known| world.out.json(known));
    }
    let mut page = String::from("# What is known\n");
    for kind in Kind::ALL {
        let these: Vec<&Known> = all.iter().filter(|known| known.kind == kind).collect();
        if these.is_empty() {
            continue;
        }
        page.push_str(&format!("\n## {}{}s\n", kind.as_str()[..1].to_uppercase(), &kind.as_str()[1..]));
        these.iter().for_each(|known| page.push_str(&section(known)));
    }
    // Agents wrote it, and a terminal may read it.
    world.out.text(text::printable(&page))
}

fn section(known: &Known) -> String {
    if known.kind == Kind::Relationship {
        let [from, of, to] = ["from", "type", "to"].map(|field| known.text(field));
        let about = known.text("description");
        return format!("- {from} *{of}* {to}{}{about}\n", if about.is_empty() { "" } else { ": " });
    }
    let stale = if known.stale.is_some() { " (stale)" } else { "" };
    let about = known.text(known.kind.fields()[1].name);
    let mut section = format!("\n### {}{stale}\n\n{about}\n\n", known.name);
    for (name, value) in known.fields.iter().skip(2) {
        let shown = match value {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        section.push_str(&format!("- {name}: {shown}\n"));
    }
    section
}

/// Our own JSON, one thing a line, or what the official memory server keeps.
pub(super) fn import(world: &World, opened: &mut Opened, scope: &Scope, file: &Path) -> CommandResult {
    let text =
        std::fs::read_to_string(file).map_err(|error| CommandError::file("cannot read", file, error))?;
    let mut actions = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let one: Option<Value> = serde_json::from_str(line).ok();
        match one.as_ref().and_then(imported) {
            Some(action) => actions.push(action),
            None => {
                return Err(CommandError::user(
                    format!("{}, line {}: it cannot be understood", file.display(), number + 1),
                    "expected what `consort know export` prints, or a memory server's JSONL; nothing was recorded",
                ));
            }
        }
    }
    // What ties things together comes after them.
    actions.sort_by_key(|action| action[0] == "link-entities");
    let batches = actions.chunks(MOST_ACTIONS).map(|batch| Value::from(batch.to_vec()));
    let count = record_all(opened, scope, batches)?;
    opened.app.tidy_knowledge_after(count);
    world.out.line(format!("Recorded {}.", text::count(count, "action")))
}

/// Principles and patterns of other projects that have these words.
pub(super) fn similar(world: &World, opened: &mut Opened, words: &str) -> CommandResult {
    let here = Scope::Project(opened.project.id.clone());
    let index = opened.app.knowledge()?;
    let found = index.search(None, words, FEW * 2)?;
    let is_other = |(scope, known): &&(Scope, Known)| {
        *scope != here && matches!(known.kind, Kind::Principle | Kind::Pattern)
    };
    for (scope, known) in found.iter().filter(is_other).take(FEW) {
        let place = scope.project().map_or("--global", |project| project.as_str());
        let line = format!("{place} {} {}: {}", known.kind.as_str(), known.name, known.text("description"));
        world.out.line(text::one_line(&line, 200))?;
    }
    Ok(())
}

/// Copies something that another project knows, with where it is from.
pub(super) fn adopt(world: &World, opened: &mut Opened, name: &str, from: Option<&str>) -> CommandResult {
    let there = match from {
        Some(project) => Scope::Project(opened.app.find_project(project)?.id),
        None => Scope::Global,
    };
    let index = opened.app.knowledge()?;
    let mut known = None;
    for kind in [Kind::Principle, Kind::Pattern, Kind::Decision] {
        known = known.or(index.known(&there, kind, name)?);
    }
    let Some(known) = known else {
        return Err(CommandError::user(
            format!("nothing called `{name}` is known there"),
            "`consort know similar \"…\"` finds what other projects know",
        ));
    };
    let here = Scope::Project(opened.project.id.clone());
    super::act(world, opened, here, json!([adopted(&known, &there)]), None, false)
}
