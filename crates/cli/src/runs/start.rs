//! Asks for a run and hands it to a supervisor of its own.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::config::Config;
use consort_core::dispatch::Caps;
use consort_core::dispatch::Cost;
use consort_core::dispatch::DispatchLimits;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::Isolation;
use consort_core::dispatch::Refusal;
use consort_core::dispatch::Role;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunRequest;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Safety;
use consort_core::journal::ChangeId;
use consort_core::presence::CallerFacts;
use consort_core::presence::NameWish;
use serde_json::json;

use super::RunDir;
use super::Work;
use super::orphans;
use super::supervise::TAKEN;
use crate::connect;
use crate::error::CommandError;
use crate::world::Opened;
use crate::world::World;

/// What is asked for; what is absent is left to the role, and then to the settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) task: String,
    pub(crate) cli: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) safety: Option<Safety>,
    pub(crate) reasoning: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) has_worktree: bool,
    pub(crate) timeout_s: Option<u64>,
    pub(crate) budget: Option<Cost>,
    pub(crate) name: Option<String>,
    pub(crate) batch: Option<String>,
    pub(crate) follows: Option<ChangeId>,
    /// How many tools it may call.
    pub(crate) max_tools: Option<u32>,
    /// The session to go on with.
    pub(crate) resume: Option<String>,
}

/// How long the person's own gate may take.
const GATE: Duration = Duration::from_secs(30);

