//! The port of the monitor room: the reads of pane records that an engine must offer.

use super::PaneIdentity;
use super::PaneRecord;
use crate::engine::StoreError;

/// The reads that the monitor needs.
pub trait MonitorStore {
    /// Returns every pane that was opened or came into a state that matters, and was not closed since.
    fn panes(&self) -> Result<Vec<PaneRecord>, StoreError>;

    /// Returns the record of one pane.
    fn pane(&self, place: &PaneIdentity) -> Result<Option<PaneRecord>, StoreError>;
}
