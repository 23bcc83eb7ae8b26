//! Tests of the language through its public interface.

mod attacks;
mod common;
mod corpus;
mod printing;
mod properties;
mod session;
