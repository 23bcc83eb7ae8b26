//! Hostile text for tests of everything that a model reads.

/// The pieces that hostile text is made of.
pub const HOSTILE: &[&str] = &include!("hostile.in");
