//! The query language of knowledge (`scheme` over the index), and the document that carries
//! knowledge to other replicas (`crdt`).
//!
//! The knowledge room of `core` says what is known and how it is recorded. This
//! crate answers queries ([`ask()`]), and makes the document that other replicas
//! read and write ([`document`]). **A query changes nothing, reaches nothing but
//! what is known, and its answer is never longer than it may be.**

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
pub use ask::CancelOnDrop;
pub use ask::Question;
pub use ask::ask;
pub use consort_scheme::Format;
pub use consort_scheme::Session;
pub use consort_scheme::Signature;
pub use past::JournalPast;
pub use past::Past;
pub use signatures::FUNCTIONS;

/// Example queries of every sort, each with its purpose.
pub const EXAMPLES: &str = include_str!("examples.scm");
