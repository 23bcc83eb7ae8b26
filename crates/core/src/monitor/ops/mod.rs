//! The verbs of the monitor room, one file each.

mod close;
mod open;
mod panes;
mod review;
mod stalled_screen;
mod state_change;

pub use open::MayOpenRequest;
pub use review::ReviewMaterial;
