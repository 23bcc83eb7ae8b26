//! The commands `consort claims` and `consort reservations`: list what is claimed or
//! reserved, and by whom.

use consort_core::claims::HoldView;
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

/// All that is held: claims, what was edited lately, and reservations.
pub(crate) fn claims(world: &World, args: &Args) -> CommandResult {
    run(world, args, |_| true, true)
}

pub(crate) fn reservations(world: &World, args: &Args) -> CommandResult {
    run(world, args, |seen| seen.hold.strength != Strength::Advisory, false)
}

fn run(
    world: &World,
    args: &Args,
    is_meant: impl Fn(&HoldView) -> bool,
    with_touched: bool,
) -> CommandResult {
    let mut opened = world.open()?;
    let caller = caller_facts(&opened.app);
    let project = (!args.all).then(|| opened.project.id.clone());
    let lasts = if with_touched { opened.config.auto_claims_last() } else { 0 };
    let mut outcome = opened.app.holds(&caller, project.as_ref(), lasts)?;
    outcome.holds.retain(is_meant);
    if args.json {
        return world.out.json(&outcome);
    }
    if outcome.holds.is_empty() && outcome.touched.is_empty() {
        return world.out.line("Nothing is held.");
    }
    for (title, strength) in [
        ("Reserved:", Strength::Blocking),
        ("Claimed:", Strength::Advisory),
        ("Open to everyone by the person's word:", Strength::Overridden),
    ] {
        let holds = outcome.holds.iter().filter(|seen| seen.hold.strength == strength).collect::<Vec<_>>();
        if !holds.is_empty() {
            world.out.heading(title, "")?;
        }
        for seen in holds {
            world.out.line(format!("  {}", describe(seen, outcome.at)))?;
        }
    }
    if !outcome.touched.is_empty() {
        world.out.heading("Edited lately:", "")?;
    }
    for seen in &outcome.touched {
        let who = if seen.yours { "you" } else { seen.name.as_str() };
        let age = text::ago(outcome.at.since(seen.touch.at));
        world.out.line(format!("  {}  {who}, {age}", text::foreign(&seen.touch.path, 120)))?;
    }
    Ok(())
}
