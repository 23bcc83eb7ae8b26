//! The monitor room: what the terminals of agents show, and what that means.
//!
//! A [`Capture`] is one look at a pane. What is particular to a CLI is a
//! [`Signature`], which is data (`agents/src/<cli>/screen.toml`, and files of the
//! user's): rules in order, each with what must be seen where. The first rule that
//! holds names the state, so dialogs come before errors, errors before work, work
//! before rest.
//!
//! **What no rule knows is unknown, and nobody acts on it.**

mod capture;
mod classify;
mod details;
mod model;
mod signature;
#[cfg(test)]
mod tests;

pub use capture::Capture;
pub use classify::classify;
pub use model::MenuOption;
pub use model::PaneReading;
pub use model::PaneState;
pub use signature::ComposerRule;
pub use signature::Pattern;
pub use signature::Rule;
pub use signature::Signature;
