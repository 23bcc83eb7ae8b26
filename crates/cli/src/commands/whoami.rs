//! The command `consort whoami`: says who is calling.

use consort_core::explain::Explain as _;
use consort_core::presence::Caller;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let caller = opened.caller()?;
    if args.json {
        return world.out.one(&mut opened.app, "caller", &caller);
    }
    world.out.line(match &caller {
        Caller::Agent(agent) => format!("{} ({} in {})", agent.name, agent.kind, agent.project.name),
        Caller::Anonymous(why) => {
            let hint = why.hints().into_iter().next().unwrap_or_default();
            format!("{why} ({hint})")
        }
        Caller::Person => "you, the person at the keyboard".to_owned(),
    })
}
