//! Starts a review of the work of an agent that has finished, if one is wanted.

use consort_core::App;
use consort_core::dispatch::ReviewOf;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::ReviewMaterial;
use consort_core::presence::AgentName;
use consort_core::secrets::redacted;

use crate::config;
use crate::error::CommandError;
use crate::runs;
use crate::world::World;

/// Keeps the agent's prompt and diff, and starts a reviewer on them, once for each different result.
pub(super) fn ask(
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
        if app.review_material(number).as_ref() == Some(&material) || material.diff.trim().is_empty() {
            return Ok(());
        }
        app.keep_reviewed(number, &material)?;
        let Some(agent) = &subject.agent else { return Ok(()) };
        let there = World { cwd: opened.cwd.clone(), ..World::new(world.overrides.clone())? };
        let (of, cli) = (ReviewOf::Agent(agent.session.clone()), Some(subject.cli()));
        let mut opened = there.open()?;
        runs::review::start(&there, &mut opened, of, cli, material.prompt.as_deref(), &material.diff)?;
    }
    Ok(())
}

/// Tells whether the settings want agents with a task reviewed, and this agent has a task.
fn is_asked_by_task(world: &World, app: &mut App, subject: &PaneSubject) -> Result<bool, CommandError> {
    let Some(agent) = &subject.agent else { return Ok(false) };
    let acceptances = app.acceptances().unwrap_or_default();
    let config = config::load(&world.paths, &agent.location.worktree, &world.overrides, &acceptances);
    let is_wanted = config.is_ok_and(|config| config.resolved.get("monitor.review") == "tasks");
    Ok(is_wanted && app.claimed_task(&agent.session)?.is_some())
}
