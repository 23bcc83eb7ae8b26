//! Starts a reviewer that only reads: it gets the task and the changes, and the person and the agent that did
//! the work hear its findings.

use std::fs;

use consort_core::dispatch::Review;
use consort_core::dispatch::ReviewOf;
use consort_core::dispatch::RunOptions;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::Safety;
use consort_core::dispatch::read_review;
use consort_core::dispatch::reviewer_prompt;
use consort_core::presence::CallerFacts;
use consort_core::secrets::redacted;
use serde_json::Value;
use serde_json::json;

use super::RunDir;
use super::attempt::Job;
use super::role;
use super::start;
use super::start::RunWanted;
use crate::error::CommandError;
use crate::world::OpenWorld;
use crate::world::World;

/// The role that reviews are done in.
const ROLE: &str = "reviewer";

/// Starts a review of the work of a run that is about to end. A failure to start it changes nothing for the
/// run.
pub(super) fn ask(job: &mut Job<'_>, diff: Option<String>) {
    let diff = diff.unwrap_or_default();
    if diff.trim().is_empty() {
        job.note("nothing to review: it changed nothing");
        return;
    }
    let task = fs::read_to_string(job.dir.prompt()).ok();
    let (of, cli) = (ReviewOf::Run(job.run.id), job.run.spec.cli.as_str());
    let asked = job
        .world
        .open()
        .and_then(|mut opened| start(job.world, &mut opened, of, Some(cli), task.as_deref(), &diff));
    match asked {
        Ok(run) => job.note(format!("run {} reviews it", run.number)),
        Err(error) => job.note(format!("not reviewed: {}", error.in_a_line())),
    }
}

/// Starts a reviewer, with the CLI that its role names, else with the one that did the work.
pub(crate) fn start(
    world: &World,
    opened: &mut OpenWorld,
    of: ReviewOf,
    cli: Option<&str>,
    task: Option<&str>,
    diff: &str,
) -> Result<RunRecord, CommandError> {
    let role = role::named(world, opened, Some(ROLE))?;
    let cli = cli.filter(|_| role.cli.is_none()).map(str::to_owned);
    let wanted = RunWanted {
        task: reviewer_prompt(task.map(redacted).as_deref(), &redacted(diff)),
        // A run that Consort asks for itself only reads, whatever the role says.
        words: RunOptions { cli, safety: Some(Safety::Suggest), ..RunOptions::default() },
        reviews: Some(of),
        ..RunWanted::default()
    };
    start::start(world, opened, &CallerFacts::default(), &role, &wanted)
}

/// Finds the latest run that reviews this one.
pub(crate) fn of(opened: &mut OpenWorld, run: &RunRecord) -> Result<Option<RunRecord>, CommandError> {
    let project = opened.project.id.clone();
    let is_it = |other: &RunRecord| other.spec.reviews == Some(ReviewOf::Run(run.id));
    Ok(opened.app.runs(&project, 1, &is_it)?.into_iter().next())
}

/// Reads the findings of a reviewer, as JSON.
pub(crate) fn found(world: &World, run: &RunRecord) -> Value {
    let result = RunDir::of(&world.paths, run.id).read_result();
    let review: Option<Review> = read_review(&result);
    json!({ "run": run.number, "state": run.state.as_str(), "found": review, "text": result })
}
