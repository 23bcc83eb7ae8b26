//! Monitor verbs that keep, for a day, what the screen of a stalled agent showed.

use crate::App;
use crate::engine::StoreError;
use crate::monitor::PanePlace;
use crate::text;

impl App {
    /// Keeps the screen of an agent that has stalled. It has no secrets in it any more.
    pub fn keep_frozen_screen(&mut self, place: &PanePlace, screen: &str) -> Result<(), StoreError> {
        self.engine.side_files().keep(&name(place), screen.as_bytes(), self.host.now())
    }

    /// What was kept of it within the last day.
    pub fn frozen_screen(&self, place: &PanePlace) -> Option<String> {
        String::from_utf8(self.engine.side_files().kept(&name(place))?).ok()
    }
}

fn name(place: &PanePlace) -> String {
    // What is kept is named by a number in hexadecimal.
    format!("{:016x}", text::checksum(format!("screen of {}", place.key()).as_bytes()))
}
