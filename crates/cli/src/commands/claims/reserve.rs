//! `consort reserve`

use consort_core::claims::Strength;

use super::Terms;
use super::hold;
use super::shown;
use crate::error::CommandResult;
use crate::out;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, directories (`src/auth/`) or globs (`'src/**/*.rs'`): all or none
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    terms: Terms,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let outcome = hold(world, &mut opened, &args.paths, Strength::Blocking, &args.terms)?;
    if args.terms.json {
        return world.out.json(&outcome);
    }
    for hold in &outcome.holds {
        world.out.line(format!("Reserved {} (#{}).", shown(hold), hold.generation))?;
    }
    match opened.config.get("claims.enforcement") {
        "block" => {}
        policy => {
            out::note(format_args!("Enforcement is `{policy}` here: others are not kept from writing."))
        }
    }
    Ok(())
}
