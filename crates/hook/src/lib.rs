//! The door for hooks: passes each event of an agent CLI to its handler.
//!
//! An agent CLI starts us on every event and waits. So the store is opened once, in one
//! transaction where possible, and **any failure of ours is silence**: the caller
//! turns every error and panic into exit 0 without output.
//!
//! The handlers are in `events/`, one file per event.

mod events;
mod policy;
mod policy_places;
mod safety;
mod tool_files;

pub use policy::kept_request;
pub use tool_files::CommandEnvironment;
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

/// The surroundings of a hook's call besides its payload, each looked up only when needed.
pub trait HookContext: CallContext {
    /// Returns the name of the calling agent CLI.
    fn kind(&self) -> &'static str;

    /// Returns the process that, according to the CLI, hosts the session.
    fn pid(&self) -> Option<u32>;

    /// Returns the name that the session prefers.
    fn name(&self) -> Option<String>;

    fn terminal(&self) -> Terminal;

    /// Returns the means by which the surroundings of a command are looked up.
    fn surroundings(&self) -> CommandEnvironment;

    /// Wraps a command to run behind the shield. `None` where the CLI lets no hook rewrite commands
    /// without bypassing the person's rules.
    fn shielded(&self, command: &str) -> Option<String>;

    /// Tells whether an answer before a tool is used reaches the model.
    fn hears_before_tools(&self) -> bool;

    /// Tells whether a process is one of this CLI that has one session at a time.
    fn has_one_session(&self, process: &Process) -> bool;

    /// Tells whether a person is at the session and would see its dialogs.
    fn is_attended(&self) -> bool;

    /// Sets the reply to give if the time runs out before the real one; `None` withdraws it.
    fn prepare(&self, reply: Option<&HookReply>);
}

/// The answer to a hook and the mail in it. Once the answer is written out in full,
/// [`App::note_batch_shown`] must be called with the mail.
#[derive(Debug)]
pub struct HookAnswer {
    pub reply: HookReply,
    pub mail: Option<DeliveredBatch>,
    /// The outcome of a question to the person.
    pub ask: Option<AskOutcome>,
}

impl HookAnswer {
    const SILENCE: Self = Self { reply: HookReply::Silence, mail: None, ask: None };
}

/// Carries out the consequences of an event and returns the answer.
pub fn handle(app: &mut App, call: HookCall, context: &dyn HookContext) -> Result<HookAnswer, PresenceError> {
    let hosting = |host: &dyn Host| hosting(host, context);
    // A session that cannot be identified has no mail and no holds; writes to what others
    // hold are still refused.
    let session = app.session_of_hook(&call.session, &hosting);
    let session = session.ok().flatten().unwrap_or_else(|| call.session.second_life(&Process::default()));
    let call = &HookCall { session, ..call };
    match answer(app, call, context) {
        // Said once per session; the agent's action is not stopped.
        Err(PresenceError::Store(error @ StoreError::NotUnderstood { .. })) => {
            match app.note_told(&call.session, &error.to_string()) {
                true => Ok(HookAnswer {
                    reply: HookReply::Context(format!("[consort] {error}.")),
                    ..HookAnswer::SILENCE
                }),
                false => Err(error.into()),
            }
        }
        answered => answered,
    }
}

fn answer(app: &mut App, call: &HookCall, context: &dyn HookContext) -> Result<HookAnswer, PresenceError> {
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

/// Finds the process that hosts the calling session. Ancestors are read no further up than
/// to the one that decides.
fn hosting(host: &dyn Host, context: &dyn HookContext) -> Option<Process> {
    let named = context.pid();
    let decides = |process: &Process| match named {
        Some(pid) => process.pid == pid,
        None => !is_shell(process),
    };
    hosting_process(host.ancestors_until(&decides), named)
}

/// Builds the request that registers the calling session.
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
