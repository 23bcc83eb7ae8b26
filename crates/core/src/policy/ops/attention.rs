//! Policy verbs that know whether the person is looking at our list of questions: only then may a
//! hook wait, which hides its CLI's own dialog.

use crate::App;
use crate::Timestamp;

/// The published text that says when the list was last drawn, and when a key was last pressed.
const LOOKING: &str = "looking";

/// Greatest age of a list that the person is looking at.
const DRAWN: i64 = 5 * Timestamp::SECOND;

/// Longest time since the last key, if the person is still looking.
const KEY: i64 = 2 * Timestamp::MINUTE;

impl App {
    /// Notes that the list was drawn on the person's terminal, and when a key was last pressed
    /// there.
    pub fn note_question_list_drawn(&mut self, last_key: Timestamp) {
        let text = format!("{} {}", self.host.now().0, last_key.0);
        self.engine.side_files().set_text(LOOKING, &text);
    }

    /// Tells whether the person is looking at the list.
    pub fn is_question_list_watched(&self) -> bool {
        let now = self.host.now();
        let text = self.engine.side_files().text(LOOKING).unwrap_or_default();
        let is_within =
            |text: &str, most| text.parse().is_ok_and(|at| (0..=most).contains(&now.since(Timestamp(at))));
        text.split_once(' ').is_some_and(|(drawn, key)| is_within(drawn, DRAWN) && is_within(key, KEY))
    }
}
