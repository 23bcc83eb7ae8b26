//! Monitor verbs that keep the screen of a stalled agent for a day.

use crate::App;
use crate::engine::StoreError;
use crate::monitor::PaneIdentity;
use crate::text;

impl App {
    /// Keeps the screen of a stalled agent; the caller has removed its secrets.
    pub fn keep_frozen_screen(&mut self, place: &PaneIdentity, screen: &str) -> Result<(), StoreError> {
        self.engine.side_files().keep(&name(place), screen.as_bytes(), self.host.now())
    }

    /// Returns the screen that was kept for a pane within the last day.
    pub fn frozen_screen(&self, place: &PaneIdentity) -> Option<String> {
        String::from_utf8(self.engine.side_files().kept(&name(place))?).ok()
    }
}

fn name(place: &PaneIdentity) -> String {
    // Kept files are named by a hexadecimal number.
    format!("{:016x}", text::stable_hash(format!("screen of {}", place.key()).as_bytes()))
}
