//! The verbs.

mod act;
mod look;