/// Starts a run in this role, if nothing speaks against it.
pub(crate) fn start(
    world: &World,
    opened: &mut Opened,
    caller: &CallerFacts,
    role: &Role,
    wanted: &Wanted,
) -> Result<RunRecord, CommandError> {
    orphans::reap(&world.paths, &mut opened.app)?;
    let cli = cli(&opened.config, role, wanted)?;
    let promised: Vec<String> =
        opened.app.open_runs()?.into_iter().map(|run| run.spec.name.to_string()).collect();
    let limits = limits(&opened.config, role, wanted);
    let wish = wanted.name.clone().map_or(NameWish::Any, NameWish::Insist);
    let request = RunRequest {
        caller: caller.clone(),
        project: opened.project.id.clone(),
        task: wanted.task.clone(),
        role: role.name.clone(),
        cli: cli.kind().to_owned(),
        model: wanted.model.clone().or_else(|| role.model.clone()),
        safety: safety(&opened.config, role, wanted),
        name: opened.app.free_name(&wish, &promised)?,
        cwd: cwd(world, wanted)?,
        has_worktree: wanted.has_worktree || role.isolation == Isolation::Worktree,
        timeout_s: wanted.timeout_s.or(role.timeout_s).or_else(|| timeout(&opened.config)),
        prompt_hash: consort_host::hash(wanted.task.as_bytes()),
        batch: wanted.batch.clone(),
        follows: wanted.follows,
        limits: limits.clone(),
        own_gate: None,
    };
    let request = RunRequest { own_gate: ask_gate(&opened.config, &request), ..request };
    let run = opened.app.ask_run(&request)?;
    let work = Work {
        caps: limits.caps,
        system: role.system_prompt.clone(),
        reasoning: wanted.reasoning.clone().or_else(|| role.reasoning.clone()),
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

/// Writes what the supervisor is to read, starts it, and waits until the run is its own: until
/// then it would end with this process, and a supervisor that cannot begin has nobody to tell.
fn hand_over(world: &World, run: &RunRecord, task: &str, work: &Work) -> Result<(), CommandError> {
    let dir = RunDir::of(&world.paths, run.id);
    dir.make(task, work).map_err(|error| CommandError::file("cannot write", &dir.path, error))?;
    let consort = std::env::current_exe().unwrap_or_else(|_| "consort".into());
    let cannot = |error| CommandError::file("cannot start", &consort, error);
    let mut supervisor = Command::new(&consort);
    supervisor.args(["runs", "supervise", &run.id.to_string()]).current_dir(&run.spec.cwd);
    supervisor.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut supervisor = supervisor.spawn().map_err(cannot)?;
    let mut said = [0; TAKEN.len()];
    let heard = supervisor.stdout.take().map(|mut stdout| stdout.read_exact(&mut said));
    if heard.is_some_and(|heard| heard.is_ok()) {
        // A server outlives it, and would keep what is left of it.
        std::thread::spawn(move || supervisor.wait());
        return Ok(());
    }
    let exit = supervisor.wait().map_err(cannot)?;
    Err(CommandError::user(
        format!("its supervisor ended before it began: {exit}"),
        "try again; `consort doctor` says what may be wrong",
    ))
}

/// Which CLI does the work; one that is not installed cannot.
fn cli(config: &Config, role: &Role, wanted: &Wanted) -> Result<&'static dyn AgentCli, CommandError> {
    let default = Some(config.get("dispatch.cli")).filter(|kind| !kind.is_empty());
    let named = wanted.cli.as_deref().or(role.cli.as_deref()).or(default);
    let is_here = |cli: &dyn AgentCli| connect::find_program(cli.program()).is_some();
    let Some(kind) = named else {
        let first = consort_agents::ALL.iter().copied().find(|cli| is_here(*cli));
        return first.ok_or_else(|| {
            CommandError::user("no agent CLI is installed here", "install one, Claude Code for instance")
        });
    };
    let cli = consort_agents::find(kind).ok_or_else(|| {
        let all: Vec<&str> = consort_agents::ALL.iter().map(|cli| cli.kind()).collect();
        CommandError::user(format!("there is no agent CLI `{kind}`"), format!("one of: {}", all.join(", ")))
    })?;
    match is_here(cli) {
        true => Ok(cli),
        false => Err(CommandError::user(
            format!("{} is not on PATH", cli.title()),
            format!("install it, so that `{}` can be called, or name another `--cli`", cli.program()),
        )),
    }
}

fn safety(config: &Config, role: &Role, wanted: &Wanted) -> Safety {
    let default = Safety::named(config.get("dispatch.safety")).unwrap_or_default();
    let of_role = role.safety_or(default);
    let wanted = wanted.safety.unwrap_or(of_role);
    // What reads only is not made to write by a flag.
    if role.read_only { wanted.min(of_role) } else { wanted }
}

fn cwd(world: &World, wanted: &Wanted) -> Result<PathBuf, CommandError> {
    let Some(dir) = &wanted.cwd else { return Ok(world.cwd.clone()) };
    let found = std::fs::canonicalize(world.cwd.join(dir));
    found.map_err(|error| CommandError::file("cannot use", dir, error))
}

fn timeout(config: &Config) -> Option<u64> {
    let minutes: u64 = config.get("dispatch.timeout_minutes").parse().unwrap_or_default();
    (minutes > 0).then_some(minutes * 60)
}

fn words(config: &Config, key: &str) -> Vec<String> {
    config.get(key).split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// An amount of the settings; none if it is 0.
pub(crate) fn dollars(config: &Config, key: &str) -> Option<Cost> {
    config.get(key).parse().ok().filter(|dollars| *dollars > 0.0).map(Cost::from_dollars)
}

fn limits(config: &Config, role: &Role, wanted: &Wanted) -> DispatchLimits {
    let caps = Caps {
        run: wanted.budget.or(role.budget_usd).or_else(|| dollars(config, "budget.run")),
        day: dollars(config, "budget.day"),
        project: dollars(config, "budget.project"),
    };
    DispatchLimits {
        caps,
        depth: config.get("dispatch.depth").parse().unwrap_or(0),
        agents: Safety::named(config.get("dispatch.agents")).unwrap_or(Safety::Suggest),
    }
}

/// What the person's own gate says against a run, if there is one and it does.
fn ask_gate(config: &Config, request: &RunRequest) -> Option<Refusal> {
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
    Some(Refusal { gate: "yours", why, hint })
}
