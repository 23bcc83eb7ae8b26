//! Tells of stuck agents, and frees what they hold once those who asked for it have waited long
//! enough.

use consort_core::Timestamp;

use super::watcher::Watcher;
use crate::error::CommandError;
use crate::world::Opened;

/// How often is looked for them.
const EVERY: i64 = 15 * Timestamp::SECOND;

impl Watcher<'_> {
    /// Tells those who wait, and frees what was contested for long enough; both sides are told.
    pub(super) fn free_stuck(&mut self, opened: &mut Opened) -> Result<(), CommandError> {
        let now = self.now();
        if now.since(self.stuck_at) >= EVERY {
            self.stuck_at = now;
            opened.app.tell_of_stuck()?;
            opened.app.free_stuck()?;
        }
        Ok(())
    }
}
