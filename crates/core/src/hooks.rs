//! Hook events and hook replies in our own terms, and the trait by which a CLI's
//! adapter translates them.
//!
//! Every agent CLI spells its events differently; its adapter turns them into
//! a [`HookCall`] and our [`HookReply`] back into what it understands.
//! Behaviour is written once per event, in the `hook` door.

use std::path::PathBuf;

use crate::policy::AskAnswer;
use crate::policy::AskKind;
use crate::policy::Question;
use crate::presence::SessionId;

/// One agent CLI's way of calling hooks.
pub trait Dialect {
    /// What it is called in `consort hook <kind> …` and in `who`.
    fn kind(&self) -> &'static str;

    /// Reads one call. `None` for events and payloads that mean nothing to us.
    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall>;

    /// Whether what is said before a tool is used reaches the model.
    fn hears_before_tools(&self) -> bool {
        true
    }

    /// Writes our answer to that event; `None` is silence.
    fn write(&self, event: &str, reply: &HookReply) -> Option<String>;

    /// Writes the answer to what the person was asked by that payload; `None` where the CLI
    /// takes none.
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
    /// A subagent's event: what is said in answer reaches it, not the session.
    pub in_subagent: bool,
    /// Whether the session asks before it acts, where the call tells.
    pub asks_first: Option<bool>,
    pub event: HookEvent,
}

/// What a hook tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEvent {
    SessionStart {
        replaces: Replaces,
        /// Whether what is said in answer reaches the model; otherwise it is said
        /// with the next prompt.
        is_heard: bool,
    },
    /// The person sent this prompt.
    Prompt(String),
    ToolBefore(ToolUse),
    ToolAfter {
        tool: ToolUse,
        failed: bool,
        /// Something could not be written because it is read-only or mounted.
        met_read_only: bool,
    },
    /// The agent waits for the person; the text says for what.
    Waiting(String),
    /// The same, where an answer of ours would be taken.
    Asks(Box<AskCall>),
    /// The person has answered, and the agent goes on.
    Resumed,
    /// An idle session was told that it has mail, and asks for it.
    Woken,
    /// The turn is over and nothing is asked. Some can be kept going, once.
    TurnEnd {
        may_go_on: bool,
        /// Whether something may still run in the background.
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
        /// Another session of the same process takes its place.
        is_replaced: bool,
    },
}

/// What a CLI asks its person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskCall {
    pub tool: ToolUse,
    pub kind: AskKind,
    /// All that there is to decide about.
    pub text: String,
    /// Whether there is more to it than the text tells.
    pub is_cut: bool,
    pub questions: Vec<Question>,
    /// Whether the CLI offers not to ask again.
    pub can_be_always: bool,
    pub dialog: Dialog,
}

/// What the person sees of a question while a hook has not answered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// The dialog is there and can be used: the first answer counts.
    IsUsable,
    /// The dialog comes when the hook has ended.
    IsHidden,
    /// The hook is asked before every tool, and nobody knows whether a dialog would come: it
    /// waits for nobody.
    MayNotCome,
}

/// Whose place a session takes that begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Replaces {
    #[default]
    Nobody,
    /// That of the session that its process had before.
    TheLast,
    /// The same, if its process is one of a CLI that has one session at a time.
    TheLastIfAlone,
    Session(SessionId),
}

/// A tool, and on what it is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// What tells this use from others at the same time.
    pub id: String,
    pub name: String,
    pub act: ToolAction,
    /// Whether it takes one of the files away that it writes, where its call tells.
    pub deletes: bool,
    /// Whether what it runs goes on when it is done.
    pub in_background: bool,
    /// Whether it is one of the CLI's own tools, used as usual: not one of an MCP server, nor a
    /// shell that is to leave its sandbox.
    pub is_own: bool,
}

/// What a tool does, in our words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolAction {
    Reads(PathBuf),
    Writes(Vec<PathBuf>),
    /// A command for the shell.
    Runs(String),
    /// Something else, with this path.
    Visits(PathBuf),
    #[default]
    Other,
}

/// What a hook answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookReply {
    Silence,
    /// Put before the model as data, not as the user's words.
    Context(String),
    /// The same, at the end of a turn, which then goes on.
    GoOn(String),
    /// The tool is not to be used, and why.
    Deny(String),
    /// The person is to be asked first, and why.
    Ask(String),
    /// This is to be run in place of the command.
    Rewrite(String),
}
