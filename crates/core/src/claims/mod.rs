//! The claims room: who works on what, by advisory claims and blocking reservations.
//!
//! Both are [`Hold`]s: one resource that one agent holds, from a moment on, exclusively or
//! shared. A claim only informs others; a reservation refuses their writes as they happen. An
//! agent that needs what another holds contests the hold: if the holder does not answer in time,
//! it may be taken. A holder that is gone holds nothing.
//!
//! Facts that come with every tool call are not recorded but noted beside the store: the last
//! writer of a file ([`LastWrite`]), and the state in which a session has seen a file
//! ([`ReadStamp`]).
//!
//! **No two live agents hold overlapping resources, unless both share them.**

mod command;
mod error;
mod kept_file;
mod model;
mod notes;
mod ops;
mod pattern;
#[cfg(test)]
mod pattern_tests;
pub mod published;
mod rules;
mod store;
mod wording;
#[cfg(test)]
mod wording_tests;

pub use command::CommandCall;
pub use command::CommandKind;
pub use command::PathCondition;
pub use command::RunningCommand;
pub use command::SessionWait;
pub use command::Trespass;
pub use error::ClaimError;
pub use kept_file::KeptFile;
pub use kept_file::RestoreOutcome;
pub use model::ClaimChange;
pub use model::CommandView;
pub use model::CommitOutcome;
pub use model::Contest;
pub use model::Extent;
pub use model::FileStamp;
pub use model::Hold;
pub use model::HoldKey;
pub use model::HoldMode;
pub use model::HoldOutcome;
pub use model::HoldRequest;
pub use model::HoldView;
pub use model::HoldsOutcome;
pub use model::HoldsSummary;
pub use model::LastWriteView;
pub use model::ObstructedWrite;
pub use model::PathExplanation;
pub use model::PendingWrite;
pub use model::PublishedHold;
pub use model::PublishedHolds;
pub use model::ReadStamp;
pub use model::ReleaseCause;
pub use model::ReleaseOutcome;
pub use model::ReleaseRequest;
pub use model::ReleaseTarget;
pub use model::Resource;
pub use model::ShieldOutcome;
pub use model::Strength;
pub use model::Verdict;
pub use model::WorktreeOverlap;
pub use model::WroteOutcome;
pub use notes::LastWrite;
pub use ops::RestoreMode;
pub(crate) use ops::held_by;
pub(crate) use ops::in_the_way_of;
pub(crate) use ops::label;
pub use ops::locate_write;
pub(crate) use ops::others_holds;
pub use pattern::Case;
pub use pattern::Pattern;
pub use pattern::PatternError;
pub(crate) use rules::freed;
pub(crate) use rules::relabelled;
pub(crate) use rules::taken_over;
pub use store::ClaimStore;
pub use wording::judgement;
pub use wording::override_notice;
