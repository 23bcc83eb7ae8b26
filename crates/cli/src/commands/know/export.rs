//! The command `consort know export`: prints all knowledge as JSON or Markdown.

use std::path::Path;

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Scope;
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
use crate::world::OpenWorld;
use crate::world::World;

pub(super) fn run(world: &World, args: &ScopeArgs, is_markdown: bool, to: Option<&Path>) -> CommandResult {
    let mut opened = world.open()?;
    let scope = args.of(&opened);
    file::take_in(&mut opened, &scope);
    let (all, now) = (all(&mut opened, &scope)?, opened.app.host().now());
    if let Some(dir) = to {
        let files = markdown::files(&all);
        for (path, page) in &files {
            TheirFile::OfUser(dir.join(path)).write(page.as_bytes(), &opened.pending)?;
        }
        if args.json {
            let written = json!({ "directory": dir, "files": files.len() });
            return envelope::one(world, now, "written", &written);
        }
        return world.out.line(format!(
            "Wrote {} to {}",
            text::counted_noun(files.len(), "file"),
            dir.display()
        ));
    }
    if args.json {
        return envelope::list(world, now, &all.iter().map(Known::item).collect::<Vec<_>>());
    }
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
    // Agents wrote the text, and it may go to a terminal.
    world.out.text(text::printable(&page))
}

fn all(opened: &mut OpenWorld, scope: &Scope) -> Result<Vec<Known>, CommandError> {
    let index = opened.app.knowledge()?;
    let mut all = Vec::new();
    for kind in Kind::ALL {
        index.each(scope, kind, &mut |row| all.push(row.decode()))?;
    }
    Ok(all)
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
    let shown = [known.kind.key_field(), known.kind.fields()[1].name];
    for (name, value) in known.fields.iter().filter(|(name, _)| !shown.contains(&name.as_str())) {
        let shown = match value {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        section.push_str(&format!("- {name}: {shown}\n"));
    }
    section
}
