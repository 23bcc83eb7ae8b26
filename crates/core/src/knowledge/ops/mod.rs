//! The verbs.

mod act;
mod digest;
mod look;
mod outdate;
mod past;
