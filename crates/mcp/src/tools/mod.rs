//! The MCP tools, a file per room: the name, arguments and answer of each.

mod claims;
mod convergence;
mod dispatch;
mod knowledge;
mod messages;
mod monitor;
mod presence;
mod tasks;

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use consort_core::App;
use consort_core::call_context::ServedContext;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::journal::Number;
use consort_core::messages::Letter;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::Agent;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::presence::PresenceError;
use consort_core::presence::SessionId;
use consort_core::text;
use consort_knowledge::Session;
use rmcp::model::Tool;
use rmcp::model::ToolAnnotations;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::json;
use tokio::sync::OwnedMutexGuard;

use crate::answer::Problem;
use crate::answer::ToolAnswer;
use crate::lock;
use crate::server::Origin;
use crate::server::Unconfirmed;
use crate::server::UnconfirmedBatch;

/// The tool that evaluates an expression, which may take long.
pub(crate) const QUERY: &str = "query";

const INBOX: &str = "inbox";

/// The context of one call of a tool.
pub(crate) struct ToolContext<'a> {
    pub(crate) app: App,
    pub(crate) calls: &'a dyn ServedContext,
    handed: &'a Mutex<Unconfirmed>,
    /// The letters that the answer to this call delivers.
    pub(crate) handing: Vec<Letter>,
    /// The number of this call among requests and answers.
    came: u64,
    /// For a query: the definitions that this client has made in earlier queries.
    pub(crate) session: Option<OwnedMutexGuard<Session>>,
    /// Set when the call was cancelled.
    pub(crate) is_cancelled: Arc<AtomicBool>,
    pub(crate) origin: Origin,
    /// The mailbox of this client, once it is known.
    pub(crate) known: Option<Actor>,
}

impl<'a> ToolContext<'a> {
    pub(crate) fn new(
        app: App,
        calls: &'a dyn ServedContext,
        handed: &'a Mutex<Unconfirmed>,
        origin: Origin,
        came: u64,
    ) -> Self {
        Self {
            app,
            calls,
            handed,
            handing: Vec::new(),
            came,
            session: None,
            is_cancelled: Arc::default(),
            origin,
            known: None,
        }
    }

    pub(crate) fn facts(&self) -> CallerFacts {
        let thread = self.origin.thread.clone().map(Into::into);
        CallerFacts { thread, ..self.calls.caller(self.origin.ends) }
    }

    /// Takes the letters that had reached this client before it made this call: their answer went
    /// over the connection over which this call has come.
    fn arrived(&self, mailbox: &Actor) -> Vec<Letter> {
        self.take_handed(mailbox, |batch| batch.ends == self.origin.ends)
    }

    /// Takes the letters that were handed over before this call came, in the batches that `is_meant`
    /// accepts.
    fn take_handed(&self, mailbox: &Actor, is_meant: impl Fn(&UnconfirmedBatch) -> bool) -> Vec<Letter> {
        let mut handed = lock(self.handed);
        let Some(batches) = handed.get_mut(mailbox) else { return Vec::new() };
        let taken = batches.extract_if(.., |batch| batch.answered < self.came && is_meant(batch));
        taken.flat_map(|batch| batch.letters).collect()
    }

    /// Decides about letters that were handed over earlier. An agent that asks for its mail over
    /// another connection may never have got them: those it says it has are read, the others wait
    /// again.
    pub(crate) fn settle_handed(&mut self, mailbox: &Actor, has: &[Number]) -> Result<(), StoreError> {
        let handed = self.take_handed(mailbox, |_| true);
        let (read, lost): (Vec<_>, Vec<_>) =
            handed.into_iter().partition(|letter| has.contains(&letter.message.number));
        self.app.mark_read(mailbox, &read)?;
        self.app.mark_not_shown(mailbox, &lost)
    }

    /// Says how much mail waits, for a client that may have no hooks to deliver it.
    pub(crate) fn mail_notice(&mut self, tool: &str) -> Option<String> {
        let mailbox = self.known.clone().filter(|_| tool != INBOX)?;
        let waiting = self.app.inbox(&UnreadLettersRequest { mailbox, from: None, peek: true }).ok()?.len();
        (waiting > 0)
            .then(|| format!("[consort] {}: call `inbox`.", text::counted_noun(waiting, "new message")))
    }

    /// Finds the calling agent, if it is registered.
    pub(crate) fn registered_caller(&mut self) -> Result<Option<Agent>, StoreError> {
        let facts = self.facts();
        Ok(match self.app.caller(&facts)? {
            Caller::Agent(agent) => {
                let mailbox = Actor::Agent(agent.session.clone());
                // The agent calls again, so the letters of earlier answers have reached it.
                let letters = self.arrived(&mailbox);
                self.app.mark_read(&mailbox, &letters)?;
                self.known = Some(mailbox);
                // A note of its activity is not worth a failure.
                let _ = self.app.note_idle_call(&agent.session);
                Some(*agent)
            }
            Caller::Person | Caller::Anonymous(_) => None,
        })
    }

