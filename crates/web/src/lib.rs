//! The door over HTTP: outcomes as JSON, the journal as a stream of events, knowledge
//! over y-websocket, and any other service that is added.
//!
//! The server is bound to this machine unless asked otherwise. **A call needs a token, and
//! no request that a page of another site can make a browser send is a call.** The token decides
//! what the caller may do; the caller is identified by its processes, as everywhere.

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
pub use sync::SyncConnectionChange;
pub use sync::SyncError;
