//! The command `consort know import`: takes in knowledge from a file: ours, or a memory
//! server's.

use std::path::Path;

use consort_core::knowledge::MOST_ACTIONS;
use consort_core::knowledge::Scope;
use consort_core::knowledge::imported;
use consort_core::text;
use serde_json::Value;

use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::exit::ExitCode;
use crate::knowledge::ScopeArgs;
use crate::knowledge::file;
use crate::knowledge::record_all;
use crate::person;
use crate::world::Opened;
use crate::world::World;

pub(super) fn run(world: &World, path: &Path, scope: &ScopeArgs) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    person::known(&mut opened.app)?;
    let scope = scope.of(&opened);
    if path.extension().is_none_or(|kind| kind != "yjs") {
        return import_lines(world, &mut opened, &scope, path).map(|()| ExitCode::SUCCESS);
    }
    let mut index = opened.app.knowledge()?;
    let count = file::ingest_file(&mut opened, &mut *index, &scope, &TheirFile::OfUser(path.to_owned()))?;
    world.out.line(format!("{} new.", consort_core::text::count(count, "word")))?;
    Ok(ExitCode::SUCCESS)
}

/// Our own JSON, one thing a line, or what the official memory server keeps.
fn import_lines(world: &World, opened: &mut Opened, scope: &Scope, file: &Path) -> CommandResult {
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
