//! The command `consort holds restore`: gives a file back as its holder wrote it last.

use std::io::IsTerminal as _;

use consort_core::claims::RestoreMode;
use consort_core::claims::RestoreOutcome;
use consort_core::text;

use crate::connect::agree;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file that you have reserved and that another has changed
    path: String,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    let mut outcome = opened.app.restore(&caller, &world.cwd, &args.path, RestoreMode::Look)?;
    let is_as_kept = outcome.before.as_deref() == Some(&outcome.after);
    if !args.json {
        show(world, &outcome, is_as_kept)?;
    }
    // An agent has nobody to ask, and restores its own work.
    let is_asked = !args.yes && !args.json && std::io::stdin().is_terminal();
    if !args.dry_run && !is_as_kept {
        if is_asked && !agree(false, "Restore it?")? {
            return Err(CommandError::Told);
        }
        let over = outcome.checksum_before();
        outcome = opened.app.restore(&caller, &world.cwd, &args.path, RestoreMode::Do { over })?;
    }
    if args.json {
        return world.out.one(&mut opened.app, "restore", &json(&outcome));
    }
    if outcome.restored {
        world.out.line(format!("Restored {}", text::foreign(&outcome.path, 200)))?;
    }
    if let Some(name) = &outcome.replaced {
        let place = world.paths.data.join("kept").join(name);
        output::note(format_args!("What was there is kept for a day: {}", place.display()));
    }
    Ok(())
}

fn show(world: &World, outcome: &RestoreOutcome, is_as_kept: bool) -> CommandResult {
    let path = text::foreign(&outcome.path, 200);
    let age = text::ago(outcome.at.since(outcome.kept_at));
    if is_as_kept {
        return world.out.line(format!("{path} is as {} wrote it {age}.", outcome.by));
    }
    world.out.line(format!("{path} as {} wrote it {age}:", outcome.by))?;
    difference(outcome).lines().try_for_each(|line| world.out.line(text::printable(line)))
}

/// Formats the change as a unified diff.
fn difference(outcome: &RestoreOutcome) -> String {
    let before = outcome.before.as_deref().unwrap_or_default();
    let (Ok(before), Ok(after)) = (str::from_utf8(before), str::from_utf8(&outcome.after)) else {
        return "Binary files differ".into();
    };
    let old = if outcome.before.is_some() { outcome.path.as_str() } else { "/dev/null" };
    similar::TextDiff::from_lines(before, after).unified_diff().header(old, &outcome.path).to_string()
}

fn json(outcome: &RestoreOutcome) -> serde_json::Value {
    serde_json::json!({
        "path": outcome.path,
        "by": outcome.by,
        "kept_at": outcome.kept_at,
        "diff": difference(outcome),
        "restored": outcome.restored,
        "replaced": outcome.replaced,
    })
}
