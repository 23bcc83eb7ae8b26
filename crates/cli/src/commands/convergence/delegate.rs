//! `consort delegate`

use consort_core::messages::MessageType;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::presence::Caller;

use crate::error::CommandResult;
use crate::wake;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done
    task: String,
    /// Send it to the one who is best placed
    #[arg(long)]
    send: bool,
    /// Send it to this agent
    #[arg(long, value_name = "AGENT", conflicts_with = "send")]
    to: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut room = world.open()?;
    let caller = match room.caller()? {
        Caller::Agent(agent) => Some(agent.session),
        Caller::Person | Caller::Stranger => None,
    };
    let environment = consort_host::env::get;
    let candidates = room.app.candidates(&args.task, &room.project.id, caller.as_ref(), &environment)?;
    let to = args.to.clone().or_else(|| args.send.then(|| candidates[0].name.clone()));
    let Some(to) = to else {
        if args.json {
            return candidates.iter().try_for_each(|one| world.out.json(one));
        }
        for one in &candidates {
            world.out.heading(&one.name, &format!("  {:.2}  {}", one.score, one.reasons.join("; ")))?;
        }
        return Ok(());
    };
    let request = SendRequest {
        caller: caller_facts(room.app.host()),
        to: Recipients::Named(vec![to]),
        kind: MessageType::Delegate,
        text: args.task.clone(),
        ..SendRequest::default()
    };
    let outcome = room.app.send(&request)?;
    let woken = wake::wake(world, &mut room.app, &request, &outcome);
    if args.json {
        return world.out.json(&outcome);
    }
    world.out.line(format!("Proposed to {} as message #{}.", outcome.to[0].name, outcome.number))?;
    woken.iter().try_for_each(|line| world.out.line(line))
}
