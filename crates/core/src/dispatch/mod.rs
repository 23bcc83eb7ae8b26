//! The dispatch room: agents that are put to work without a terminal, and what came of it.
//!
//! A *run* is one piece of work that an agent CLI does by itself: it is asked for, passes
//! gates, and belongs to one small process, its supervisor, until it has ended. While it
//! runs it is an agent like any other. **A run ends exactly once, in a state that says
//! what was seen: what is not known is told as unknown.**

pub mod backoff;
pub mod batch;
pub mod budget;
#[cfg(test)]
mod budget_tests;
pub mod chain;
mod error;
mod gates;
mod model;
mod ops;
mod progress;
pub mod receipt;
mod role;
mod role_layers;
mod safety;
mod store;
mod wording;
mod worker;

pub use error::DispatchError;
pub use error::Refusal;
pub use gates::AskedBy;
pub use gates::DispatchLimits;
pub use gates::GateFacts;
pub use gates::Wish;
pub use model::DispatchChange;
pub use model::RunEnd;
pub use model::RunRecord;
pub use model::RunSpec;
pub use model::RunState;
pub use model::Spending;
pub use ops::RunRequest;
pub use progress::Progress;
pub use role::DEFAULT_ROLE;
pub use role::Isolation;
pub use role::REASONING;
pub use role::ROLE_KEYS;
pub use role::Role;
pub use role::RoleError;
pub use role::RoleKey;
pub use role::RoleValue;
pub use role::RoleValueKind;
pub use role::Tier;
pub use role::check_role_name;
pub use role::is_argument;
pub use role::role_key;
pub use role_layers::ResolvedRole;
pub use role_layers::RoleEntry;
pub use role_layers::RoleLayer;
pub use role_layers::RoleNote;
pub use role_layers::RoleOrigin;
pub use role_layers::RoleSource;
pub use role_layers::find_role;
pub use role_layers::is_looser;
pub use role_layers::resolve_roles;
pub use safety::Safety;
pub use store::DispatchStore;
pub use worker::Cost;
pub use worker::Failure;
pub use worker::FailureKind;
pub use worker::Usage;
pub use worker::WorkerEvent;
pub use worker::WorkerExit;
