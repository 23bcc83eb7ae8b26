//! Starts a run: asks the app for it, and hands it to a supervisor of its own.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_agents::prices;
use consort_core::config::Config;
use consort_core::dispatch::Caps;
use consort_core::dispatch::Cost;
use consort_core::dispatch::DispatchLimits;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::GateRefusal;
use consort_core::dispatch::ReviewOf;
use consort_core::dispatch::Role;
use consort_core::dispatch::RunDefaults;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunOptions;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunRequest;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Safety;
use consort_core::dispatch::resolve_run_terms;
use consort_core::dispatch::task_prompt;
use consort_core::journal::ChangeId;
use consort_core::presence::CallerFacts;
use consort_core::presence::NameWish;
use consort_core::tasks::TaskRequest;
use serde_json::json;

use super::RunDir;
use super::Work;
use super::orphans;
use super::supervise::TAKEN;
use crate::connect;
use crate::error::CommandError;
use crate::roles;
use crate::world::OpenWorld;
use crate::world::World;

/// The wishes for a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunWanted {
    pub(crate) task: String,
    /// The terms of the run; an absent one is left to the role, and then to the settings.
    pub(crate) words: RunOptions,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) name: Option<String>,
    pub(crate) batch: Option<String>,
    pub(crate) follows: Option<ChangeId>,
    /// Number of tool calls that it may make.
    pub(crate) max_tools: Option<u32>,
    /// The session of the CLI to go on with.
    pub(crate) resume: Option<String>,
    /// The task of a spec that it takes.
    pub(crate) takes: Option<TaskRequest>,
    /// Whether its work is reviewed.
    pub(crate) is_reviewed: bool,
    /// The work that it reviews itself.
    pub(crate) reviews: Option<ReviewOf>,
}

/// Longest time the person's own gate may take.
const GATE: Duration = Duration::from_secs(30);

/// Starts a run in this role, if no gate refuses it.
pub(crate) fn start(
    world: &World,
    opened: &mut OpenWorld,
    caller: &CallerFacts,
    role: &Role,
    wanted: &RunWanted,
) -> Result<RunRecord, CommandError> {
    orphans::reap(&world.paths, &mut opened.app)?;
    let terms = resolve_run_terms(&wanted.words, role, &defaults(&opened.config));
    let cli = cli(terms.cli.as_deref())?;
    let promised: Vec<String> =
        opened.app.open_runs()?.into_iter().map(|run| run.spec.name.to_string()).collect();
    let limits = limits(&opened.config, terms.budget);
    let wish = wanted.name.clone().map_or(NameWish::Any, NameWish::Insist);
    let keeps_prompts = opened.config.get("privacy.store_prompts") == "true";
    let request = RunRequest {
        caller: caller.clone(),
        project: opened.project.id.clone(),
        task: wanted.task.clone(),
        role: role.name.clone(),
        cli: cli.kind().to_owned(),
        tier: (terms.tier, terms.model.as_deref().and_then(prices::estimated_tier)),
        model: terms.model,
        safety: terms.safety,
        name: opened.app.free_name(&wish, &promised)?,
        cwd: cwd(world, wanted)?,
        has_worktree: terms.has_worktree,
        timeout_s: terms.timeout_s,
        prompt_hash: consort_host::hash(wanted.task.as_bytes()),
        batch: wanted.batch.clone(),
        follows: wanted.follows,
        takes: wanted.takes.clone(),
        reviews: wanted.reviews.clone(),
        keeps_title: keeps_prompts,
        limits: limits.clone(),
        own_gate: None,
    };
    let request = RunRequest { own_gate: ask_gate(&opened.config, &request), ..request };
    let run = opened.app.ask_run(&request)?;
    let work = Work {
        caps: limits.caps,
        system: role.system_prompt.clone(),
        reasoning: terms.reasoning,
        tools: role.tools.clone(),
        tier: terms.tier,
        keeps_prompts,
        is_reviewed: wanted.is_reviewed,
        max_turns: role.max_turns,
        token_budget: role.token_budget,
        max_tools: wanted.max_tools,
        resume: wanted.resume.clone(),
        retries: role.retry,
        variables: words(&opened.config, "dispatch.environment"),
        copy: words(&opened.config, "dispatch.copy"),
        set_up: Some(opened.config.get("dispatch.set_up").to_owned()).filter(|command| !command.is_empty()),
        goes_on: opened.config.get("dispatch.continue_after_limit") == "true",
    };
    if let Err(error) = hand_over(world, &run, &wanted.task, &work) {
        let failure = Failure { kind: FailureKind::Other, message: error.in_a_line(), until: None };
        let end = RunEnd { failure: Some(failure), ..RunEnd::bare(RunState::Error) };
        opened.app.end_run(run.id, end, "")?;
        return Err(error);
    }
    Ok(run)
}

