//! Notifies sessions of stuck agents that they wait for, and frees the holds of these agents once they were
//! contested for long enough.

use consort_core::Timestamp;

use super::watcher::Watcher;
use crate::error::CommandError;
use crate::world::OpenWorld;

/// Interval between two searches for stuck agents.
const EVERY: i64 = 15 * Timestamp::SECOND;

impl Watcher<'_> {
    /// Notifies the sessions that wait, and frees holds that were contested for long enough; both sides are
    /// notified.
    pub(super) fn free_stuck(&mut self, opened: &mut OpenWorld) -> Result<(), CommandError> {
        let now = self.now();
        if now.since(self.stuck_at) >= EVERY {
            self.stuck_at = now;
            opened.app.tell_of_stuck()?;
            opened.app.free_stuck()?;
        }
        Ok(())
    }
}
