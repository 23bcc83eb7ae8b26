//! The command `consort holds contest`: asks another agent to give up what it holds.

use consort_core::Timestamp;
use consort_core::journal::Actor;
use consort_core::text;

use crate::error::CommandResult;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Paths that another has reserved and you need
    resource: String,
    /// Why: the holder reads it
    #[arg(long)]
    reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    let hold = opened.app.contest(&caller, &world.cwd, &args.resource, args.reason.as_deref())?;
    if args.json {
        return world.out.one(&mut opened.app, "reservation", &hold);
    }
    let (resource, quoted) = (hold.resource.shown(), text::shell_quoted(&hold.resource.shown()));
    if hold.holder == Actor::Person {
        return world.out.line(format!("Contested {resource}; the person was asked, and decides."));
    }
    let left = hold
        .contest
        .map_or(0, |contest| (contest.until.since(opened.app.host().now()) + 999) / Timestamp::SECOND);
    world.out.line(format!(
        "Contested {resource}; {} was asked. Without an answer, in {left} s: consort release --force {quoted}",
        hold.label
    ))
}
