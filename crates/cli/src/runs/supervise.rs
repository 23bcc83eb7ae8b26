//! The supervisor of a run: takes the run over, does the work, waits for the end of a limit, and ends the
//! run. One small process for each run; nothing else depends on it.

use std::fs;
use std::io::Write as _;
use std::time::Duration;
use std::time::Instant;

use consort_core::Timestamp;
use consort_core::dispatch::DispatchError;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Usage;
use consort_core::host::Repositories as _;
use consort_core::journal::ChangeId;
use consort_host::Machine;

use super::RunDir;
use super::attempt::Attempt;
use super::attempt::Job;
use super::directory::EventLog;
use super::review;
use super::worktree::Tree;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::time;
use crate::world::World;

/// Interval at which a parked run is checked for a request to stop.
const TICK: Duration = Duration::from_millis(200);

/// The prompt for a CLI that goes on after a limit.
const GO_ON: &str = "Go on with your task where you left off.";

/// Assumed length of a limit whose end is not known.
const UNKNOWN_LIMIT: i64 = 30 * Timestamp::SECOND;

/// Most limits that a run waits for.
const MOST_LIMITS: u32 = 20;

/// Longest time the supervisor tries to record the end of a run.
const RECORDING: Duration = Duration::from_secs(600);

/// The line that the supervisor prints once the run is its own.
pub(super) const TAKEN: &[u8] = b"taken\n";

/// Supervises a run to its end.
pub(crate) fn run(world: &World, id: &str) -> CommandResult {
    let id = ChangeId::parse(id).ok_or_else(|| DispatchError::NoSuchRun { name: id.to_owned() })?;
    // Ctrl-C in the terminal where the run was asked for does not reach the new session.
    let _ = rustix::process::setsid();
    let run = world.app().start_run(id)?;
    say_taken();
    let dir = RunDir::of(&world.paths, id);
    let (ended, keeps_prompts) = match job(world, run, &dir) {
        Ok(mut job) => (work(&mut job), job.work.keeps_prompts),
        Err(error) => (failed(&error), true),
    };
    record(world, id, &dir, ended)?;
    if !keeps_prompts {
        for file in [dir.prompt(), dir.stdin()] {
            let _ = fs::remove_file(file);
        }
    }
    Ok(())
}

/// Notifies the process that has started the supervisor that the run is its own now; see `start::hand_over`.
fn say_taken() {
    let _ = std::io::stdout().write_all(TAKEN).and_then(|()| std::io::stdout().flush());
    // Nobody reads any further output.
    if let Ok(null) = fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

fn job<'a>(
    world: &'a World,
    run: consort_core::dispatch::RunRecord,
    dir: &RunDir,
) -> Result<Job<'a>, CommandError> {
    let cannot = |error| CommandError::file("cannot use", &dir.path, error);
    let cli = consort_agents::find(&run.spec.cli).ok_or_else(|| {
        CommandError::user(format!("there is no agent CLI `{}`", run.spec.cli), "`consort doctor` lists them")
    })?;
    Ok(Job {
        world,
        work: dir.work().map_err(cannot)?,
        cli,
        machine: Machine::new(&world.paths.data),
        log: EventLog::open(dir).map_err(cannot)?,
        deadline: run.spec.timeout_s.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        reserved: run.spec.reserved,
        used: Usage::default(),
        cwd: run.spec.cwd.clone(),
        dir: dir.clone(),
        run,
    })
}

/// Does the work in the run's directory, or in a worktree whose changes are merged back, and has it reviewed
/// if that is wanted.
fn work(job: &mut Job<'_>) -> Attempt {
    if !job.run.spec.has_worktree {
        let base = job.work.is_reviewed.then(|| job.machine.commit(&job.cwd)).flatten();
        let before = base.as_ref().and_then(|base| consort_host::diff_since(&job.cwd, base));
        let ended = live(job);
        if let Some(base) = base.filter(|_| ended.end.state == RunState::Done) {
            // Changes that were not committed before the run are in both diffs.
            let diff = consort_host::diff_since(&job.cwd, &base).filter(|diff| before.as_ref() != Some(diff));
            review::ask(job, diff);
        }
        return ended;
    }
    let tree = match Tree::make(&job.machine, &job.dir, &job.run, &job.work) {
        Ok(tree) => tree,
        Err(error) => return failed(&error),
    };
    tree.notes.iter().for_each(|note| job.note(note));
    job.cwd = tree.cwd.clone();
    let mut ended = live(job);
    let diff = tree.diff();
    ended.end.diff_hash = diff.as_ref().map(|diff| consort_host::hash(diff.as_bytes()));
    let (merge, is_merged) = tree.finish(ended.end.state);
    (ended.end.merge, ended.end.is_unmerged) = (Some(merge), !is_merged && ended.end.state == RunState::Done);
    if job.work.is_reviewed && ended.end.state == RunState::Done {
        review::ask(job, diff);
    }
    ended
}

