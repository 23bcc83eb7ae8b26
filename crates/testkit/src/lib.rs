//! The helpers for tests: a sealed world to run the real program in, a scripted model to
//! run real agent CLIs against, and the story tests that every engine must pass.

#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on should stop the test")]

pub mod claims_story;
pub mod convergence_story;
mod fake_cli;
mod fake_host;
mod hostile_text;
pub mod jail;
pub mod messages_story;
pub mod mounts;
mod pane_world;
mod real_agents;
mod real_claude;
mod resident_agent;
mod rounds;
mod scripted_model;
mod sealed_world;
mod seat;
pub mod store_story;
mod tmux;
mod token_count;

pub use fake_cli::FakeCli;
pub use fake_host::FakeHost;
pub use hostile_text::HOSTILE;
pub use pane_world::PaneWorld;
pub use real_agents::RealAgent;
pub use real_agents::with;
pub use real_claude::Claude;
pub use resident_agent::Resident;
pub use rounds::random_below;
pub use rounds::rounds;
pub use scripted_model::Step;
pub use scripted_model::StubModel;
pub use sealed_world::Ran;
pub use sealed_world::Sealed;
pub use seat::HostProcess;
pub use seat::HostedCommand;
pub use seat::attach_terminal;
pub use tmux::Tmux;
pub use tmux::until;
pub use token_count::tokens;
