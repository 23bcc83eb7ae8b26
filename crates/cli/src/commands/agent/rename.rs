//! The command `consort agent rename`: changes an agent's name.

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The new name
    name: String,
    /// The agent to rename (the person only)
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let (agent, actor) = opened.subject(args.agent.as_deref())?;
    let outcome = opened.app.rename(&agent.session, &args.name, actor)?;
    if args.json {
        return world.out.one(&mut opened.app, "agent", &serde_json::json!({ "name": outcome.to, "was": outcome.from, "session": agent.session, "cli": agent.kind, "machine": agent.location.machine }));
    }
    world.out.line(format!("{} is now {}.", outcome.from, outcome.to))
}
