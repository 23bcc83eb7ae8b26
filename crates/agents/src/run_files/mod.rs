//! Reads the files that say what is to be run: roles, chains and batches.
//!
//! The text comes from people and from repositories. **Whatever is wrong with it is said
//! with its line and column**, all of it at once; a key that nobody knows is a mistake,
//! not something to pass over.

mod batch;
mod chain;
mod node;
mod reader;
mod roles;

pub use batch::BatchForm;
pub use batch::read_batch;
pub use chain::read_chain;
pub use node::FileForm;
pub use reader::Problem;
pub use roles::SHIPPED_ROLES;
pub use roles::read_roles;
pub use roles::with_role_value;
