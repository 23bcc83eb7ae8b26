//! Formats outcomes as text, where more than one command prints them.

pub(crate) mod agents;
pub(crate) mod holds;
pub(crate) mod known;
pub(crate) mod messages;
pub(crate) mod runs;
