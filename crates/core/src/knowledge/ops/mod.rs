//! The verbs.

mod act;
mod digest;
mod history;
mod index;
mod outdate;
