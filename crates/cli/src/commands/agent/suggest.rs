//! The command `consort agent suggest`: finds the agent that is best placed for a task.

use consort_core::convergence::Candidate;
use consort_core::messages::MessageType;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::presence::Caller;
use consort_host::env;

use crate::error::CommandResult;
use crate::person;
use crate::wake;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The task
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

fn show(world: &World, candidates: &[Candidate]) -> CommandResult {
    candidates.iter().try_for_each(|one| {
        world.out.heading(&one.name, &format!("  {:.2}  {}", one.score, one.reasons.join("; ")))
    })
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let to = match &args.to {
        Some(name) => name.clone(),
        None => {
            let caller = match opened.caller()? {
                Caller::Agent(agent) => Some(agent.session),
                Caller::Person | Caller::Anonymous(_) => None,
            };
            let candidates = opened.app.delegation_candidates(
                &args.task,
                &opened.project.id,
                caller.as_ref(),
                &env::get,
            )?;
            if !args.send {
                return match args.json {
                    true => world.out.items(&mut opened.app, &candidates),
                    false => show(world, &candidates),
                };
            }
            candidates[0].name.clone()
        }
    };
    let request = SendRequest {
        caller: person::acting_caller(&mut opened.app)?,
        to: Recipients::Named(vec![to]),
        repository: Some(opened.place.repository.clone()),
        kind: MessageType::Delegate,
        text: args.task.clone(),
        ..SendRequest::default()
    };
    let outcome = opened.app.send(&request)?;
    let woken = wake::wake(world, &mut opened.app, &request, &outcome);
    if args.json {
        return world.out.one(&mut opened.app, "message", &outcome);
    }
    world.out.line(format!("Proposed to {} as message {}.", outcome.to[0].name, outcome.message_name()))?;
    woken.iter().try_for_each(|line| world.out.line(line))
}
