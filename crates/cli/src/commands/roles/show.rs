//! The command `consort roles show`: shows a role, and the source of each of its values.

use consort_core::dispatch::ROLE_KEYS;
use consort_core::dispatch::ResolvedRole;
use consort_core::dispatch::find_role;
use consort_core::text;
use serde_json::Value;

use super::may;
use crate::error::CommandResult;
use crate::output;
use crate::roles;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its name in `consort roles list`
    role: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let default = roles::default_safety(&opened.config);
    let roles = roles::load(&world.paths, &opened.place.worktree, default)?;
    let role = find_role(&roles, &args.role)?;
    if args.json {
        return world.out.one(&mut opened.app, "role", role);
    }
    let about = text::one_line(&role.role.description, 200);
    world.out.heading(&role.role.name, &format!(" ({}): {about}", may(&role.role, default)))?;
    let values = serde_json::to_value(&role.role).unwrap_or_default();
    for key in ROLE_KEYS.iter().filter(|key| !["description", "system_prompt"].contains(&key.name)) {
        let Some(source) = source(role, key.name) else { continue };
        let line = format!("  {:13} {}", key.name, shown(&values[key.name]));
        world.out.text(format!(
            "{} {}\n",
            text::printable(&format!("{line:34}")),
            world.out.style.dim(&format!("# {source}"))
        ))?;
    }
    if let Some(prompt) = &role.role.system_prompt {
        let source = source(role, "system_prompt").unwrap_or_default();
        world.out.text(format!("  system_prompt {}\n", world.out.style.dim(&format!("# {source}"))))?;
        for line in prompt.lines() {
            world.out.line(format!("    {line}").trim_end())?;
        }
    }
    roles::notes(std::slice::from_ref(role)).for_each(output::note);
    Ok(())
}

/// Returns the source of a value, if any file sets it.
fn source(role: &ResolvedRole, key: &str) -> Option<String> {
    let origin = role.sources.iter().find(|origin| origin.key == key)?;
    Some(text::one_line(&origin.source.to_string(), 200))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text::foreign(text, 60),
        Value::Array(words) => words.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Null => "-".into(),
        other => other.to_string(),
    }
}
