//! The knowledge room: what sessions have learned, for those that come later: principles, patterns,
//! decisions, notes, descriptions of files, and the relationships between them.
//!
//! The journal keeps what was recorded, by whom, when and at which commit. Reads use an index made
//! from it; a document for git and for other replicas is made from it too, and what comes from
//! there is recorded like everything else.
//!
//! **Nothing recorded is lost by a merge.** An entity is known by an id of its own, so two replicas
//! never write the same one unknowingly; entities of the same name are read as one: of every value
//! the newest by the clock that recorded it, of every list all members. **A batch of actions is
//! recorded as a whole or not at all**: it is decided against one view, and is one entry.

mod actions;
mod commands;
mod digest;
mod entity;
mod error;
mod foreign;
mod git_file;
mod import;
mod item;
mod kinds;
mod merge;
mod model;
mod ops;
mod past_index;
mod renewal;
mod resolve_path;
mod row;
mod similar;
mod store;
mod suggestion;
#[cfg(test)]
mod tests;
mod weight;
mod wording;
mod worktree_index;

pub use actions::MOST_ACTIONS;
pub use commands::KeptCommand;
pub use digest::digest_line;
pub use entity::Entity;
pub use entity::Register;
pub use entity::SetMember;
pub use error::KnowledgeError;
pub use error::Mistake;
pub use git_file::GitFile;
pub use git_file::GitFileMark;
pub use git_file::GitFileStamp;
pub use git_file::TakenIn;
use import::adopted;
pub use import::import_action;
pub use import::recording_action;
pub use kinds::Field;
pub use kinds::FieldType;
pub use kinds::Kind;
pub use merge::ENDS;
pub use merge::merge;
pub use model::ActOutcome;
pub use model::ActRequest;
pub use model::Edit;
pub use model::EditChange;
pub use model::ForgetOutcome;
pub use model::ForgetRequest;
pub use model::ImportOutcome;
pub use model::ImportedThing;
pub use model::KnowledgeChange;
pub use model::KnowledgeCursor;
pub use model::Known;
pub use model::LONGEST_AHEAD;
pub use model::RenewRequest;
pub use model::RenewalRequests;
pub use model::Scope;
pub use model::SimilarProject;
pub use model::Source;
pub use model::StampedEdit;
pub use model::Suggestion;
use model::fresh_replica;
pub use renewal::RenewalRequest;
pub use row::Row;
pub use row::RowField;
pub use store::ChangedScopes;
pub use store::KnowledgeIndex;
pub use store::KnowledgeStore;
pub use wording::slug;
