//! The command `consort runs batch`: does several tasks side by side, and shows results as they come.

use std::path::Path;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use consort_agents::run_files::BatchForm;
use consort_agents::run_files::read_batch;
use consort_core::Timestamp;
use consort_core::dispatch::Batch;
use consort_core::dispatch::BatchPolicy;
use consort_core::dispatch::BatchTask;
use consort_core::dispatch::BatchTaskState;
use consort_core::dispatch::CONCURRENCY;
use consort_core::dispatch::CostSum;
use consort_core::dispatch::OnFailure;
use consort_core::dispatch::RunOptions;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::dispatch::batch_step;
use consort_core::dispatch::in_dollars;
use consort_core::dispatch::looks_like_file;
use consort_core::presence::CallerFacts;
use consort_core::text;
use serde_json::json;

use crate::commands::run::HowArgs;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::output;
use crate::person;
use crate::render::runs as render;
use crate::roles::BadFile;
use crate::runs::RunDir;
use crate::runs::follow::Interrupts;
use crate::runs::follow::PollTimer;
use crate::runs::orphans;
use crate::runs::role;
use crate::runs::start;
use crate::runs::start::RunWanted;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

/// Interval between two looks at the runs.
const TICK: Duration = Duration::from_millis(50);

/// Time after a Ctrl-C, in milliseconds, in which another one ends the runs at once.
const SECOND: i64 = 3_000;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file of tasks (a line each, or TOML or JSON), or the tasks themselves
    #[arg(required = true)]
    tasks: Vec<String>,
    #[command(flatten)]
    how: HowArgs,
    /// Most runs at once
    #[arg(long, value_name = "N", default_value_t = CONCURRENCY, value_parser = at_least_one)]
    concurrency: usize,
    /// Time between the starts of two runs
    #[arg(long, value_name = "TIME", default_value = "150ms", value_parser = time::parse_duration)]
    stagger: Duration,
    /// The fate of the others when one fails
    #[arg(long, default_value = "continue", value_parser = PossibleValuesParser::new(OnFailure::ALL.map(OnFailure::as_str)))]
    on_failure: String,
    /// When all of it has to be over, with `--on-failure deadline`
    #[arg(long, value_name = "TIME", value_parser = time::parse_duration, required_if_eq("on_failure", "deadline"))]
    within: Option<Duration>,
    /// Print a JSON object per result
    #[arg(long)]
    json: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| (1..=64).contains(number)).ok_or_else(|| "expected 1 to 64".into())
}

/// A batch in progress.
struct Going<'a> {
    world: &'a World,
    args: &'a Args,
    caller: CallerFacts,
    batch: Batch,
    /// The random name that all runs of the batch share.
    name: String,
    states: Vec<BatchTaskState>,
    runs: Vec<Option<RunRecord>>,
    spent: CostSum,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    let batch = tasks(args)?;
    let count = batch.tasks.len();
    let name: String = opened.app.host().random()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let mut going = Going {
        world,
        args,
        caller,
        batch,
        name,
        states: vec![BatchTaskState::Waiting; count],
        runs: vec![None; count],
        spent: CostSum::default(),
    };
    going.say_estimate(&mut opened)?;
    let interrupts = Interrupts::listen();
    let now = opened.app.host().now();
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let policy = BatchPolicy {
        concurrency: args.concurrency,
        stagger: millis(args.stagger),
        on_failure: OnFailure::named(&args.on_failure).unwrap_or_default(),
        deadline: args.within.map(|within| now.plus(millis(within))),
    };
    let (mut last_start, mut interrupted) = (None, None::<Timestamp>);
    let mut due = PollTimer::begin(world, Some(&opened.project.id));
    loop {
        let now = opened.app.host().now();
        let step = batch_step(&policy, &going.states, last_start, now);
        step.cancel.iter().for_each(|at| going.states[*at] = BatchTaskState::Cancelled);
        step.stop.iter().try_for_each(|at| going.stop(*at, false))?;
        if step.is_over {
            break;
        }
        for at in step.start {
            going.start(&mut opened, at)?;
            last_start = Some(opened.app.host().now());
        }
        if interrupts.take() {
            going.interrupt(interrupted.is_some_and(|first| now.since(first) < SECOND))?;
            interrupted = Some(now);
        }
        due.pause(TICK);
        if due.take() {
            going.look(&mut opened)?;
        }
    }
    Ok(ExitCode::from(going.sum_up()?))
}

