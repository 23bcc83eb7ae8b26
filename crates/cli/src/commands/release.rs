//! The command `consort release`: gives up what you have reserved.

use consort_core::claims::ClaimError;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::presence::NotAllowed;

use crate::error::CommandResult;
use crate::person;
use crate::render::holds::shown;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Paths to give up; without any, all that you have reserved
    path: Vec<String>,
    /// Also what another has reserved, once it was contested for long enough
    #[arg(long, requires = "path")]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let what =
        if args.path.is_empty() { ReleaseTarget::Mine } else { ReleaseTarget::These(args.path.clone()) };
    let mut request = ReleaseRequest {
        caller: person::acting_caller(&mut opened.app)?,
        cwd: world.cwd.clone(),
        what,
        strength: None,
        force: args.force,
    };
    let outcome = match opened.app.release(&request) {
        Err(ClaimError::NotAllowed(NotAllowed::NotConfirmed)) => {
            request.caller =
                person::confirmed_caller(&mut opened.app, "take away what others have reserved")?;
            opened.app.release(&request)?
        }
        outcome => outcome?,
    };
    if args.json {
        return world.out.items(&mut opened.app, &outcome.released);
    }
    if outcome.released.is_empty() {
        return world.out.line("You have reserved nothing.");
    }
    // A path that was both claimed and reserved is printed once.
    let mut names: Vec<String> = outcome.released.iter().map(shown).collect();
    names.dedup();
    names.iter().try_for_each(|name| world.out.line(format!("Released {name}.")))?;
    Ok(())
}
