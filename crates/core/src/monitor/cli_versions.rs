//! Caches the versions of the installed CLIs in a published text, so that no CLI is asked twice.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::App;
use crate::Timestamp;

/// Name of the published text.
const NAME: &str = "versions";

/// Age up to which a cached version counts: a file may be a script whose real program is updated separately.
const FRESH: i64 = Timestamp::HOUR;

/// The version that one program file of a CLI reported.
#[derive(Serialize, Deserialize)]
struct Said {
    /// The program file that was asked: another file may have another version.
    file: String,
    version: String,
    at: Timestamp,
}

impl App {
    /// Returns the cached version of a CLI, if it is fresh and came from this program file.
    pub fn cli_version(&self, cli: &str, file: &str) -> Option<String> {
        let said = self.cli_versions().remove(cli)?;
        let is_fresh = self.host.now().since(said.at) < FRESH;
        (is_fresh && said.file == file).then_some(said.version)
    }

    /// Caches the version that a program file of a CLI reported.
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