/// Makes attempts until one ends the run: goes on after limits, and tries again after failures of the
/// provider.
fn live(job: &mut Job<'_>) -> Attempt {
    let first = match fs::read_to_string(job.dir.prompt()) {
        Ok(prompt) => prompt,
        Err(error) => return failed(&CommandError::file("cannot read", &job.dir.prompt(), error)),
    };
    let first = match job.work.max_tools {
        Some(most) => {
            format!("{first}\n\nYou may call {most} tools at most. Then answer with what you know.")
        }
        None => first,
    };
    let (mut prompt, mut resume) = (first.clone(), job.work.resume.clone());
    let (mut limits, mut retries) = (0, job.work.retries);
    loop {
        let attempt = match job.attempt(&prompt, resume.as_deref()) {
            Ok(attempt) => attempt,
            Err(error) => return failed(&error),
        };
        let Some(failure) = attempt.end.failure.clone().filter(|_| attempt.end.state == RunState::Error)
        else {
            return attempt;
        };
        match failure.kind {
            FailureKind::Limit if job.work.goes_on && limits < MOST_LIMITS => limits += 1,
            FailureKind::Provider if retries > 0 => retries -= 1,
            _ => return attempt,
        }
        let until = failure.until.unwrap_or_else(|| job.now().plus(UNKNOWN_LIMIT));
        job.used = attempt.end.usage;
        if let Some(state) = park(job, until, &failure.message) {
            return Attempt { end: RunEnd { state, ..attempt.end }, ..attempt };
        }
        // A session that goes on knows its task already.
        if attempt.end.session.is_some() {
            (prompt, resume) = (GO_ON.to_owned(), attempt.end.session);
        } else {
            prompt = first.clone();
        }
        if let Err(error) = job.world.app().start_run(job.run.id) {
            return failed(&error.into());
        }
    }
}

/// Parks the run until then; returns the state in which it ends instead, if it is stopped or its time is
/// over.
fn park(job: &mut Job<'_>, until: Timestamp, why: &str) -> Option<RunState> {
    let until = match job.world.app().park_run(job.run.id, until, why) {
        Ok(until) => until,
        Err(error) => {
            job.note(error.to_string());
            until
        }
    };
    job.note(format!("waits until {}", time::local(until)));
    while job.now() < until {
        if job.dir.asked_to_stop().is_some() {
            return Some(RunState::Cancelled);
        }
        if job.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(RunState::Timeout);
        }
        std::thread::sleep(TICK);
    }
    None
}

/// Makes the outcome of a run that failed without a worker.
fn failed(error: &CommandError) -> Attempt {
    let message = error.in_a_line();
    let failure = Some(Failure { kind: FailureKind::Other, message, until: None });
    Attempt { end: RunEnd { failure, ..RunEnd::bare(RunState::Error) }, result: String::new() }
}

/// Writes the result and records the end of the run. If the store is busy or the disk is full, it tries
/// again: until then the run goes on for everyone.
fn record(world: &World, id: ChangeId, dir: &RunDir, ended: Attempt) -> CommandResult {
    let Attempt { mut end, result } = ended;
    let deadline = Instant::now() + RECORDING;
    let (mut is_kept, mut wait) = (false, TICK);
    loop {
        is_kept = is_kept || fs::write(dir.result(), &result).is_ok();
        end.result_hash = Some(consort_host::hash(result.as_bytes()));
        let recorded = match is_kept {
            true => world.app().end_run(id, end.clone(), &result).map(drop),
            false => Err(DispatchError::NoSuchRun { name: id.to_string() }),
        };
        match recorded {
            Ok(()) | Err(DispatchError::HasEnded { .. }) => return Ok(()),
            Err(error) if Instant::now() >= deadline => return Err(error.into()),
            Err(_) => std::thread::sleep(wait),
        }
        wait = (wait * 2).min(Duration::from_secs(10));
    }
}
