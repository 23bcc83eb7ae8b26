//! The screen of `consort up`: shows all agents at a glance, and lets the person answer each with a key.
//!
//! [`Model`] is plain data. [`update`] is a pure function from a model and an event to effects; an [`EffectRunner`]
//! carries those out, and their outcomes arrive as events. [`view::draw`] is a pure function from a model to
//! cells. So the screen is tested without a terminal, and **nothing in this crate reads the store, starts a
//! process or asks for the time**; only [`terminal`] touches a terminal.

mod data;
mod effect;
mod event;
pub mod keys;
mod line_edit;
mod model;
pub mod plain;
mod rows;
pub mod terminal;
mod update;
pub mod view;

pub use data::*;
pub use effect::*;
pub use event::*;
pub use line_edit::LineEdit;
pub use model::*;
pub use update::update;
pub use view::paper::wrap;

#[cfg(test)]
mod tests;