    /// Finds the calling agent. An agent that no hook has announced joins now.
    pub(crate) fn me(&mut self) -> Result<Agent, Problem> {
        if let Some(agent) = self.registered_caller()? {
            return Ok(agent);
        }
        let Origin { client, thread, ends, .. } = &self.origin;
        let mut request = self.calls.join_request(client, *ends).ok_or(PresenceError::NotRegistered)?;
        // A hook that announces this session later would use the thread's id. If a session of
        // that id is present already, it is another agent's.
        let thread = thread.clone().map(SessionId::from);
        if let Some(thread) = thread.filter(|thread| matches!(self.app.present_session(thread), Ok(None))) {
            request.session = thread;
        }
        let agent = self.app.join(&request)?.agent;
        self.known = Some(Actor::Agent(agent.session.clone()));
        Ok(agent)
    }
}

/// The description of a tool that clients see.
struct ToolEntry {
    name: &'static str,
    about: &'static str,
    /// The JSON schema of each argument; `required` names those that are needed.
    properties: fn() -> Value,
    required: &'static [&'static str],
    only_reads: bool,
}

fn entries() -> impl Iterator<Item = &'static ToolEntry> {
    [
        presence::TOOLS,
        messages::TOOLS,
        claims::TOOLS,
        tasks::TOOLS,
        convergence::TOOLS,
        monitor::TOOLS,
        dispatch::TOOLS,
        knowledge::TOOLS,
    ]
    .into_iter()
    .flatten()
}

/// Lists all tools with their schemas.
pub fn catalogue() -> Vec<Tool> {
    let one = |entry: &ToolEntry| {
        let mut schema = json!({ "type": "object", "properties": (entry.properties)() });
        if !entry.required.is_empty() {
            schema["required"] = json!(entry.required);
        }
        let schema = schema.as_object().cloned().unwrap_or_default();
        let hints = ToolAnnotations::new().read_only(entry.only_reads).open_world(false);
        Tool::new(entry.name, entry.about, Arc::new(schema)).with_annotations(hints)
    };
    entries().map(one).collect()
}

/// Calls a tool; `None` if there is no tool of that name.
pub(crate) fn call(
    context: &mut ToolContext<'_>,
    name: &str,
    arguments: Value,
) -> Option<Result<ToolAnswer, Problem>> {
    let answer = match call_once(context, name, arguments.clone()) {
        Some(Err(problem)) if problem.is_worth_a_retry() => call_once(context, name, arguments),
        answer => answer,
    };
    let now = context.app.host().now();
    answer.map(|answer| answer.map(|answer| answer.dated(now)))
}

fn call_once(
    context: &mut ToolContext<'_>,
    name: &str,
    arguments: Value,
) -> Option<Result<ToolAnswer, Problem>> {
    Some(match name {
        "who" => arguments_of(arguments).and_then(|arguments| presence::who(context, arguments)),
        "send" => arguments_of(arguments).and_then(|arguments| messages::send(context, arguments)),
        INBOX => arguments_of(arguments).and_then(|arguments| messages::inbox(context, arguments)),
        "status" => presence::status(context),
        "agent" => arguments_of(arguments).and_then(|arguments| presence::agent(context, arguments)),
        "holds" => arguments_of(arguments).and_then(|arguments| claims::holds(context, arguments)),
        "restore" => arguments_of(arguments).and_then(|arguments| claims::restore(context, arguments)),
        "reserve" => arguments_of(arguments).and_then(|arguments| claims::reserve(context, arguments)),
        "release" => arguments_of(arguments).and_then(|arguments| claims::release(context, arguments)),
        "explain" => arguments_of(arguments).and_then(|arguments| claims::explain(context, arguments)),
        "task" => arguments_of(arguments).and_then(|arguments| tasks::task(context, arguments)),
        "radar" => arguments_of(arguments).and_then(|arguments| convergence::radar(context, &arguments)),
        "handoff" => arguments_of(arguments).and_then(|arguments| convergence::handoff(context, arguments)),
        "open" => arguments_of(arguments).and_then(|arguments| monitor::open(context, arguments)),
        "screen" => arguments_of(arguments).and_then(|arguments| monitor::screen(context, arguments)),
        "watch" => arguments_of(arguments).and_then(|arguments| monitor::watch(context, arguments)),
        "waiting" => monitor::waiting(context),
        "answer" => arguments_of(arguments).and_then(|arguments| monitor::answer(context, arguments)),
        "close" => arguments_of(arguments).and_then(|arguments| monitor::close(context, arguments)),
        "run" => arguments_of(arguments).and_then(|arguments| dispatch::run(context, arguments)),
        "runs" => arguments_of(arguments).and_then(|arguments| dispatch::runs(context, arguments)),
        QUERY => arguments_of(arguments).and_then(|arguments| knowledge::query(context, arguments)),
        "know" => arguments_of(arguments).and_then(|arguments| knowledge::know(context, arguments)),
        "act" => arguments_of(arguments).and_then(|arguments| knowledge::act(context, arguments)),
        _ => return None,
    })
}

fn arguments_of<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_json::from_value(arguments)
        .map_err(|error| Problem::user(format!("the arguments do not fit: {error}"), "see the tool's schema"))
}
