//! Commands about where works head.

pub(crate) mod delegate;
pub(crate) mod domains;
pub(crate) mod handoff;
pub(crate) mod prediction;
pub(crate) mod radar;
