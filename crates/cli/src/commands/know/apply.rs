//! The command `consort know apply`: records a batch of knowledge actions from a JSON file, as
//! a whole or not at all.

use std::io::Read as _;
use std::path::PathBuf;

use consort_core::knowledge::Scope;
use serde_json::Value;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge;
use crate::knowledge::Manner;
use crate::knowledge::ScopeArgs;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file with `{"actions": [["record-principle", {…}], …]}`; `-` reads standard input
    file: PathBuf,
    /// Record it only once under this
    #[arg(long)]
    key: Option<String>,
    /// Record it though something looks like a secret (the person only)
    #[arg(long)]
    even_so: bool,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

pub(super) fn run(world: &World, args: &Args) -> CommandResult {
    let text = if args.file.as_os_str() == "-" {
        let mut text = String::new();
        let read = std::io::stdin().lock().read_to_string(&mut text);
        read.map(|_| text)
    } else {
        std::fs::read_to_string(&args.file)
    };
    let text = text.map_err(|error| CommandError::file("cannot read", &args.file, error))?;
    let batch: Value = serde_json::from_str(&text).map_err(|error| {
        CommandError::user(
            format!("the batch is no JSON: {error}"),
            "a batch is `{\"actions\": [[\"record-principle\", {\"name\": …}], …]}`",
        )
    })?;
    // A list of actions without the object around it will do.
    let actions = batch.get("actions").unwrap_or(&batch).clone();
    let mut opened = world.open()?;
    let named = batch.get("projectId").or_else(|| batch.get("project")).and_then(Value::as_str);
    let scope = match args.scope.of(&opened) {
        Scope::Project(_) if named.is_some_and(|named| named != opened.project.name) => {
            Scope::Project(opened.app.find_project(named.unwrap_or_default())?.id)
        }
        scope => scope,
    };
    let manner = Manner { key: args.key.clone(), even_so: args.even_so, json: args.scope.json };
    knowledge::act(world, &mut opened, scope, actions, manner)
}
