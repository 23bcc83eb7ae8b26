//! The command `consort agent join`: registers the agent session in which it is run.

use std::path::PathBuf;

use consort_agents::AgentCli;
use consort_core::App;
use consort_core::host::Process;
use consort_core::presence::Caller;
use consort_core::presence::JoinOutcome;
use consort_core::presence::JoinRequest;
use consort_core::presence::NameWish;
use consort_core::presence::SessionId;
use consort_core::presence::hosting_process;
use consort_core::presence::is_valid_name;
use consort_core::presence::may_register;
use consort_core::text;
use consort_host::env;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::person;
use crate::world::World;
use crate::world::caller_facts;
use crate::world::is_agent;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name to take; without it, CONSORT_NAME or a memorable one
    #[arg(long)]
    name: Option<String>,
    /// The kind of the agent, where no known agent CLI runs this
    #[arg(long, requires = "pid", value_parser = kind)]
    kind: Option<String>,
    /// The process whose life is the agent's
    #[arg(long)]
    pid: Option<u32>,
    /// Its session id, where the environment does not tell
    #[arg(long)]
    session: Option<String>,
    /// The spec to take tasks from
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let (kind, process, session) = who_joins(&mut opened.app, args)?;
    let outcome = opened.app.join(&JoinRequest {
        session,
        wish: match (&args.name, env::get(env::NAME)) {
            (Some(name), _) => NameWish::Insist(name.clone()),
            (None, Some(name)) => NameWish::Prefer(name),
            (None, None) => NameWish::Any,
        },
        kind,
        process,
        cwd: world.cwd.clone(),
        model: None,
        terminal: env::terminal(),
        spec: args.spec.clone(),
        replaces: None,
    })?;
    if args.name.as_deref().is_some_and(|name| name != outcome.agent.name.as_str()) {
        output::note("It has a name already; `consort agent rename <name>` changes it.");
    }
    if let Some(spec) = &args.spec
        && !world.cwd.join(spec).is_file()
    {
        output::note(format_args!("Warning: there is no spec at {}", spec.display()));
    }
    if args.json {
        return world.out.json(&joined(&mut opened.app, &outcome));
    }
    let verb = if outcome.joined { "Joined" } else { "Already here" };
    let agent = &outcome.agent;
    let branch = agent.branch.as_ref().map_or_else(String::new, |branch| format!(" on {branch}"));
    let others = text::counted_noun(outcome.others.len(), "other agent");
    world.out.line(format!("{verb} as {} in {}{branch}. {others} here.", agent.name, agent.project.name))
}

/// Returns the agent as JSON, with whether it is new and how many others are here.
fn joined(app: &mut App, outcome: &JoinOutcome) -> serde_json::Value {
    let mut json = app.wrap_one("agent", &outcome.agent);
    json["agent"]["joined"] = outcome.joined.into();
    json["agent"]["others"] = outcome.others.len().into();
    json
}

/// Parses a kind, which follows the rules of names.
fn kind(text: &str) -> Result<String, String> {
    if is_valid_name(text) {
        return Ok(text.to_owned());
    }
    Err("use letters, digits, `_` and `-`, starting with a letter or digit".into())
}

/// Returns the kind, process and session to register: of the agent CLI this runs in, or as the flags
/// describe.
fn who_joins(app: &mut App, args: &Args) -> Result<(String, Process, SessionId), CommandError> {
    if let Some(pid) = args.pid {
        let process = app.host().process(pid).ok_or_else(|| {
            CommandError::user(format!("no process {pid} runs here"), "give the id of a running process")
        })?;
        if !may_register(pid, &app.host().ancestors(), is_agent) {
            let facts = person::acting_caller(app)?;
            app.require_person(&facts)?;
        }
        let session = args.session.clone().unwrap_or_else(|| format!("pid-{pid}-{}", process.start));
        let session = SessionId::new(session)?;
        return Ok((args.kind.clone().unwrap_or_else(|| "other".into()), process, session));
    }
    let inside = |cli: &&'static dyn AgentCli| Some((*cli, env::get(cli.session_variable()?)?));
    let Some((cli, session)) = consort_agents::ALL.iter().find_map(inside) else {
        // An agent that was joined by its process is recognised by that process.
        let facts = caller_facts(app);
        if let Ok(Caller::Agent(agent)) = app.caller(&facts) {
            return Ok((agent.kind, agent.location.process, agent.session));
        }
        return Err(CommandError::user(
            "this is not run inside an agent session",
            "run it in a session, or say which process: `consort agent join --pid <pid> --kind <kind>`",
        ));
    };
    let named = cli.pid_variable().and_then(env::get).and_then(|pid| pid.parse().ok());
    let process = hosting_process(app.host().ancestors(), named).ok_or_else(|| {
        CommandError::user("the agent's process cannot be found", "say which it is with `--pid <pid>`")
    })?;
    let session = args.session.clone().unwrap_or(session);
    Ok((cli.kind().to_owned(), process, SessionId::new(session)?))
}
