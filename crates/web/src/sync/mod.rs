//! Knowledge over y-websocket: kept in sync with every peer that is connected.
//!
//! The peers of a project share one document while any is there. It is made from
//! the journal; what a peer says is recorded there before anyone else hears of it,
//! and what others record (commands, agents, another server) comes from there.
//!
//! **The document is what the journal makes of its entries, in their order.** Where
//! it may have become something else, it is dropped and made anew.

mod client;
mod close_reason;
mod shared_document;
mod socket;

pub use client::Remote;
pub use client::SyncClient;
pub use client::SyncError;
pub use client::SyncNews;
pub(crate) use shared_document::SharedDocuments;
pub(crate) use socket::routes;
