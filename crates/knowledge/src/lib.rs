//! The query language of knowledge (`scheme` over the index), and the document that
//! carries knowledge elsewhere (`crdt`).
//!
//! The room says what is known and how it is recorded; this says how it is asked
//! for ([`ask()`]) and what other replicas read and write ([`document`]). **A question
//! changes nothing, reaches nothing but what is known, and its answer is never
//! longer than it may be.**

mod arena;
mod ask;
pub mod document;
mod envelope;
mod functions;
mod notes;
mod past;
mod record;
mod signatures;
mod tokens;

pub use ask::Answer;
pub use ask::Question;
pub use ask::ask;
pub use consort_scheme::Format;
pub use consort_scheme::Session;
pub use consort_scheme::Signature;
pub use past::JournalPast;
pub use past::Past;
pub use signatures::FUNCTIONS;

/// Questions of every sort, each with what it is for.
pub const EXAMPLES: &str = include_str!("examples.scm");
