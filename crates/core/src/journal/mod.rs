//! The journal: every change of shared state, in order.
//!
//! Every change of shared state is a [`Change`] inside an [`Entry`]. Recording
//! an entry appends it and applies its changes to the rooms' tables in the
//! verb's transaction; nothing else writes those tables. So the tables are a
//! projection that can be rebuilt, and feeds, audits and live screens are all
//! "read the journal from seq N".
//!
//! Volatile facts (last heard from, current tool) are not news and are not
//! journalled.
//!
//! **Applying the journal from its first entry gives the tables, row for row.**

mod effects;
mod ids;
mod model;
mod ops;
mod store;

pub use effects::Effects;
pub use ids::ChangeId;
pub use ids::EntryId;
pub use model::Actor;
pub use model::Change;
pub use model::Entry;
pub use model::FORMAT;
pub use model::JournalChange;
pub use model::KeptChange;
pub use model::NewEntry;
pub use model::Number;
pub use model::NumberSeries;
pub use model::NumberedChange;
pub use model::Recorded;
pub use model::Seq;
pub use model::TailRequest;
pub use model::UnknownChange;
pub use model::Verification;
pub use store::JournalStore;
