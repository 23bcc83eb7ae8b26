//! Monitor verbs that keep, for a day, what a reviewer needs of a finished agent.

use serde::Deserialize;
use serde::Serialize;

use crate::App;
use crate::engine::StoreError;
use crate::journal::Number;
use crate::text;

/// What an agent was asked to do, and what it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewMaterial {
    pub name: String,
    /// As far as prompts are kept.
    pub prompt: Option<String>,
    /// From the commit that it began at, uncommitted changes included.
    pub diff: String,
}

impl App {
    /// Keeps what is to be reviewed of a pane that was opened; once for each different result.
    pub fn keep_review(&mut self, pane: Number, material: &ReviewMaterial) -> Result<(), StoreError> {
        let files = self.engine.side_files();
        let now = self.host.now();
        let text = serde_json::to_string(material).unwrap_or_default();
        files.keep(&name(pane), text.as_bytes(), now)
    }

    /// What is to be reviewed of a pane, if it was kept within the last day.
    pub fn review_material(&self, pane: Number) -> Option<ReviewMaterial> {
        serde_json::from_slice(&self.engine.side_files().kept(&name(pane))?).ok()
    }
}

fn name(pane: Number) -> String {
    // What is kept is named by a number in hexadecimal.
    format!("{:016x}", text::checksum(format!("review of pane {pane}").as_bytes()))
}
