//! Reads the files that define runs: roles, chains and batches.
//!
//! The text comes from people and from repositories. **Every mistake is reported with its line and column**,
//! all mistakes at once; an unknown key is a mistake and is not skipped.

mod batch;
mod chain;
mod node;
mod reader;
mod roles;

pub use batch::BatchForm;
pub use batch::read_batch;
pub use chain::read_chain;
pub use node::RunFileFormat;
pub use reader::Problem;
pub use roles::SHIPPED_ROLES;
pub use roles::read_roles;
pub use roles::with_role_value;
