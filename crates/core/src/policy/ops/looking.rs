//! Policy verbs that know whether the person looks at our list of questions: only then may a
//! hook wait that hides its CLI's own dialog.

use crate::App;
use crate::Timestamp;

/// The published text that says when the list was last drawn, and when a key was last pressed.
const LOOKING: &str = "looking";

/// How old the list may be that the person looks at.
const DRAWN: i64 = 5 * Timestamp::SECOND;

/// How long ago the last key may have been pressed.
const KEY: i64 = 2 * Timestamp::MINUTE;

impl App {
    /// Notes that the list was drawn on the person's terminal, where a key was pressed then.
    pub fn note_looking(&mut self, last_key: Timestamp) {
        let text = format!("{} {}", self.host.now().0, last_key.0);
        self.engine.side_files().set_text(LOOKING, &text);
    }

    /// Whether the person looks at the list.
    pub fn is_looked_at(&self) -> bool {
        let now = self.host.now();
        let text = self.engine.side_files().text(LOOKING).unwrap_or_default();
        let is_within =
            |text: &str, most| text.parse().is_ok_and(|at| (0..=most).contains(&now.since(Timestamp(at))));
        text.split_once(' ').is_some_and(|(drawn, key)| is_within(drawn, DRAWN) && is_within(key, KEY))
    }
}
