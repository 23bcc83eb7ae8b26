//! Wakes the idle recipients of a message that a command has sent, through their CLI's
//! own channel.

use std::path::Path;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::messages::SendOutcome;
use consort_core::messages::SendRequest;
use consort_core::presence::Activity;
use consort_core::presence::Agent;
use consort_core::presence::Status;

use crate::connect;
use crate::panes;
use crate::world::World;
use consort_core::App;

/// Longest time that a CLI's own program may take to wake a session.
const PATIENCE: Duration = Duration::from_secs(5);

/// Wakes an idle agent by its CLI's own channel, if it has one, and tells whether that worked.
pub(crate) fn natively(config_dir: &Path, cli: &dyn AgentCli, agent: &Agent, activity: &Activity) -> bool {
    if cli.wake(config_dir, agent, activity) {
        return true;
    }
    // This begins a turn, in which the agent's hooks deliver the mail.
    let arguments = cli.wake_arguments(&agent.session, &panes::typing::wake_line(1));
    let command =
        arguments.filter(|_| activity.status == Status::Idle).zip(connect::find_program(cli.program()));
    command.is_some_and(|(arguments, program)| consort_host::succeeds(&program, &arguments, PATIENCE))
}

/// Wakes the idle recipients that can be woken, and returns a line about each, also about those that stay
/// idle. The message is sent whatever happens here.
pub(crate) fn wake(
    world: &World,
    app: &mut App,
    request: &SendRequest,
    outcome: &SendOutcome,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (agent, activity) in app.idle_recipients(request, outcome).unwrap_or_default() {
        let Some(cli) = consort_agents::find(&agent.kind) else { continue };
        if natively(&world.config_dir(cli), cli, &agent, &activity) {
            lines.push(format!("{} was idle and is being woken.", agent.name));
        } else if let Some(told) = panes::typing::wake_by_typing(world, app, &agent) {
            lines.push(told);
        } else if activity.status == Status::Idle {
            lines.push(format!("{} is idle and sees it with its next prompt.", agent.name));
        }
    }
    lines
}
