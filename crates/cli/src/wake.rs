//! Wakes the idle recipients of a message that a command has sent, through their CLI's
//! own channel.

use consort_core::messages::SendOutcome;
use consort_core::messages::SendRequest;
use consort_core::presence::Status;

use crate::panes;
use crate::world::World;
use consort_core::App;

/// Wakes who can be woken; says who sleeps on. The message is sent whatever
/// happens here.
pub(crate) fn wake(
    world: &World,
    app: &mut App,
    request: &SendRequest,
    outcome: &SendOutcome,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (agent, activity) in app.idle_recipients(request, outcome).unwrap_or_default() {
        let Some(cli) = consort_agents::find(&agent.kind) else { continue };
        if cli.wake(&world.config_dir(cli), &agent, &activity) {
            lines.push(format!("{} was idle and is being woken.", agent.name));
        } else if let Some(told) = panes::typing::wake_by_typing(world, app, &agent) {
            lines.push(told);
        } else if activity.status == Status::Idle {
            lines.push(format!("{} is idle and sees it with its next prompt.", agent.name));
        }
    }
    lines
}
