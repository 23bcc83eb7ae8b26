//! The command `consort task list`: lists the tasks of a spec, and who has them.

use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::tasks::SpecRef;
use consort_core::tasks::TaskError;
use consort_core::tasks::TaskRecord;
use consort_core::tasks::TaskRequest;
use consort_core::tasks::TaskState;
use consort_core::tasks::TaskView;
use consort_core::text;

use super::request;
use crate::error::CommandResult;
use crate::output;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only those that can be claimed now
    #[arg(long)]
    ready: bool,
    /// The spec; without it, the one you joined with, or all that agents here have
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let wanted =
        TaskRequest { is_for_new: true, ..request(world, &mut opened, args.spec.as_ref(), None, None)? };
    let first = opened.app.tasks(&wanted);
    let outcomes = match first {
        Ok(outcome) => vec![outcome],
        // The person has joined with no spec: then every spec that agents here work on is listed.
        Err(error @ TaskError::NoSpec { .. }) => {
            let mut outcomes = Vec::new();
            for (spec, file) in opened.app.specs()? {
                if spec.project.as_ref().is_some_and(|id| *id != opened.project.id) {
                    continue;
                }
                // A spec whose file is gone does not hide the others.
                let request = request(world, &mut opened, Some(&file), None, None)?;
                match opened.app.tasks(&request) {
                    Ok(outcome) => outcomes.push(outcome),
                    Err(error) => output::note(format_args!("Warning: {error}")),
                }
            }
            if outcomes.is_empty() {
                return Err(error.into());
            }
            outcomes
        }
        Err(error) => return Err(error.into()),
    };
    let mut items = Vec::new();
    for mut outcome in outcomes {
        let all = outcome.tasks.len();
        if args.ready {
            outcome.tasks.retain(|task| task.ready);
        }
        let name = shown(&outcome.spec, &opened.place.worktree, &world.cwd);
        for error in &outcome.errors {
            output::note(format_args!("{name}:{}: {error}", error.line()));
        }
        if args.json {
            items.extend(outcome.items());
            continue;
        }
        if all == 0 {
            world.out.line(format!("{name}: no tasks found; a task line looks like `- [ ] T-1: …`"))?;
            continue;
        }
        world.out.heading(&name, &format!(": {} of {all} done", outcome.done))?;
        let widest = outcome.tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or(0);
        for task in &outcome.tasks {
            let (id, state) = (text::foreign(&task.id, 64), state(task, outcome.at));
            let title = text::one_line(task.title.as_deref().unwrap_or("(not in the spec)"), 80);
            world.out.line(format!("  {id:widest$}  {title}  [{state}]"))?;
        }
        if !outcome.idle.is_empty() {
            world.out.line(format!("Without a task: {}", outcome.idle.join(", ")))?;
        }
    }
    if args.json { world.out.items(&mut opened.app, &items) } else { Ok(()) }
}

fn state(task: &TaskView, now: Timestamp) -> String {
    match &task.record {
        Some(TaskRecord { state: TaskState::Done(worker), .. }) => {
            let notes = worker
                .words
                .as_ref()
                .map_or_else(String::new, |notes| format!(": {}", text::quoted(notes, 80)));
            format!("done by {}{notes}", worker.name)
        }
        Some(TaskRecord { state: TaskState::Claimed(worker), generation, .. }) => {
            let who = if task.yours { "you" } else { worker.name.as_str() };
            let reason =
                worker.words.as_ref().map_or_else(String::new, |why| format!(": {}", text::quoted(why, 80)));
            format!("{who}, {}, claim #{generation}{reason}", text::age(now.since(worker.at)))
        }
        _ if task.ticked => "done".into(),
        _ if task.ready => "ready".into(),
        _ => format!("waits for {}", task.waits_for.join(", ")),
    }
}

/// Formats a spec's path as one would type it here: `./feature.md`.
fn shown(spec: &SpecRef, worktree: &Path, cwd: &Path) -> String {
    let whole = worktree.join(&spec.path);
    match whole.strip_prefix(cwd) {
        Ok(short) => format!("./{}", short.display()),
        Err(_) => spec.path.clone(),
    }
}
