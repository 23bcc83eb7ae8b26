//! The language as its users meet it.

mod attacks;
mod common;
mod corpus;
mod printing;
mod properties;
mod session;
