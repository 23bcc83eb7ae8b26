//! The presence room: which agents are here, under which names, and what each is doing.
//!
//! An [`Agent`] is one session of one agent CLI, identified by its session id and
//! called by a memorable name. It joins, may be renamed, and leaves; these changes are
//! journalled. Its current activity is an [`ActivityUpdate`]: noted outside the journal,
//! and cheap, because it comes with every tool call.
//!
//! The session id is the key because nothing else is stable: terminals are
//! shared, process ids are reused, one process may host several sessions.
//!
//! **A name belongs to at most one present agent. An agent is present while
//! its process lives; its leaving is recorded exactly once.**

mod activity;
mod belongings;
mod caller;
mod error;
mod find_by_word;
mod model;
mod names;
mod newcomer;
mod not_allowed;
mod ops;
mod roster;
mod rules;
mod store;
#[cfg(test)]
mod tests;
pub mod wording;

pub use caller::Caller;
pub use caller::CallerFacts;
pub use caller::Proof;
pub use caller::Unproven;
pub use error::PresenceError;
pub use find_by_word::find_by_word;
pub use model::Activity;
pub use model::ActivityOutcome;
pub use model::ActivityUpdate;
pub use model::Agent;
pub use model::AgentName;
pub use model::AgentView;
pub use model::CliStatus;
pub use model::Departure;
pub use model::JoinOutcome;
pub use model::JoinRequest;
pub use model::LeaveOutcome;
pub use model::LeaveReason;
pub use model::Location;
pub use model::NameWish;
pub use model::Observed;
pub use model::Point;
pub use model::PresenceChange;
pub use model::Rect;
pub use model::RenameOutcome;
pub use model::ScreenPart;
pub use model::SessionId;
pub use model::Status;
pub use model::Subagent;
pub use model::Terminal;
pub use model::Unfinished;
pub use model::WhoOutcome;
pub use model::WhoScope;
pub use names::is_valid_name;
pub use not_allowed::NotAllowed;
pub(crate) use ops::agent_views;
pub(crate) use ops::forget_before;
pub(crate) use ops::gone_before;
pub(crate) use ops::is_alive;
pub(crate) use ops::partition_alive;
pub(crate) use ops::project_without_git;
pub(crate) use ops::require_confirmed;
pub(crate) use ops::require_person;
pub(crate) use ops::who_calls;
pub use rules::hosting_process;
pub use rules::is_shell;
pub use rules::is_tmux_server;
pub use rules::may_register;
pub use rules::quadrant;
pub(crate) use rules::see_gone;
pub use store::PresenceStore;