/// Most times that the next task is looked for, if somebody else was faster.
const MOST_TRIES: usize = 5;

/// The word for the first task that is ready.
const NEXT: &str = "next";

/// Starts a run that takes the task of this id, or the `next` that is ready, of this spec, or of the
/// caller's; the text of `wanted` is added to the task.
pub(crate) fn start_with_task(
    world: &World,
    opened: &mut OpenWorld,
    caller: &CallerFacts,
    role: &Role,
    wanted: &RunWanted,
    (task, spec): (&str, Option<PathBuf>),
) -> Result<RunRecord, CommandError> {
    let id = Some(task.to_owned()).filter(|task| task != NEXT);
    let (cwd, words) = (world.cwd.clone(), None);
    let request = &TaskRequest { caller: caller.clone(), cwd, spec, id, words, is_for_new: true };
    let mut left = if request.id.is_some() { 1 } else { MOST_TRIES };
    loop {
        let (key, title) = opened.app.find_task_for_run(request)?;
        let spec = match &request.spec {
            Some(spec) => request.cwd.join(spec),
            None => opened.place.worktree.join(&key.spec.path),
        };
        let task = task_prompt(&key, title.as_deref(), &wanted.task);
        let takes = TaskRequest { id: Some(key.id.clone()), spec: Some(spec), ..request.clone() };
        let with_task = RunWanted { task, takes: Some(takes), ..wanted.clone() };
        left -= 1;
        let started = start(world, opened, &request.caller, role, &with_task);
        if left == 0
            || started.is_ok()
            || opened.app.find_task_for_run(request).ok().is_none_or(|now| now.0 == key)
        {
            return started;
        }
    }
}

/// Writes the files that the supervisor reads, starts it, and waits until the run is the supervisor's own:
/// until then it would end with this process, and a supervisor that cannot begin has nobody to notify.
fn hand_over(world: &World, run: &RunRecord, task: &str, work: &Work) -> Result<(), CommandError> {
    let dir = RunDir::of(&world.paths, run.id);
    dir.make(task, work).map_err(|error| CommandError::file("cannot write", &dir.path, error))?;
    let consort = std::env::current_exe().unwrap_or_else(|_| "consort".into());
    let cannot = |error| CommandError::file("cannot start", &consort, error);
    let mut supervisor = Command::new(&consort);
    supervisor.args(["runs", "supervise", &run.id.to_string()]);
    // Starting the supervisor in another directory takes a copy of this process first.
    if std::env::current_dir().ok().as_ref() != Some(&run.spec.cwd) {
        supervisor.current_dir(&run.spec.cwd);
    }
    supervisor.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut supervisor = supervisor.spawn().map_err(cannot)?;
    let mut said = [0; TAKEN.len()];
    let heard = supervisor.stdout.take().map(|mut stdout| stdout.read_exact(&mut said));
    if heard.is_some_and(|heard| heard.is_ok()) {
        // A server outlives the supervisor, and would keep it as a zombie.
        std::thread::spawn(move || supervisor.wait());
        return Ok(());
    }
    let exit = supervisor.wait().map_err(cannot)?;
    Err(CommandError::user(
        format!("its supervisor ended before it began: {exit}"),
        "try again; `consort doctor` says what may be wrong",
    ))
}

