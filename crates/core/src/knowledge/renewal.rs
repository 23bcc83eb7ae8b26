//! Requests to renew what is known of a file: the next session that touches the file is asked to
//! look at it again.
//!
//! The requests are a published text of their repository. Most repositories have none, so the hook
//! after a tool finds nothing to read.

use std::path::Path;

use serde::Deserialize;
use serde::Serialize;

use crate::side_files::SideFiles;
use crate::text;

/// A request to look again at a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewalRequest {
    /// The file, relative to the worktree.
    pub path: String,
    /// The kind and name of the record: `file src/a.rs`, `principle one-writer`.
    pub about: String,
    /// The text of the record.
    pub says: String,
    /// The name of the record, for the commands that renew it.
    pub name: String,
    /// The name of the agent that asks; `None` is the person.
    pub by: Option<String>,
}

impl RenewalRequest {
    /// Returns the text that the session which touches the file is shown.
    pub(super) fn asked(&self) -> String {
        let who = match &self.by {
            Some(agent) => format!("{} (an agent) asks", text::foreign(agent, 60)),
            None => "Your user asks".to_owned(),
        };
        let name = text::shell_quoted(&self.name);
        format!(
            "[consort] {who} you to look again at what is known of {}, now that you have it open. \
             {} says, quoted: {}\n\
             If it still holds: consort know renew --holds {name}. If not: record what is true now \
             (consort know add …, or the tool act).",
            text::foreign(&self.path, 120),
            text::foreign(&self.about, 80),
            text::quoted(&self.says, 200),
        )
    }
}

impl dyn SideFiles + '_ {
    /// Returns the requests for sessions in a repository.
    pub fn renewals(&self, repository: &Path) -> Vec<RenewalRequest> {
        let text = self.text(&text_name(repository)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Replaces the requests for sessions in a repository.
    pub fn set_renewals(&self, repository: &Path, renewals: &[RenewalRequest]) {
        let lines = renewals.iter().filter_map(|one| serde_json::to_string(one).ok());
        self.set_text(&text_name(repository), &lines.collect::<Vec<_>>().join("\n"));
    }
}

fn text_name(repository: &Path) -> String {
    format!("renew {}", repository.display())
}