impl Going<'_> {
    /// Prints what the batch may cost, before anything is spent.
    fn say_estimate(&self, opened: &mut OpenWorld) -> Result<(), CommandError> {
        let role = role::named(self.world, opened, self.args.how.role.as_deref())?;
        let one = opened.app.estimate_run(&opened.project.id.clone(), &role.name)?;
        let count = self.batch.tasks.len();
        let cost = one.map_or_else(
            || "what they cost is not known".to_owned(),
            |one| {
                let all = consort_core::dispatch::Cost(one.0.saturating_mul(count as i64));
                format!("about {} each, {} in all", in_dollars(one), in_dollars(all))
            },
        );
        output::note(format_args!("{}: {cost}", text::counted_noun(count, "task")));
        Ok(())
    }

    fn start(&mut self, opened: &mut OpenWorld, at: usize) -> Result<(), CommandError> {
        let BatchTask { task, role, cli, model, worktree, timeout_s, budget_usd } = &self.batch.tasks[at];
        let common = self.args.how.wanted(task.clone());
        let wanted = RunWanted {
            words: RunOptions {
                cli: cli.clone().or(common.words.cli.clone()),
                model: model.clone().or(common.words.model.clone()),
                has_worktree: *worktree || common.words.has_worktree,
                timeout_s: timeout_s.or(common.words.timeout_s),
                budget: budget_usd.or(common.words.budget),
                ..common.words.clone()
            },
            batch: Some(self.name.clone()),
            ..common
        };
        let role = role::named(self.world, opened, role.as_deref().or(self.args.how.role.as_deref()))?;
        match start::start(self.world, opened, &self.caller, &role, &wanted) {
            Ok(run) => {
                self.states[at] = BatchTaskState::Running;
                self.runs[at] = Some(run);
            }
            // A refused run is a result as well; the other tasks may get through.
            Err(error) => {
                self.states[at] = BatchTaskState::Failed;
                let shown = text::one_line(task, 80);
                match self.args.json {
                    true => self.world.out.json(&json!({ "at": opened.app.host().now().rfc3339(), "refused": { "task": shown, "error": error.in_a_line() } }))?,
                    false => output::note(format_args!("Not started: {shown}: {}", error.in_a_line())),
                }
            }
        }
        Ok(())
    }

    /// Looks for runs that have ended, and shows their results.
    fn look(&mut self, opened: &mut OpenWorld) -> Result<(), CommandError> {
        orphans::reap(&self.world.paths, &mut opened.app)?;
        for at in 0..self.states.len() {
            let Some(run) = self.runs[at].clone().filter(|_| self.states[at] == BatchTaskState::Running)
            else {
                continue;
            };
            let now = opened.app.run_by_id(run.id)?;
            if !now.state.has_ended() {
                continue;
            }
            self.states[at] = match now.state {
                RunState::Done if now.end.as_ref().is_some_and(|end| end.is_done_and_merged()) => {
                    BatchTaskState::Done
                }
                RunState::Cancelled => BatchTaskState::Cancelled,
                _ => BatchTaskState::Failed,
            };
            self.spent.add(now.end.as_ref().and_then(|end| end.usage.cost));
            let result = RunDir::of(&self.world.paths, now.id).read_result();
            if self.args.json {
                let mut item = render::item(&opened.app, &now);
                item["result"] = result.into();
                self.world.out.one(&mut opened.app, "run", &item)?;
            } else {
                self.world.out.heading(&render::summary(&now), &format!("  {}", now.spec.title))?;
                if !result.trim().is_empty() {
                    self.world.out.line(format!("{}\n", result.trim_end()))?;
                }
            }
        }
        Ok(())
    }

    fn stop(&self, at: usize, now: bool) -> Result<(), CommandError> {
        let Some(run) = &self.runs[at] else { return Ok(()) };
        let dir = RunDir::of(&self.world.paths, run.id);
        dir.ask_to_stop(now).map_err(|error| CommandError::file("cannot write", &dir.path, error))
    }

    /// Stops the runs in progress, and starts no more.
    fn interrupt(&mut self, now: bool) -> Result<(), CommandError> {
        let told = if now { "Ending them at once." } else { "Stopping. Ctrl-C again ends them at once." };
        output::note(told);
        for at in 0..self.states.len() {
            match self.states[at] {
                BatchTaskState::Waiting => self.states[at] = BatchTaskState::Cancelled,
                BatchTaskState::Running => self.stop(at, now)?,
                BatchTaskState::Done | BatchTaskState::Failed | BatchTaskState::Cancelled => {}
            }
        }
        Ok(())
    }

    /// Prints how the batch went, and returns the exit code.
    fn sum_up(&self) -> Result<u8, CommandError> {
        let count = |wanted: BatchTaskState| self.states.iter().filter(|state| **state == wanted).count();
        let (done, all) = (count(BatchTaskState::Done), self.states.len());
        output::note(format_args!("{done} of {} done, {}", text::counted_noun(all, "task"), self.spent));
        Ok(if done == all { 0 } else { exit::RUN_FAILED })
    }
}

/// Reads the tasks from a file if there is one of that name, else takes the words themselves.
fn tasks(args: &Args) -> Result<Batch, CommandError> {
    let (words, only) = (&args.tasks, args.tasks.len() == 1);
    let file = Path::new(&words[0]);
    if only && file.is_file() {
        let cannot = |error| CommandError::file("cannot read", file, error);
        let text = std::fs::read_to_string(file).map_err(cannot)?;
        let read = read_batch(&text, BatchForm::by_file_name(&words[0]));
        return read.map_err(|problems| BadFile { path: file.to_owned(), problems }.error());
    }
    // A mistyped file name that is taken for a task would cost money.
    if let Some(missing) = words.iter().find(|word| looks_like_file(word) && !Path::new(word).exists()) {
        return Err(CommandError::user(
            format!("there is no file `{}`", text::foreign(missing, 200)),
            "give a file that is there, or say the task in more than one word",
        ));
    }
    let tasks = words.iter().map(|task| BatchTask { task: task.clone(), ..BatchTask::default() });
    Ok(Batch { tasks: tasks.collect() })
}
