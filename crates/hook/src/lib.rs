//! The door for hooks: passes each event of an agent CLI to its handler.
//!
//! An agent CLI starts us on every event and waits. So: one open, one
//! transaction where it can be one, and **any failure of ours is silence**; the
//! caller turns every error and panic into exit 0 without a word.
//!
//! What happens on an event is in `events/`, one file per event.

mod events;
mod policy;
mod policy_places;
mod safety;
mod tool_files;

pub use policy::kept_request;
pub use tool_files::Surroundings;
pub use tool_files::ToolFiles;
pub use tool_files::command_files;

use consort_core::App;
use consort_core::call_context::CallContext;
use consort_core::engine::StoreError;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::host::Host;
use consort_core::host::Process;
use consort_core::messages::DeliveredBatch;
use consort_core::policy::AskOutcome;
use consort_core::presence::JoinRequest;
use consort_core::presence::NameWish;
use consort_core::presence::PresenceError;
use consort_core::presence::Terminal;
use consort_core::presence::hosting_process;
use consort_core::presence::is_shell;

/// What a hook's call comes with besides its payload, asked for only when it matters.
pub trait HookContext: CallContext {
    /// Which agent CLI calls.
    fn kind(&self) -> &'static str;

    /// The process that CLI says hosts the session.
    fn pid(&self) -> Option<u32>;

    /// The name the session prefers.
    fn name(&self) -> Option<String>;

    fn terminal(&self) -> Terminal;

    /// What a command may look at before it runs.
    fn surroundings(&self) -> Surroundings;

    /// A command as it is run behind the shield, where the CLI lets a hook rewrite it and
    /// no rule of the person's would be passed by.
    fn shielded(&self, command: &str) -> Option<String>;

    /// Whether what is said before a tool is used reaches the model.
    fn hears_before_tools(&self) -> bool;

    /// Whether that process is one of its CLI, which has one session at a time.
    fn has_one_session(&self, process: &Process) -> bool;

    /// Whether a person sits before the session, who would see its dialogs.
    fn is_attended(&self) -> bool;

    /// The answer to give if time runs out before the real one.
    fn prepare(&self, reply: Option<&HookReply>);
}

/// What to answer, and the mail that is in it: once it was written out in
/// full, [`App::shown`] must be told.
#[derive(Debug)]
pub struct Answer {
    pub reply: HookReply,
    pub mail: Option<DeliveredBatch>,
    /// What became of what the person was asked.
    pub ask: Option<AskOutcome>,
}

impl Answer {
    const SILENCE: Self = Self { reply: HookReply::Silence, mail: None, ask: None };
}

/// Carries out what an event means and says what to answer.
pub fn handle(app: &mut App, call: HookCall, context: &dyn HookContext) -> Result<Answer, PresenceError> {
    let hosting = |host: &dyn Host| hosting(host, context);
    // A session that cannot be identified has no mail and no holds; it is still
    // refused what others hold.
    let session = app.session_of_hook(&call.session, &hosting);
    let session = session.ok().flatten().unwrap_or_else(|| call.session.second_life(&Process::default()));
    let call = &HookCall { session, ..call };
    match answer(app, call, context) {
        // Said once; what the agent is about to do goes on.
        Err(PresenceError::Store(error @ StoreError::NotUnderstood { .. })) => {
            match app.tell_once(&call.session, &error.to_string()) {
                true => {
                    Ok(Answer { reply: HookReply::Context(format!("[consort] {error}.")), ..Answer::SILENCE })
                }
                false => Err(error.into()),
            }
        }
        answered => answered,
    }
}

fn answer(app: &mut App, call: &HookCall, context: &dyn HookContext) -> Result<Answer, PresenceError> {
    match &call.event {
        HookEvent::SessionStart { replaces, is_heard } => {
            events::session_start::handle(app, call, context, replaces, *is_heard)
        }
        HookEvent::Prompt(prompt) => events::prompt::handle(app, call, context, prompt),
        HookEvent::ToolBefore(tool) => events::tool_before::handle(app, call, context, tool),
        HookEvent::ToolAfter { tool, failed, met_read_only } => {
            events::tool_after::handle(app, call, context, tool, *failed, *met_read_only)
        }
        HookEvent::Waiting(what) => events::waiting::handle(app, call, context, what),
        HookEvent::Asks(asked) => events::asks::handle(app, call, context, asked),
        HookEvent::Resumed => events::waiting::over(app, call, context),
        HookEvent::Woken => events::woken::handle(app, call, context),
        HookEvent::TurnEnd { may_go_on, runs_on } => {
            events::turn_end::handle(app, call, context, *may_go_on, *runs_on)
        }
        HookEvent::Idle => events::turn_end::idle(app, call, context),
        HookEvent::TurnFailed(error) => events::turn_end::failed(app, call, context, error),
        HookEvent::Compacting => events::compacting::handle(app, call, context),
        HookEvent::SubagentStart { id, kind } => events::subagent::started(app, call, id, kind),
        HookEvent::SubagentStop { id } => events::subagent::stopped(app, call, id),
        HookEvent::SessionEnd { is_replaced } => events::session_end::handle(app, call, *is_replaced),
    }
}

/// The process that hosts the calling session. Nobody looks further up than to the
/// ancestor that decides.
fn hosting(host: &dyn Host, context: &dyn HookContext) -> Option<Process> {
    let named = context.pid();
    let decides = |process: &Process| match named {
        Some(pid) => process.pid == pid,
        None => !is_shell(process),
    };
    hosting_process(host.ancestors_until(&decides), named)
}

/// What it takes to register the calling session.
fn join_request(
    host: &dyn Host,
    call: &HookCall,
    context: &dyn HookContext,
) -> Result<JoinRequest, PresenceError> {
    let process = hosting(host, context)
        .ok_or_else(|| StoreError::Failed("the hook has no parent process that could be its agent".into()))?;
    Ok(JoinRequest {
        session: call.session.clone(),
        wish: context.name().map_or(NameWish::Any, NameWish::Prefer),
        kind: context.kind().to_owned(),
        process,
        cwd: call.cwd.clone(),
        model: call.model.clone(),
        terminal: context.terminal(),
        spec: None,
        replaces: None,
    })
}
