//! The port of the monitor room: what an engine must store of panes.

use super::PanePlace;
use super::PaneRecord;
use crate::engine::StoreError;

/// The reads that the monitor needs.
pub trait MonitorStore {
    /// Every pane that was opened or has come into a state that matters, and was not
    /// closed since.
    fn panes(&self) -> Result<Vec<PaneRecord>, StoreError>;

    /// One of them.
    fn pane(&self, place: &PanePlace) -> Result<Option<PaneRecord>, StoreError>;
}
