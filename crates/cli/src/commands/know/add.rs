//! The command `consort know add`: records one principle, pattern, decision, file or note
//! in the knowledge.

use clap::builder::PossibleValuesParser;
use consort_core::knowledge::FieldType;
use consort_core::knowledge::Kind;
use consort_core::knowledge::recording_action;
use consort_core::text;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge;
use crate::knowledge::Manner;
use crate::knowledge::ScopeArgs;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kind of record
    #[arg(value_parser = PossibleValuesParser::new(["principle", "pattern", "decision", "file", "note"]))]
    kind: String,
    /// Its name; for a file, its path
    name: String,
    /// Its text
    text: Option<String>,
    /// More of it: `confidence=0.9`, `tags=sync`, `locations=src/a.rs:12`
    #[arg(value_name = "FIELD=VALUE")]
    fields: Vec<String>,
    /// Record it though something looks like a secret (the person only)
    #[arg(long)]
    even_so: bool,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

pub(super) fn run(world: &World, args: &Args) -> CommandResult {
    let Some(kind) = Kind::named(&args.kind) else { return Ok(()) };
    let mut props = Map::new();
    let is_bare = args.text.is_none() && args.fields.is_empty();
    match kind {
        // A note needs no name: a single argument is its text.
        Kind::Note if is_bare => {
            drop(props.insert(kind.fields()[1].name.to_owned(), args.name.as_str().into()))
        }
        _ if is_bare => {
            let name = text::shell_quoted(&args.name);
            let hint = format!("consort know add {} {name} '…'", args.kind);
            return Err(CommandError::usage("the text is missing", vec![hint]));
        }
        _ => drop(props.insert(kind.key_field().to_owned(), args.name.as_str().into())),
    }
    // For an entity that is recorded already, a field may come in the place of the text; one that is misspelt,
    // or of another kind, is refused below.
    let names = || Kind::ALL.iter().flat_map(|kind| kind.fields()).map(|field| field.name);
    let is_field =
        |text: &&String| text.split_once('=').is_some_and(|(name, _)| text::nearest(name, names()).is_some());
    let text = args.text.iter().filter(|text| !is_field(text));
    props.extend(text.map(|text| (kind.fields()[1].name.to_owned(), Value::from(text.as_str()))));
    for field in args.text.iter().filter(is_field).chain(&args.fields) {
        let Some((name, value)) = field.split_once('=') else {
            return Err(CommandError::user(format!("`{field}` is no field"), "write it as `tags=sync`"));
        };
        match kind.field(name).map(|field| field.kind) {
            Some(FieldType::Texts) => {
                let members = props.entry(name).or_insert_with(|| json!([]));
                members.as_array_mut().into_iter().for_each(|members| members.push(value.into()));
            }
            Some(FieldType::Number(..)) => {
                let number = value.parse::<f64>().map_or_else(|_| Value::from(value), Value::from);
                props.insert(name.to_owned(), number);
            }
            _ => drop(props.insert(name.to_owned(), value.into())),
        }
    }
    let action = recording_action(kind);
    let mut opened = world.open()?;
    let scope = args.scope.of(&opened);
    knowledge::act(
        world,
        &mut opened,
        scope,
        json!([[action, props]]),
        Manner { even_so: args.even_so, json: args.scope.json, key: None },
    )
}
