//! Versions of the installed CLIs, as each said it: a published text, so that nobody asks
//! twice.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::App;
use crate::Timestamp;

/// What the text is called.
const NAME: &str = "versions";

/// A file may be a script that starts another one, which is updated without it.
const FRESH: i64 = Timestamp::HOUR;

/// What one file of a CLI said.
#[derive(Serialize, Deserialize)]
struct Said {
    /// Which file: another one may be of another version.
    file: String,
    version: String,
    at: Timestamp,
}

impl App {
    /// What that file of a CLI said of its version, if it was asked.
    pub fn cli_version(&self, cli: &str, file: &str) -> Option<String> {
        let said = self.cli_versions().remove(cli)?;
        let is_fresh = self.host.now().since(said.at) < FRESH;
        (is_fresh && said.file == file).then_some(said.version)
    }

    /// Keeps what it said.
    pub fn note_cli_version(&self, cli: &str, file: &str, version: &str) {
        let (mut all, at) = (self.cli_versions(), self.host.now());
        all.insert(cli.to_owned(), Said { file: file.to_owned(), version: version.to_owned(), at });
        self.engine.side_files().set_text(NAME, &serde_json::to_string(&all).unwrap_or_default());
    }

    fn cli_versions(&self) -> BTreeMap<String, Said> {
        let text = self.engine.side_files().text(NAME);
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}
