//! What tests stand on: a sealed world to run the real program in, a scripted
//! model to run real agent CLIs against, and the promises of the workspace.

#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on should stop the test")]

mod agents;
pub mod claim_story;
mod claude;
pub mod convergence_story;
mod host;
mod hostile;
pub mod jail;
pub mod mail_story;
mod model;
pub mod mounts;
mod resident;
mod rounds;
mod seat;
pub mod story;
mod tmux;
mod tokens;
mod world;

pub use agents::RealAgent;
pub use agents::with;
pub use claude::Claude;
pub use host::FakeHost;
pub use hostile::HOSTILE;
pub use model::Step;
pub use model::StubModel;
pub use resident::Resident;
pub use rounds::chance;
pub use rounds::rounds;
pub use seat::Seat;
pub use seat::Seated;
pub use seat::at_terminal;
pub use tmux::Tmux;
pub use tmux::until;
pub use tokens::tokens;
pub use world::Ran;
pub use world::Sealed;
