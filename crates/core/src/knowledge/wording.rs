//! The texts about suggestions and requests to renew that people and models read.

use super::Known;
use super::RenewalRequests;
use super::Scope;
use super::Suggestion;
use crate::text;

/// Longest name that [`slug`] makes, in characters.
const LONGEST_NAME: usize = 80;

/// Turns a text into a name that can be typed, and that can be the name of a file.
pub fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-").to_lowercase();
    let slug: String = slug.chars().take(LONGEST_NAME).collect();
    if slug.is_empty() { "unnamed".to_owned() } else { slug }
}

impl Suggestion {
    /// Returns what was found out, and the command that records it, on one line.
    pub fn told(&self) -> String {
        let line = match self {
            Self::File { path, readers } => {
                let command = format!("consort know add file {} '…'", text::shell_quoted(path));
                format!("{path}: {readers} sessions have read it; `{command}`")
            }
            Self::Command { failed, worked } => {
                let about = format!("{worked} works where {failed} fails");
                let command = format!("consort know add note {}", text::shell_quoted(&about));
                format!("A command failed, and then worked otherwise; `{command}`")
            }
            Self::Decision { number, by, text: said } => {
                let name: String = slug(said).chars().take(40).collect();
                let command = format!("consort know add decision {name} {}", text::shell_quoted(said));
                format!("Message #{number} of {by} sounds like a decision; `{command}`")
            }
        };
        text::one_line(&line, 300)
    }
}

impl RenewalRequests {
    /// Returns a line for each request, for each record about which nobody can be asked, or for
    /// nothing stale.
    pub fn told(&self) -> Vec<String> {
        let asked = self.asked.iter().map(|one| {
            let line = format!(
                "The next session that touches {} is asked to look again at {}.",
                one.path, one.about
            );
            text::one_line(&line, 200)
        });
        let nowhere = self.nowhere.iter().map(|name| {
            let line = format!(
                "{name} leans on no file, so nobody can be asked: `consort know renew --holds {}` says that it holds.",
                text::shell_quoted(name)
            );
            text::one_line(&line, 240)
        });
        let nothing = (self.found == 0).then(|| "Nothing is stale.".to_owned());
        asked.chain(nowhere).chain(nothing).collect()
    }
}

/// Returns a scope as `know adopt --from` takes it.
pub(super) fn scope_argument(scope: &Scope) -> String {
    scope.project().map_or("--global", |project| project.as_str()).to_owned()
}

impl Known {
    /// Returns a record of another scope on one line: its scope, its name and its text.
    pub fn scoped_line(&self, scope: &Scope) -> String {
        let about = self.text("description");
        let line = format!("{} {} {}: {about}", scope_argument(scope), self.kind.as_str(), self.name);
        text::one_line(&line, 200)
    }

    /// Returns a record of another scope for programs, with its scope.
    pub fn item_of(&self, scope: &Scope) -> serde_json::Value {
        let mut item = self.item();
        item["project"] = scope_argument(scope).into();
        item
    }
}
