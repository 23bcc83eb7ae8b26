//! The port to a call's surroundings: its environment, and for served calls the caller's identity
//! and services around agents, panes and runs.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

use crate::App;
use crate::Timestamp;
use crate::claims::CommandView;
use crate::config::Config;
use crate::dispatch::Safety;
use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::host::ConnectionAddrs;
use crate::host::NewsTopic;
use crate::journal::Number;
use crate::monitor::Permissions;
use crate::presence::Activity;
use crate::presence::Agent;
use crate::presence::CallerFacts;
use crate::presence::JoinRequest;
use crate::presence::Observed;
use crate::presence::SessionId;

/// The environment of a call.
pub trait CallContext {
    /// Reads a variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
}

/// The surroundings of a call to a server. A client over pipes has started this process; a client
/// over the network is known by the two ends of its connection.
pub trait ServedContext: CallContext + Send + Sync {
    /// Collects the facts that tell who calls, as far as processes and the environment show them.
    fn caller(&self, ends: Option<ConnectionAddrs>) -> CallerFacts;

    /// Observes agents from outside: what their CLIs publish, and their place on the screen.
    fn look(&self, agents: &[Agent]) -> Vec<Observed>;

    /// Wakes an idle agent, where its CLI can be woken; returns whether it did.
    fn wake(&self, agent: &Agent, activity: &Activity) -> bool;

    /// Returns a function that notes that a session lives, for readers that cannot see its process.
    fn renewal(&self, session: &SessionId) -> Box<dyn Fn() + Send>;

    /// Makes the request that registers the calling agent; `client` is the name that its program
    /// gives itself.
    fn join_request(&self, client: &str, ends: Option<ConnectionAddrs>) -> Option<JoinRequest>;

    /// Parses a moment: a date, an age, or a commit of the worktree.
    fn moment(&self, text: &str, worktree: &Path) -> Option<Timestamp>;

    /// Judges a shell command as if an agent ran it in `cwd`, without running it.
    fn judge_command(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        cwd: &Path,
        command: &str,
    ) -> Result<CommandView, StoreError>;

    /// Resolves the settings of a worktree, each with its source.
    fn settings(&self, app: &mut App, worktree: &Path) -> Option<Config>;

    /// Gives memory that a large call has freed back to the system, where the allocator
    /// would keep it.
    fn give_back_memory(&self) {}

    /// Opens another agent for the calling agent, which works in `cwd`.
    fn open_agent(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        cwd: &Path,
        wish: &AgentOpenRequest,
    ) -> Result<ServiceAnswer, ServiceProblem>;

    /// Reads the terminal of an agent: now, or once the agent's state has changed.
    fn agent_screen(
        &self,
        app: &mut App,
        name: &str,
        lines: usize,
        wait: Option<Duration>,
    ) -> Result<ServiceAnswer, ServiceProblem>;

    /// Lists the states of the agents that the caller opened: now, or once one has changed.
    fn watch_agents(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        wait: Option<Duration>,
    ) -> Result<ServiceAnswer, ServiceProblem>;

    /// Lists the agents that wait for the person, or for the agent that opened them.
    fn waiting_agents(&self, app: &mut App, caller: &CallerFacts) -> Result<ServiceAnswer, ServiceProblem>;

    /// Answers a question of an agent that the caller opened.
    fn answer_agent(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        name: &str,
        option: &str,
    ) -> Result<ServiceAnswer, ServiceProblem>;

    /// Ends an agent that the caller opened.
    fn close_agent(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        name: &str,
    ) -> Result<ServiceAnswer, ServiceProblem>;

    /// Starts a run for the calling agent, which works in `cwd`.
    fn run_agent(
        &self,
        caller: &CallerFacts,
        cwd: &Path,
        wish: &RunWish,
    ) -> Result<ServiceAnswer, ServiceProblem>;

    /// Lists the caller's runs, or shows one run of the project and ends it if `question` says so.
    fn runs_of_agent(
        &self,
        caller: &CallerFacts,
        cwd: &Path,
        question: &RunsQuestion,
    ) -> Result<ServiceAnswer, ServiceProblem>;

    /// Opens a listener for news of one topic, or of any.
    fn listen(&self, topic: Option<&NewsTopic>) -> std::io::Result<Box<dyn Listener>>;
}

/// An agent's request to open another agent.
#[derive(Clone, Debug)]
pub struct AgentOpenRequest {
    pub cli: String,
    pub prompt: String,
    pub name: Option<String>,
    pub in_worktree: bool,
    pub permissions: Option<Permissions>,
}

/// An agent's request to start a run.
#[derive(Clone, Debug)]
pub struct RunWish {
    pub task: String,
    pub role: Option<String>,
    pub cli: Option<String>,
    pub safety: Option<Safety>,
    pub has_worktree: bool,
    /// Most tool calls that the run may make.
    pub max_tools: Option<u32>,
    /// The task of a spec that the run takes: the task's id, or `next`.
    pub takes: Option<String>,
    /// Whether the run's work is reviewed.
    pub is_reviewed: bool,
    /// Longest time to wait for the run's end.
    pub wait: Option<Duration>,
}

/// An agent's question about runs.
#[derive(Clone, Debug)]
pub struct RunsQuestion {
    /// The run that is asked about; without it, all runs of the caller.
    pub run: Option<Number>,
    pub wait: Option<Duration>,
    /// Whether to end the run.
    pub stops: bool,
}

/// The result of a request about a pane or a run, in words and as data.
#[derive(Clone, Debug)]
pub struct ServiceAnswer {
    pub text: String,
    pub data: Value,
}

/// The reason a request about a pane or a run failed.
#[derive(Clone, Debug, Error)]
#[error("{message}")]
pub struct ServiceProblem {
    pub kind: ErrorKind,
    pub message: String,
    pub hints: Vec<String>,
}

impl Explain for ServiceProblem {
    fn kind(&self) -> ErrorKind {
        self.kind
    }

    fn hints(&self) -> Vec<String> {
        self.hints.clone()
    }
}

/// A source of notifications to wait for.
pub trait Listener: Send {
    /// Sleeps until there is news, at most for `longest`; returns whether there is news.
    fn wait(&mut self, longest: Duration) -> std::io::Result<bool>;
}

/// Listens in a thread of its own. Calls `on_news(true)` on news and `on_news(false)` after
/// `longest` without any, until it returns false.
pub fn listen_in_background(
    mut listener: Box<dyn Listener>,
    longest: Duration,
    mut on_news: impl FnMut(bool) -> bool + Send + 'static,
) -> std::io::Result<()> {
    let wait = move || while listener.wait(longest).is_ok_and(&mut on_news) {};
    // The thread mostly sleeps, so a small stack is enough.
    std::thread::Builder::new().name("listener".into()).stack_size(64 * 1024).spawn(wait).map(drop)
}
