//! Monitor verbs that keep the prompt and the diff of a finished agent for a day, for its reviewer.

use serde::Deserialize;
use serde::Serialize;

use crate::App;
use crate::engine::StoreError;
use crate::journal::Number;
use crate::text;

/// The material for a review: an agent's prompt, and the changes that the agent made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewMaterial {
    pub name: String,
    /// The agent's first prompt, as far as prompts are kept.
    pub prompt: Option<String>,
    /// The changes since the commit that the agent began at, uncommitted ones included.
    pub diff: String,
}

impl App {
    /// Keeps the review material of a pane that we opened.
    pub fn keep_reviewed(&mut self, pane: Number, material: &ReviewMaterial) -> Result<(), StoreError> {
        let files = self.engine.side_files();
        let now = self.host.now();
        let text = serde_json::to_string(material).unwrap_or_default();
        files.keep(&name(pane), text.as_bytes(), now)
    }

    /// Returns the review material of a pane, if it was kept within the last day.
    pub fn review_material(&self, pane: Number) -> Option<ReviewMaterial> {
        serde_json::from_slice(&self.engine.side_files().kept(&name(pane))?).ok()
    }
}

fn name(pane: Number) -> String {
    // Kept files are named by a hexadecimal number.
    format!("{:016x}", text::stable_hash(format!("review of pane {pane}").as_bytes()))
}
