//! The screen without a terminal: what keys do, and what is drawn.

mod actions;
mod answers;
mod kept;
mod sample;
mod snapshots;
