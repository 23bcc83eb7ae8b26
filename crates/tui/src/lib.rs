//! The screen: one look over all agents, and every answer a key away.
//!
//! [`Model`] is plain data. [`update`] is a pure function from a model and an event to effects;
//! a [`Door`] carries those out, and what comes of them arrives as events. [`view::draw`] is a
//! pure function from a model to cells. So all of it is tested without a terminal, and
//! **nothing here reads the store, starts a process or asks for the time**; only [`terminal`]
//! touches a terminal.

mod data;
mod effect;
mod event;
mod input;
pub mod keys;
mod lists;
mod model;
pub mod plain;
pub mod terminal;
mod update;
pub mod view;

pub use data::*;
pub use effect::*;
pub use event::*;
pub use input::LineEdit;
pub use model::*;
pub use update::update;
pub use view::paper::wrap;

#[cfg(test)]
mod tests;
