//! The call context for `consort mcp` and `consort serve`: finds who is calling over pipes or HTTP, and
//! wakes, notifies, opens and runs agents.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::call_context;
use consort_core::call_context::AgentOpenRequest;
use consort_core::call_context::CallContext;
use consort_core::call_context::RunWish;
use consort_core::call_context::RunsQuestion;
use consort_core::call_context::ServedContext;
use consort_core::call_context::ServiceAnswer;
use consort_core::call_context::ServiceProblem;
use consort_core::claims::CommandView;
use consort_core::config::Config;
use consort_core::engine::Engine as _;
use consort_core::engine::StoreError;
use consort_core::host::Clock as _;
use consort_core::host::ConnectionAddrs;
use consort_core::host::NewsTopic;
use consort_core::host::Processes as _;
use consort_core::presence::Activity;
use consort_core::presence::Agent;
use consort_core::presence::CallerFacts;
use consort_core::presence::JoinRequest;
use consort_core::presence::NameWish;
use consort_core::presence::Observed;
use consort_core::presence::Proof;
use consort_core::presence::SessionId;
use consort_core::presence::Unproven;
use consort_core::presence::hosting_process;
use consort_core::presence::is_valid_name;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::PeerLookup;
use consort_host::Peers;
use consort_host::env;
use consort_host::notify::Listener;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;

use crate::commands::explain;
use crate::config;
use crate::observe;
use crate::served_panes;
use crate::served_runs;
use crate::time;
use crate::wake;
use crate::world::World;
use crate::world::facts_of_peer;
use crate::world::own_facts;

pub(crate) struct ServedCalls {
    paths: Paths,
    cwd: PathBuf,
    peers: Peers,
}

impl ServedCalls {
    pub(crate) fn new(world: &World) -> Self {
        Self { paths: world.paths.clone(), cwd: world.cwd.clone(), peers: Peers::default() }
    }

    fn machine(&self) -> Machine {
        Machine::new(&self.paths.data)
    }
}

impl CallContext for ServedCalls {
    fn variable(&self, name: &str) -> Option<String> {
        env::get(name)
    }
}

impl ServedContext for ServedCalls {
    fn caller(&self, ends: Option<ConnectionAddrs>) -> CallerFacts {
        let machine = self.machine();
        let Some(ends) = ends else { return own_facts(&machine, machine.ancestors(), None) };
        match self.peers.find(ends) {
            PeerLookup::Process(peer) => facts_of_peer(&machine, &peer),
            PeerLookup::Unknown | PeerLookup::Elsewhere => {
                CallerFacts { proof: Proof::None(Unproven::Elsewhere), ..CallerFacts::default() }
            }
        }
    }

    fn look(&self, agents: &[Agent]) -> Vec<Observed> {
        observe::look(&self.paths.home, agents)
    }

    fn wake(&self, agent: &Agent, activity: &Activity) -> bool {
        let cli = consort_agents::find(&agent.kind);
        cli.is_some_and(|cli| {
            wake::natively(&cli.config_dir(&self.paths.home, &env::get), cli, agent, activity)
        })
    }

    fn join_request(&self, client: &str, ends: Option<ConnectionAddrs>) -> Option<JoinRequest> {
        let machine = self.machine();
        let (ancestors, cwd, is_ours) = match ends {
            None => (machine.ancestors(), Some(self.cwd.clone()), true),
            Some(ends) => match self.peers.find(ends) {
                PeerLookup::Process(peer) => (machine.lineage(peer.pid), peer.cwd, false),
                PeerLookup::Unknown | PeerLookup::Elsewhere => return None,
            },
        };
        let process = hosting_process(ancestors, None)?;
        // `codex-mcp-client` is Codex; an unknown client is called what it calls itself.
        let words: Vec<&str> = client.split(|c: char| !c.is_alphanumeric()).collect();
        let known = consort_agents::ALL.iter().map(|cli| cli.kind()).find(|kind| words.contains(kind));
        let kind = known.unwrap_or(if is_valid_name(client) { client } else { "mcp" }).to_owned();
        Some(JoinRequest {
            session: SessionId::from(format!("mcp-{}-{}", process.pid, process.start)),
            wish: env::get(env::NAME).filter(|_| is_ours).map_or(NameWish::Any, NameWish::Prefer),
            kind,
            process,
            cwd: cwd?,
            model: None,
            terminal: if is_ours { env::terminal() } else { Default::default() },
            spec: None,
            replaces: None,
        })
    }

    fn moment(&self, text: &str, worktree: &Path) -> Option<Timestamp> {
        time::moment(text, self.machine().now(), worktree)
    }

    fn renewal(&self, session: &SessionId) -> Box<dyn Fn() + Send> {
        let (store, session, machine) = (self.paths.store(), session.clone(), self.machine());
        Box::new(move || {
            Store::new(store.clone(), StoreUser::Command).side_files().note_alive(&session, machine.now())
        })
    }

    fn judge_command(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        cwd: &Path,
        command: &str,
    ) -> Result<CommandView, StoreError> {
        explain::judge(app, caller, &self.paths.home, cwd, command)
    }

    fn settings(&self, app: &mut App, worktree: &Path) -> Option<Config> {
        let acceptances = app.acceptances().unwrap_or_default();
        config::load(&self.paths, worktree, &[], &acceptances).ok().map(|loaded| loaded.resolved)
    }

    fn give_back_memory(&self) {
        #[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
        crate::entry_point::give_back_memory();
    }

    fn open_agent(
        &self,
        _app: &mut App,
        caller: &CallerFacts,
        cwd: &Path,
        wish: &AgentOpenRequest,
    ) -> Result<ServiceAnswer, ServiceProblem> {
        served_panes::open(caller, cwd, wish)
    }

    fn agent_screen(
        &self,
        app: &mut App,
        name: &str,
        lines: usize,
        wait: Option<Duration>,
    ) -> Result<ServiceAnswer, ServiceProblem> {
        served_panes::screen(app, &self.cwd, name, lines, wait)
    }

    fn watch_agents(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        wait: Option<Duration>,
    ) -> Result<ServiceAnswer, ServiceProblem> {
        served_panes::watch(app, caller, &self.cwd, wait)
    }

    fn waiting_agents(&self, app: &mut App, caller: &CallerFacts) -> Result<ServiceAnswer, ServiceProblem> {
        served_panes::waiting(app, caller, &self.cwd)
    }

    fn answer_agent(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        name: &str,
        option: &str,
    ) -> Result<ServiceAnswer, ServiceProblem> {
        served_panes::answer(app, caller, &self.cwd, name, option)
    }

    fn close_agent(
        &self,
        _app: &mut App,
        caller: &CallerFacts,
        name: &str,
    ) -> Result<ServiceAnswer, ServiceProblem> {
        served_panes::close(caller, &self.cwd, name)
    }

    fn run_agent(
        &self,
        caller: &CallerFacts,
        cwd: &Path,
        wish: &RunWish,
    ) -> Result<ServiceAnswer, ServiceProblem> {
        served_runs::run(caller, cwd, wish)
    }

    fn runs_of_agent(
        &self,
        caller: &CallerFacts,
        cwd: &Path,
        question: &RunsQuestion,
    ) -> Result<ServiceAnswer, ServiceProblem> {
        served_runs::runs(caller, cwd, question)
    }

    fn listen(&self, topic: Option<&NewsTopic>) -> std::io::Result<Box<dyn call_context::Listener>> {
        Ok(Box::new(Listener::open(&self.paths.listeners(), topic)?))
    }
}
