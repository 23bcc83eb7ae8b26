//! The port to what surrounds a call besides its arguments: the environment, and for
//! served calls who is calling and how to reach them.

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
use crate::explain::Explain;
use crate::explain::Kind;
use crate::host::ConnectionAddrs;
use crate::host::Topic;
use crate::journal::Number;
use crate::monitor::Permissions;
use crate::presence::Activity;
use crate::presence::Agent;
use crate::presence::CallerFacts;
use crate::presence::JoinRequest;
use crate::presence::Observed;
use crate::presence::SessionId;

/// What every call comes with.
pub trait CallContext {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
}

/// What a served call comes with. A client over pipes has started this process; a client
/// over the network is known by the two ends of its connection.
pub trait ServedContext: CallContext + Send + Sync {
    /// Who calls, as far as processes and the environment tell.
    fn caller(&self, ends: Option<ConnectionAddrs>) -> CallerFacts;

    /// What can be seen of agents from outside.
    fn look(&self, agents: &[Agent]) -> Vec<Observed>;

    /// Wakes an idle agent, where that can be done.
    fn wake(&self, agent: &Agent, activity: &Activity) -> bool;

    /// What says that a session lives, for those who cannot see its process.
    fn renewal(&self, session: &SessionId) -> Box<dyn Fn() + Send>;

    /// What it takes to register the agent that calls, of that name.
    fn join_request(&self, client: &str, ends: Option<ConnectionAddrs>) -> Option<JoinRequest>;

    /// The moment that is meant: a date, a while ago, or a commit of that worktree.
    fn moment(&self, text: &str, worktree: &Path) -> Option<Timestamp>;

    /// How a shell command would be judged if an agent ran it there; it is not run.
    fn judge_command(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        cwd: &Path,
        command: &str,
    ) -> Result<CommandView, StoreError>;

    /// The settings that hold in that worktree, and where each comes from.
    fn settings(&self, app: &mut App, worktree: &Path) -> Option<Config>;

    /// Gives memory that a large call has freed back to the system, where the allocator
    /// would keep it.
    fn give_back_memory(&self) {}

    /// Opens another agent for the one that calls from that directory.
    fn open_agent(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        cwd: &Path,
        wish: &OpenWish,
    ) -> Result<PaneAnswer, PaneProblem>;

    /// What the terminal of an agent shows: now, or once its state has changed.
    fn agent_screen(
        &self,
        app: &mut App,
        name: &str,
        lines: usize,
        wait: Option<Duration>,
    ) -> Result<PaneAnswer, PaneProblem>;

    /// How the agents stand that the caller opened: now, or once one has changed its state.
    fn watch_agents(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        wait: Option<Duration>,
    ) -> Result<PaneAnswer, PaneProblem>;

    /// The agents that wait for the person, or for who opened them.
    fn waiting_agents(&self, app: &mut App, caller: &CallerFacts) -> Result<PaneAnswer, PaneProblem>;

    /// Answers a question of an agent that the caller opened.
    fn answer_agent(
        &self,
        app: &mut App,
        caller: &CallerFacts,
        name: &str,
        option: &str,
    ) -> Result<PaneAnswer, PaneProblem>;

    /// Ends an agent that the caller opened.
    fn close_agent(&self, app: &mut App, caller: &CallerFacts, name: &str)
    -> Result<PaneAnswer, PaneProblem>;

    /// Puts an agent to work for the one that calls from that directory.
    fn run_agent(&self, caller: &CallerFacts, cwd: &Path, wish: &RunWish) -> Result<PaneAnswer, PaneProblem>;

    /// How the runs of the one that calls stand, or one run of the project; ends it if that is
    /// wanted.
    fn runs_of_agent(
        &self,
        caller: &CallerFacts,
        cwd: &Path,
        wish: &RunsWish,
    ) -> Result<PaneAnswer, PaneProblem>;

    /// Waits for news of that kind, or of any.
    fn listen(&self, topic: Option<&Topic>) -> std::io::Result<Box<dyn Listener>>;
}

/// What an agent wants to have opened.
#[derive(Clone, Debug)]
pub struct OpenWish {
    pub cli: String,
    pub prompt: String,
    pub name: Option<String>,
    pub in_worktree: bool,
    pub permissions: Option<Permissions>,
}

/// What an agent wants to have done.
#[derive(Clone, Debug)]
pub struct RunWish {
    pub task: String,
    pub role: Option<String>,
    pub cli: Option<String>,
    pub safety: Option<Safety>,
    pub has_worktree: bool,
    /// How many tools it may call.
    pub max_tools: Option<u32>,
    /// The task of a spec that it takes: its id, or `next`.
    pub takes: Option<String>,
    /// Whether what it does is reviewed.
    pub is_reviewed: bool,
    /// How long its end is waited for.
    pub wait: Option<Duration>,
}

/// What an agent wants to know of runs.
#[derive(Clone, Debug)]
pub struct RunsWish {
    /// Of one; else of all its own.
    pub run: Option<Number>,
    pub wait: Option<Duration>,
    /// Whether it is to be ended.
    pub stops: bool,
}

/// What was done with a pane or a run, in words and as data.
#[derive(Clone, Debug)]
pub struct PaneAnswer {
    pub text: String,
    pub data: Value,
}

/// Why something was not done with a pane or a run.
#[derive(Clone, Debug, Error)]
#[error("{message}")]
pub struct PaneProblem {
    pub kind: Kind,
    pub message: String,
    pub hints: Vec<String>,
}

impl Explain for PaneProblem {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn hints(&self) -> Vec<String> {
        self.hints.clone()
    }
}

/// Waits for news.
pub trait Listener: Send {
    /// Sleeps until there is news, or for so long; whether there is.
    fn wait(&mut self, longest: Duration) -> std::io::Result<bool>;
}

/// Waits in a thread of its own: whenever there is news, and after so long without,
/// `on_news` is told whether there is any, and says whether to go on.
pub fn in_background(
    mut listener: Box<dyn Listener>,
    longest: Duration,
    mut on_news: impl FnMut(bool) -> bool + Send + 'static,
) -> std::io::Result<()> {
    let wait = move || while listener.wait(longest).is_ok_and(&mut on_news) {};
    // It sleeps most of the time and does little else.
    std::thread::Builder::new().name("listener".into()).stack_size(64 * 1024).spawn(wait).map(drop)
}
