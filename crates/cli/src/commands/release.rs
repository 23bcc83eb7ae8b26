//! The commands `consort release` and `consort unreserve`: give up what you hold.

use consort_core::claims::ClaimError;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::Strength;
use consort_core::presence::NotAllowed;

use crate::error::CommandResult;
use crate::person;
use crate::render::holds::shown;
use crate::world::World;

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
    let mut opened = world.open()?;
    let what = if args.resource.is_empty() {
        ReleaseTarget::Mine
    } else {
        ReleaseTarget::These(args.resource.clone())
    };
    let mut request = ReleaseRequest {
        caller: person::acting(&mut opened.app)?,
        cwd: world.cwd.clone(),
        what,
        strength,
        force: args.force,
    };
    let outcome = match opened.app.release(&request) {
        Err(ClaimError::NotAllowed(NotAllowed::NotConfirmed)) => {
            request.caller = person::confirmed(&mut opened.app, "take away what others have reserved")?;
            opened.app.release(&request)?
        }
        outcome => outcome?,
    };
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
