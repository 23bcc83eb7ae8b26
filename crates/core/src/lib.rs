//! The product's logic without the machine it runs on: rooms, journal, ports and `App`.
//!
//! Rooms hold the rules; [`App`] is the API that every door holds; [`engine`] and [`host`] are
//! the ports that adapters implement. Nothing in here prints, reads the environment, starts a
//! process or knows a database.

mod app;
pub mod call_context;
pub mod claims;
pub mod config;
pub mod convergence;
pub mod dispatch;
pub mod engine;
pub mod envelope;
pub mod explain;
pub mod hooks;
pub mod host;
mod id;
pub mod journal;
pub mod knowledge;
pub mod messages;
pub mod monitor;
pub mod notices;
pub mod path_part;
pub mod policy;
pub mod presence;
pub mod primer;
pub mod project;
pub mod secrets;
pub mod side_files;
pub mod status;
pub mod tasks;
pub mod text;
mod time;

pub use app::App;
pub use app::OpenApp;
pub use time::Timestamp;
