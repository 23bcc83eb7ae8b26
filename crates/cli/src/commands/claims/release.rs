//! `consort release` and `consort unreserve`

use consort_core::claims::ReleaseRequest;
use consort_core::claims::Strength;
use consort_core::claims::Which;

use super::shown;
use crate::error::CommandResult;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to let go; without it, all that you hold
    resource: Vec<String>,
    /// Also what another holds, once it was contested for long enough
    #[arg(long, requires = "resource")]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `strength` is the kind of hold it is about; `None` is any.
pub(crate) fn run(world: &World, args: &Args, strength: Option<Strength>) -> CommandResult {
    let mut room = world.open()?;
    let what = if args.resource.is_empty() { Which::Mine } else { Which::These(args.resource.clone()) };
    let request = ReleaseRequest {
        caller: caller_facts(&room.app),
        cwd: world.cwd.clone(),
        what,
        strength,
        force: args.force,
    };
    let outcome = room.app.release(&request)?;
    if args.json {
        return world.out.json(&outcome);
    }
    if outcome.released.is_empty() {
        return world.out.line("You hold nothing.");
    }
    for hold in &outcome.released {
        world.out.line(format!("Released {}.", shown(hold)))?;
    }
    Ok(())
}
