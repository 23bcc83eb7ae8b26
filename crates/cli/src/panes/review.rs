//! Keeps what a reviewer needs of an agent that has finished, where that was asked for.

use consort_core::App;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::ReviewMaterial;
use consort_core::presence::AgentName;
use consort_core::secrets::redacted;

use crate::config;
use crate::error::CommandError;
use crate::world::World;

/// Keeps its prompt and its diff.
pub(super) fn gather(
    world: &World,
    app: &mut App,
    subject: &PaneSubject,
    name: &AgentName,
) -> Result<(), CommandError> {
    let record = subject.record.as_ref();
    let Some((number, opened)) = record.and_then(|record| record.number.zip(record.opened.as_ref())) else {
        return Ok(());
    };
    let Some(base) = &opened.base else { return Ok(()) };
    if opened.is_reviewed || is_asked_by_task(world, app, subject)? {
        let diff = redacted(&consort_host::diff_since(&opened.cwd, base).unwrap_or_default());
        let material = ReviewMaterial { name: name.to_string(), prompt: opened.prompt.clone(), diff };
        app.keep_review(number, &material)?;
    }
    Ok(())
}

/// Whether agents that have a task are to be reviewed, and this one has one.
fn is_asked_by_task(world: &World, app: &mut App, subject: &PaneSubject) -> Result<bool, CommandError> {
    let Some(agent) = &subject.agent else { return Ok(false) };
    let acceptances = app.acceptances().unwrap_or_default();
    let config = config::load(&world.paths, &agent.location.worktree, &world.overrides, &acceptances);
    let is_wanted = config.is_ok_and(|config| config.resolved.get("monitor.review") == "tasks");
    Ok(is_wanted && app.claimed_task(&agent.session)?.is_some())
}
