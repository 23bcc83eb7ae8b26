//! The verbs of the monitor room, one file each.

mod close;
mod frozen;
mod open;
mod panes;
mod review;
mod turn;

pub use open::MayOpenRequest;
pub use review::ReviewMaterial;
