//! Tests of the screen without a terminal: the effects of keys, and the drawn cells.

mod actions;
mod answers;
mod kept;
mod sample;
mod snapshots;
