//! The command `consort claim`: takes an advisory hold, which tells others what you
//! work on.

use consort_core::claims::Strength;

use super::reserve::Terms;
use super::reserve::hold;
use crate::error::CommandResult;
use crate::render::holds::shown;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What you work on: `file:src/auth.py`, `topic:auth`, `port:3000`, any words
    #[arg(required = true)]
    resource: Vec<String>,
    #[command(flatten)]
    terms: Terms,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let outcome = hold(world, &mut opened, &args.resource, Strength::Advisory, &args.terms)?;
    if args.terms.json {
        return world.out.json(&outcome);
    }
    for hold in &outcome.holds {
        world.out.line(format!("Claimed `{}` (#{}).", shown(hold), hold.generation))?;
    }
    Ok(())
}
