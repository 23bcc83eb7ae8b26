//! Carries out an agent's MCP calls about runs: starts, lists, shows and stops them.

use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use consort_core::call_context::RunWish;
use consort_core::call_context::RunsQuestion;
use consort_core::call_context::ServiceAnswer;
use consort_core::call_context::ServiceProblem;
use consort_core::dispatch::RunOptions;
use consort_core::dispatch::RunRecord;
use consort_core::journal::Actor;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use serde_json::json;

use crate::error::CommandError;
use crate::render::runs as render;
use crate::runs::RunDir;
use crate::runs::health;
use crate::runs::orphans;
use crate::runs::role;
use crate::runs::start;
use crate::runs::start::RunWanted;
use crate::served_panes::problem;
use crate::served_panes::world;
use crate::world::OpenWorld;
use crate::world::World;

/// Interval between two looks at a run.
const TICK: Duration = Duration::from_millis(100);

/// Most runs that are listed.
const FEW: usize = 10;

pub(crate) fn run(caller: &CallerFacts, cwd: &Path, wish: &RunWish) -> Result<ServiceAnswer, ServiceProblem> {
    let world = world(cwd)?;
    let started = || -> Result<ServiceAnswer, CommandError> {
        let mut opened = world.open()?;
        let role = role::named(&world, &opened, wish.role.as_deref())?;
        let wanted = RunWanted {
            task: wish.task.clone(),
            words: RunOptions {
                cli: wish.cli.clone(),
                safety: wish.safety,
                has_worktree: wish.has_worktree,
                ..RunOptions::default()
            },
            max_tools: wish.max_tools,
            is_reviewed: wish.is_reviewed,
            ..RunWanted::default()
        };
        let run = match &wish.takes {
            None => start::start(&world, &mut opened, caller, &role, &wanted)?,
            Some(task) => start::start_with_task(&world, &mut opened, caller, &role, &wanted, (task, None))?,
        };
        let run = wait_for(&world, &mut opened, run, wish.wait)?;
        Ok(told(&world, &opened, &run))
    };
    started().map_err(problem)
}

pub(crate) fn runs(
    caller: &CallerFacts,
    cwd: &Path,
    question: &RunsQuestion,
) -> Result<ServiceAnswer, ServiceProblem> {
    let world = world(cwd)?;
    let told = || -> Result<ServiceAnswer, CommandError> {
        let mut opened = world.open()?;
        orphans::reap(&world.paths, &mut opened.app)?;
        let project = opened.project.id.clone();
        let Some(number) = question.run else {
            let Caller::Agent(agent) = opened.app.caller(caller)? else {
                return Ok(ServiceAnswer { text: "You have no runs.".into(), data: json!({ "items": [] }) });
            };
            let own = Actor::Agent(agent.session.clone());
            let runs = opened.app.runs(&project, FEW, &|run: &RunRecord| run.by == own)?;
            let now = opened.app.host().now();
            let lines: Vec<String> =
                runs.iter().map(|run| render::line(run, health(&world.paths, run, now), now)).collect();
            let items: Vec<_> = runs.iter().map(|run| render::item(&opened.app, run)).collect();
            let text = if lines.is_empty() { "You have no runs.".to_owned() } else { lines.join("\n") };
            return Ok(ServiceAnswer { text, data: json!({ "items": items }) });
        };
        let run = opened.app.run(&project, &number.to_string())?;
        if question.stops && !run.state.has_ended() {
            opened.app.may_stop_run(caller, &run)?;
            let dir = RunDir::of(&world.paths, run.id);
            dir.ask_to_stop(false).map_err(|error| CommandError::file("cannot write", &dir.path, error))?;
        }
        let wait = if question.stops { Some(Duration::from_secs(10)) } else { question.wait };
        let run = wait_for(&world, &mut opened, run, wait)?;
        Ok(self::told(&world, &opened, &run))
    };
    told().map_err(problem)
}

/// Waits until the run has ended, or for so long, and returns the run as it is then.
fn wait_for(
    world: &World,
    opened: &mut OpenWorld,
    mut run: RunRecord,
    wait: Option<Duration>,
) -> Result<RunRecord, CommandError> {
    let end = Instant::now() + wait.unwrap_or_default();
    while !run.state.has_ended() && Instant::now() < end {
        std::thread::sleep(TICK);
        orphans::reap(&world.paths, &mut opened.app)?;
        run = opened.app.run_by_id(run.id)?;
    }
    Ok(run)
}

fn told(world: &World, opened: &OpenWorld, run: &RunRecord) -> ServiceAnswer {
    let mut data = render::item(&opened.app, run);
    let text = match run.state.has_ended() {
        true => {
            data["result"] = RunDir::of(&world.paths, run.id).read_result().into();
            render::summary(run)
        }
        false => {
            let (number, name) = (run.number, &run.spec.name);
            format!(
                "Run {number} ({name}, {}) is {}. You hear by message when it ends; `runs` with `run: {number}` and `wait` waits.",
                run.spec.role,
                run.state.words()
            )
        }
    };
    ServiceAnswer { text, data }
}
