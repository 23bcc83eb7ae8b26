//! Hostile text for tests of everything that a model reads.

/// What hostile text is made of.
pub const HOSTILE: &[&str] = &include!("hostile.in");
