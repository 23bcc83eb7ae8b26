//! Keeps knowledge in sync over y-websocket with every connected peer.
//!
//! The peers of a project share one document while any is connected. The document is made from
//! the journal; a peer's changes are recorded in the journal before other peers get them,
//! and what others record (commands, agents, another server) comes from the journal.
//!
//! **The document is always made of the journal's entries, in their order.** Where
//! it may have become different, it is dropped and made again.

mod client;
mod close_reason;
mod shared_document;
mod socket;

pub use client::Remote;
pub use client::SyncClient;
pub use client::SyncConnectionChange;
pub use client::SyncError;
pub(crate) use shared_document::SharedDocuments;
pub(crate) use socket::routes;
