//! The command `consort agent leave`: unregisters an agent until it joins again.

use consort_core::presence::Caller;
use consort_core::presence::LeaveReason;
use consort_core::presence::PresenceError;
use consort_core::text;

use crate::error::CommandResult;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent to send away (the person only)
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    if let (Some(name), Caller::Person | Caller::Anonymous(_)) = (&args.agent, opened.caller()?) {
        let what = format!("send {} away and free what it has reserved", text::foreign(name, 50));
        person::confirmed_caller(&mut opened.app, &what)?;
    }
    let (agent, actor) = opened.subject(args.agent.as_deref())?;
    let outcome =
        opened.app.leave(&agent.session, LeaveReason::Asked, actor)?.ok_or(PresenceError::NotRegistered)?;
    if args.json {
        return world.out.one(&mut opened.app, "agent", &outcome);
    }
    let is_cli = consort_agents::ALL.iter().any(|cli| cli.kind() == agent.kind);
    let join = match is_cli {
        true => "consort agent join".to_owned(),
        false => format!("consort agent join --pid $$ --kind {}", text::shell_quoted(&agent.kind)),
    };
    world.out.line(format!("{} left. `{join}` in its session brings it back.", outcome.name))
}
