//! The door over HTTP: outcomes as JSON, the journal as a stream of events, knowledge
//! over y-websocket, and any service that is put beside them.
//!
//! Bound to this machine unless asked otherwise. **A call needs a token, and
//! nothing that a page of another site can make a browser send is a call**; what may
//! be done is told by the token, who calls by its processes, as everywhere.

mod api;
mod events;
mod guard;
mod reply;
mod server;
mod sync;

pub use guard::Token;
pub use guard::Tokens;
pub use server::HttpServer;
pub use sync::Remote;
pub use sync::SyncClient;
pub use sync::SyncError;
pub use sync::SyncNews;
