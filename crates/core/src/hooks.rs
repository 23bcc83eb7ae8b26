//! Hook events and hook replies in our own terms, and the trait by which a CLI's
//! adapter translates them.
//!
//! Every agent CLI spells its events differently; its adapter turns them into a [`HookCall`] and
//! our [`HookReply`] back into the CLI's format.
//! Behaviour is written once per event, in the `hook` door.

use std::path::PathBuf;

use crate::policy::AskAnswer;
use crate::policy::AskItem;
use crate::policy::AskKind;
use crate::presence::SessionId;

/// The format in which one agent CLI calls hooks.
pub trait Dialect {
    /// Returns the CLI's name in `consort hook <kind> …` and in `who`.
    fn kind(&self) -> &'static str;

    /// Parses one call; `None` for events and payloads that mean nothing to us.
    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall>;

    /// Tells whether context in a reply to [`HookEvent::ToolBefore`] reaches the model.
    fn hears_before_tools(&self) -> bool {
        true
    }

    /// Renders our reply to an event; `None` prints nothing.
    fn write(&self, event: &str, reply: &HookReply) -> Option<String>;

    /// Renders the answer to the question in that payload; `None` where the CLI takes none.
    fn write_answer(&self, _payload: &[u8], _answer: &AskAnswer) -> Option<String> {
        None
    }
}

/// One event of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    pub session: SessionId,
    pub cwd: PathBuf,
    pub model: Option<String>,
    /// Whether a subagent caused the event; the reply then reaches the subagent, not the session.
    pub in_subagent: bool,
    /// Whether the session asks the person before it acts, where the call tells.
    pub asks_first: Option<bool>,
    pub event: HookEvent,
}

/// The event that a hook reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEvent {
    SessionStart {
        replaces: Replaces,
        /// Whether the reply reaches the model; otherwise its text is given with the next prompt.
        is_heard: bool,
    },
    /// The person sent this prompt.
    Prompt(String),
    ToolBefore(ToolUse),
    ToolAfter {
        tool: ToolUse,
        failed: bool,
        /// Whether a write failed because its target is read-only or mounted.
        met_read_only: bool,
    },
    /// The agent waits for the person; the text says for what.
    Waiting(String),
    /// The agent asks the person, and its CLI takes an answer from the hook.
    Asks(Box<AskCall>),
    /// The person has answered, and the agent goes on.
    Resumed,
    /// An idle session was woken for its mail, and asks for it.
    Woken,
    /// The turn is over without a question. Some turns can be kept going, once.
    TurnEnd {
        may_go_on: bool,
        /// Whether a command may still run in the background.
        runs_on: bool,
    },
    /// Nothing has happened for a while.
    Idle,
    TurnFailed(String),
    SubagentStart {
        id: String,
        kind: String,
    },
    SubagentStop {
        id: String,
    },
    Compacting,
    SessionEnd {
        /// Whether another session of the same process takes its place.
        is_replaced: bool,
    },
}

/// A question that a CLI asks the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskCall {
    pub tool: ToolUse,
    pub kind: AskKind,
    /// The text that the person has to decide about.
    pub text: String,
    /// Whether the text was cut.
    pub is_cut: bool,
    pub questions: Vec<AskItem>,
    /// Whether the CLI offers not to ask again.
    pub can_be_always: bool,
    pub dialog: Dialog,
}

/// The state of the CLI's own dialog while a hook has not answered the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// The dialog is there and can be used: the first answer counts.
    IsUsable,
    /// The dialog comes when the hook has ended.
    IsHidden,
    /// The CLI calls the hook before every tool, and nobody knows whether a dialog would come:
    /// the hook does not wait for an answer.
    MayNotCome,
}

/// The session that a starting session replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Replaces {
    #[default]
    Nobody,
    /// The session that its process hosted before.
    TheLast,
    /// The session that its process hosted before, if that process hosts one session at a time.
    TheLastIfAlone,
    Session(SessionId),
}

/// One use of a tool, with its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// The id that tells this use from others at the same time.
    pub id: String,
    pub name: String,
    pub act: ToolAction,
    /// Whether the tool deletes one of the files that it writes, where its call tells.
    pub deletes: bool,
    /// Whether its command goes on after the tool call has ended.
    pub in_background: bool,
    /// Whether this is one of the CLI's own tools, used as usual: not a tool of an MCP server,
    /// nor a shell that is to leave its sandbox.
    pub is_own: bool,
}

/// The action of a tool, in our terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolAction {
    Reads(PathBuf),
    Writes(Vec<PathBuf>),
    /// A command for the shell.
    Runs(String),
    /// Some other action on this path.
    Visits(PathBuf),
    #[default]
    Other,
}

/// The reply of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookReply {
    Silence,
    /// Text for the model, as data and not as the user's words.
    Context(String),
    /// Text for the model at the end of a turn, which then goes on.
    GoOn(String),
    /// A refusal of the tool, with the reason.
    Deny(String),
    /// A demand that the person is asked first, with the reason.
    Ask(String),
    /// The command to run in place of the agent's.
    Rewrite(String),
}
