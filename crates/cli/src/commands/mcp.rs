//! `consort mcp`

use std::path::PathBuf;

use consort_core::host::Host as _;
use consort_core::presence::Agent;
use consort_core::presence::CallerFacts;
use consort_core::presence::Glimpse;
use consort_core::presence::Heard;
use consort_core::presence::JoinRequest;
use consort_core::presence::NameWish;
use consort_core::presence::hosting_process;
use consort_core::presence::is_valid_name;
use consort_host::Machine;
use consort_host::env;
use consort_mcp::Around;
use consort_mcp::Server;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::sight;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the tools and their schemas, and serve nobody
    #[arg(long)]
    schemas: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    if args.schemas {
        return world.out.json(&consort_mcp::catalogue());
    }
    let around =
        Process { bells: world.paths.bells(), home: world.paths.home.clone(), cwd: world.cwd.clone() };
    consort_mcp::serve(Server::new(world.app(), Box::new(around))).map_err(|error| {
        CommandError::user(
            format!("the client cannot be served: {error}"),
            "an agent CLI starts this by itself; it speaks MCP on standard input and output",
        )
    })
}

/// This process, started by an agent CLI.
struct Process {
    bells: PathBuf,
    home: PathBuf,
    cwd: PathBuf,
}

impl Around for Process {
    fn caller(&self) -> CallerFacts {
        caller_facts(&Machine::new(self.bells.clone()))
    }

    fn variable(&self, name: &str) -> Option<String> {
        env::get(name)
    }

    fn look(&self, agents: &[Agent]) -> Vec<Glimpse> {
        sight::look(&self.home, agents)
    }

    fn wake(&self, agent: &Agent, heard: &Heard) -> bool {
        let cli = consort_agents::find(&agent.kind);
        cli.is_some_and(|cli| cli.wake(&cli.config_dir(&self.home, &env::get), agent, heard))
    }

    fn join_request(&self, client: &str) -> Option<JoinRequest> {
        let process = hosting_process(Machine::new(self.bells.clone()).ancestors(), None)?;
        // `codex-mcp-client` is Codex; one that we do not know is what it calls itself.
        let known = consort_agents::ALL.iter().map(|cli| cli.kind()).find(|kind| client.contains(kind));
        let kind = known.unwrap_or(if is_valid_name(client) { client } else { "mcp" }).to_owned();
        Some(JoinRequest {
            session: format!("mcp-{}-{}", process.pid, process.start).into(),
            wish: env::get(env::NAME).map_or(NameWish::Any, NameWish::Prefer),
            kind,
            process,
            cwd: self.cwd.clone(),
            model: None,
            terminal: env::terminal(),
            spec: None,
        })
    }
}