/// Reads the defaults for runs from the settings.
fn defaults(config: &Config) -> RunDefaults {
    let minutes: u64 = config.get("dispatch.timeout_minutes").parse().unwrap_or_default();
    RunDefaults {
        cli: Some(config.get("dispatch.cli").to_owned()).filter(|kind| !kind.is_empty()),
        safety: roles::default_safety(config),
        timeout_s: (minutes > 0).then_some(minutes * 60),
        budget: dollars(config, "budget.run"),
    }
}

/// Returns the CLI of that name, or the first that is installed; a CLI that is not installed is an error.
fn cli(named: Option<&str>) -> Result<&'static dyn AgentCli, CommandError> {
    let is_here = |cli: &dyn AgentCli| connect::find_program(cli.program()).is_some();
    let Some(kind) = named else {
        let first = consort_agents::ALL.iter().copied().find(|cli| is_here(*cli));
        return first.ok_or_else(|| {
            CommandError::user("no agent CLI is installed here", "install one, Claude Code for instance")
        });
    };
    let cli = consort_agents::find(kind).ok_or_else(|| {
        let (what, hint) = connect::no_such_cli(kind);
        CommandError::user(what, hint)
    })?;
    match is_here(cli) {
        true => Ok(cli),
        false => Err(CommandError::user(
            format!("{} is not on PATH", cli.title()),
            format!("install it, so that `{}` can be called, or name another `--cli`", cli.program()),
        )),
    }
}

fn cwd(world: &World, wanted: &RunWanted) -> Result<PathBuf, CommandError> {
    let Some(dir) = &wanted.cwd else { return Ok(world.cwd.clone()) };
    let found = std::fs::canonicalize(world.cwd.join(dir));
    found.map_err(|error| CommandError::file("cannot use", dir, error))
}

fn words(config: &Config, key: &str) -> Vec<String> {
    config.get(key).split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Reads an amount from the settings; `None` if it is 0.
pub(crate) fn dollars(config: &Config, key: &str) -> Option<Cost> {
    config.get(key).parse().ok().filter(|dollars| *dollars > 0.0).map(Cost::from_dollars)
}

fn limits(config: &Config, budget: Option<Cost>) -> DispatchLimits {
    let caps =
        Caps { run: budget, day: dollars(config, "budget.day"), project: dollars(config, "budget.project") };
    DispatchLimits {
        caps,
        depth: config.get("dispatch.depth").parse().unwrap_or(0),
        agents: Safety::named(config.get("dispatch.agents")).unwrap_or(Safety::Suggest),
    }
}

/// Asks the person's own gate about a run; `None` if there is no gate, or it allows the run.
fn ask_gate(config: &Config, request: &RunRequest) -> Option<GateRefusal> {
    let command = config.get("dispatch.gate");
    if command.is_empty() {
        return None;
    }
    let asked = json!({
        "task": request.task, "role": request.role, "cli": request.cli, "model": request.model,
        "safety": request.safety.as_str(), "cwd": request.cwd, "worktree": request.has_worktree,
        "budget_usd": request.limits.caps.run.map(Cost::dollars),
    });
    let (is_allowed, said) =
        consort_host::ask_gate(command, &request.cwd, asked.to_string().as_bytes(), GATE);
    if is_allowed {
        return None;
    }
    let why = said.lines().next().filter(|line| !line.trim().is_empty());
    let why =
        why.map_or_else(|| "it did not say why".to_owned(), |why| consort_core::text::foreign(why, 200));
    let hint = "it is the command in `dispatch.gate`".to_owned();
    Some(GateRefusal { gate: "yours", why, hint })
}
