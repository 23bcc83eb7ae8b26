//! The command `consort holds list`: lists what is reserved, and by whom.

use consort_core::claims::Strength;
use consort_core::text;

use crate::error::CommandResult;
use crate::render::holds::describe;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Every project
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists all holds, enforced or advisory, and the files that were edited lately.
pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let caller = caller_facts(&opened.app);
    let project = (!args.all).then(|| opened.project.id.clone());
    let lasts = opened.config.auto_claim_duration();
    let outcome = opened.app.holds(&caller, project.as_ref(), lasts)?;
    if args.json {
        return world.out.json(&{
            let mut json = opened.app.items(&outcome.holds);
            json["edited"] = opened.app.wrap_one("edited", &outcome.touched)["edited"].take();
            json
        });
    }
    if outcome.holds.is_empty() && outcome.touched.is_empty() {
        return world.out.line("Nothing is reserved.");
    }
    for (title, strength) in [
        ("Reserved:", Strength::Blocking),
        ("Advisory:", Strength::Advisory),
        ("Overridden, everyone may write:", Strength::Overridden),
    ] {
        let holds = outcome.holds.iter().filter(|seen| seen.hold.strength == strength).collect::<Vec<_>>();
        if !holds.is_empty() {
            world.out.heading(title, "")?;
        }
        for seen in holds {
            world.out.line(format!("  {}", describe(seen, Some(&opened.project.id), outcome.at)))?;
        }
    }
    if !outcome.touched.is_empty() {
        world.out.heading("Edited lately:", "")?;
    }
    for seen in &outcome.touched {
        let who = if seen.yours { "you" } else { seen.name.as_str() };
        let age = text::ago(outcome.at.since(seen.last_write.at));
        world.out.line(format!("  {}  {who}, {age}", text::foreign(&seen.last_write.path, 120)))?;
    }
    Ok(())
}
