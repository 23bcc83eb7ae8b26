//! The commands `consort runs attach`, `consort runs resume` and `consort runs retry`: follow a run, go on
//! with one that has ended, or repeat it.

use consort_core::dispatch::DispatchError;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunOptions;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunSpec;
use consort_core::host::Repositories as _;
use consort_core::presence::CallerFacts;
use consort_core::tasks::TaskKey;
use consort_core::tasks::TaskRequest;
use consort_host::Machine;

use crate::commands::run;
use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::person;
use crate::runs::RunDir;
use crate::runs::directory::RunNote;
use crate::runs::follow::Interrupts;
use crate::runs::orphans;
use crate::runs::start;
use crate::runs::start::RunWanted;
use crate::world::World;

/// The prompt of a resumed run that gets no other task.
const GO_ON: &str = "You were interrupted. Go on with your task where you left off.";

#[derive(clap::Args)]
pub(crate) struct ResumeArgs {
    /// Its number
    run: String,
    /// The task now; without it, the run goes on with its own
    text: Option<String>,
    #[command(flatten)]
    how: HowToWait,
}

#[derive(clap::Args)]
pub(crate) struct RetryArgs {
    /// Its number
    run: String,
    #[command(flatten)]
    how: HowToWait,
}

#[derive(clap::Args)]
pub(crate) struct AttachArgs {
    /// Its number
    run: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct HowToWait {
    /// Leave it running, and print its number
    #[arg(long)]
    detach: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Follows a run to its end. Ctrl-C leaves the run running, as it was before.
pub(crate) fn attach(world: &World, args: &AttachArgs) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let run = opened.app.run(&opened.project.id.clone(), &args.run)?;
    run::waited_for(world, &mut opened, &run, None, args.json)
}

pub(crate) fn resume(world: &World, args: &ResumeArgs) -> Result<ExitCode, CommandError> {
    let text = args.text.clone().unwrap_or_else(|| GO_ON.to_owned());
    again(world, &args.run, &args.how, |dir, run| {
        let session = session(dir, run).ok_or(DispatchError::NoSession { number: run.number })?;
        Ok(RunWanted { task: text, resume: Some(session), ..RunWanted::default() })
    })
}

pub(crate) fn retry(world: &World, args: &RetryArgs) -> Result<ExitCode, CommandError> {
    again(world, &args.run, &args.how, |dir, _| {
        let file = dir.prompt();
        let task = std::fs::read_to_string(&file)
            .map_err(|error| CommandError::file("cannot read what it was to do:", &file, error))?;
        Ok(RunWanted { task, ..RunWanted::default() })
    })
}

/// Finds the session of a run: as recorded at its end, or else as its log says.
fn session(dir: &RunDir, run: &RunRecord) -> Option<String> {
    let told = run.end.as_ref().and_then(|end| end.session.clone());
    told.or_else(|| {
        dir.lines().into_iter().rev().find_map(|line| match line.what {
            RunNote::Event(consort_core::dispatch::WorkerEvent::Session(session)) => Some(session),
            _ => None,
        })
    })
}

/// Builds the request to take the task of a run once more.
fn task_again(world: &World, caller: &CallerFacts, spec: &RunSpec, key: &TaskKey) -> TaskRequest {
    // The path of a spec outside of a repository is absolute.
    let worktree = Machine::new(&world.paths.data).place(&spec.cwd).worktree;
    TaskRequest {
        caller: caller.clone(),
        cwd: spec.cwd.clone(),
        spec: Some(worktree.join(&key.spec.path)),
        id: Some(key.id.clone()),
        words: None,
        is_for_new: true,
    }
}

fn again(
    world: &World,
    name: &str,
    how: &HowToWait,
    what: impl FnOnce(&RunDir, &RunRecord) -> Result<RunWanted, CommandError>,
) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    orphans::reap(&world.paths, &mut opened.app)?;
    let before = opened.app.run(&opened.project.id.clone(), name)?;
    if !before.state.has_ended() {
        return Err(DispatchError::HasNotEnded { number: before.number }.into());
    }
    let role = crate::runs::role::named(world, &opened, Some(&before.spec.role))?;
    let wanted = what(&RunDir::of(&world.paths, before.id), &before)?;
    let spec = &before.spec;
    let is_done_and_merged = before.end.as_ref().is_some_and(RunEnd::is_done_and_merged);
    let task = spec.takes.as_ref().filter(|_| !is_done_and_merged);
    let wanted = RunWanted {
        words: RunOptions {
            cli: Some(spec.cli.clone()),
            model: spec.model.clone(),
            safety: Some(spec.safety),
            reasoning: None,
            has_worktree: spec.has_worktree,
            timeout_s: spec.timeout_s,
            budget: spec.cap,
        },
        cwd: Some(spec.cwd.clone()),
        // A task that is done stays done.
        takes: task.map(|key| task_again(world, &caller, spec, key)),
        follows: Some(before.id),
        ..wanted
    };
    let interrupts = (!how.detach).then(Interrupts::listen);
    let run = start::start(world, &mut opened, &caller, &role, &wanted)?;
    match interrupts {
        None => run::detached(world, &mut opened, &run, how.json),
        Some(interrupts) => run::waited_for(world, &mut opened, &run, Some(&interrupts), how.json),
    }
}
