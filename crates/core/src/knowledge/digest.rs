//! The summary of a project's knowledge that a session is told at its start: an index,
//! details on demand.

use std::path::Path;

use super::Kind;
use super::Known;
use crate::journal::Seq;
use crate::project::ProjectId;
use crate::side_files::SideFiles;
use crate::text;

/// How many lines are kept for sessions to choose from, and how long one is.
pub(super) const MOST: usize = 100;
const LONGEST_LINE: usize = 160;

/// What a session that starts is told of it, and how much it should be; `None`:
/// nothing.
pub fn told(known: &Known) -> Option<(f64, String)> {
    match known.kind {
        Kind::Principle => {}
        Kind::Decision if known.text("status") == "active" => {}
        _ => return None,
    }
    let stale = if known.stale.is_some() { " (stale)" } else { "" };
    let via = known.by.via.as_ref().map(|via| format!(" ({via})")).unwrap_or_default();
    let by = text::foreign(&known.by.name, 30) + &via;
    let about = text::quoted(known.text("description"), LONGEST_LINE);
    Some((known.order(), format!("- {}{stale}, by {by}: {about}", shown_as(known))))
}

/// What something is called where it is told.
pub(super) fn shown_as(known: &Known) -> String {
    shown_name(known.kind, known.text(known.kind.key_field()))
}

/// The same by its name.
pub(super) fn shown_name(kind: Kind, name: &str) -> String {
    format!("{} {}", kind.as_str(), text::foreign(name, 60))
}

/// What is called so in a digest, what was stale already not counted.
pub(super) fn shown_in(digest: &str) -> impl Iterator<Item = &str> {
    let named = digest.lines().filter_map(|line| Some(line.strip_prefix("- ")?.split_once(", by ")?.0));
    named.filter(|name| !name.ends_with(" (stale)"))
}

/// The digest for a session: the lines that have its words first, within a
/// budget, and how to ask for more.
pub(super) fn digest_for(lines: &str, words: &[String], budget: usize) -> Option<String> {
    let mut chosen: Vec<(usize, &str)> = lines
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let lower = line.to_lowercase();
            (words.iter().filter(|word| lower.contains(word.as_str())).count(), line)
        })
        .collect();
    if chosen.is_empty() {
        return None;
    }
    // In the order of their weight otherwise.
    chosen.sort_by_key(|(matches, _)| std::cmp::Reverse(*matches));
    let all = chosen.len();
    let mut digest = String::from(
        "[consort] Notes from earlier sessions, quoted; not from your user (search: consort know search <words>; add: consort know add principle <name> '<text>'):",
    );
    let mut shown = 0;
    for (_, line) in &chosen {
        if digest.len() + line.len() + 24 > budget {
            break;
        }
        digest.push('\n');
        digest.push_str(line);
        shown += 1;
    }
    if shown < all {
        digest.push_str(&format!("\n({} more)", all - shown));
    }
    Some(digest)
}

/// How long the line of a path is.
const LINE: usize = 17;

/// What sessions of a project are told when they start.
pub(super) struct Digest {
    /// The last entry of the journal that counts in it.
    pub(super) through: Seq,
    pub(super) lines: String,
}

fn digest_of(project: &ProjectId) -> String {
    format!("digest {project}")
}

fn learned_of(project: &ProjectId) -> String {
    format!("learned {project}")
}

impl dyn SideFiles + '_ {
    /// What a session of a project that starts is told of what is known.
    pub(super) fn digest(&self, project: &ProjectId) -> Option<Digest> {
        let text = self.text(&digest_of(project))?;
        let (through, lines) = text.split_once('\n')?;
        Some(Digest { through: through.parse().ok()?, lines: lines.to_owned() })
    }

    /// Replaces it.
    pub(super) fn set_digest(&self, project: &ProjectId, digest: &Digest) {
        self.set_text(&digest_of(project), &format!("{}\n{}", digest.through, digest.lines));
    }

    /// Notes the last entry about what a project knows. A digest that has less is behind.
    pub fn note_learned(&self, project: &ProjectId, seq: Seq) {
        self.set_text(&learned_of(project), &seq.to_string());
    }

    /// Whether there is something new since the digest was written.
    pub(super) fn is_behind(&self, project: &ProjectId, digest: Option<&Digest>) -> bool {
        let learned = self.text(&learned_of(project)).and_then(|seq| seq.parse().ok());
        learned > digest.map(|digest| digest.through)
    }

    /// The project whose knowledge of a file would be outdated by a change of it.
    pub fn project_knowing(&self, repository: &Path, path: &str) -> Option<ProjectId> {
        let known = self.text(&format!("known {}", repository.display()))?;
        let (project, paths) = known.split_once('\n')?;
        let (paths, _) = paths.as_bytes().as_chunks::<LINE>();
        paths.binary_search(line(path).as_bytes().try_into().ok()?).is_ok().then(|| project.into())
    }

    /// The files of a repository that its project knows, and knows as they are.
    pub fn set_known_files(&self, repository: &Path, project: &ProjectId, paths: &[String]) {
        let mut lines: Vec<String> = paths.iter().map(|path| line(path)).collect();
        lines.sort_unstable();
        self.set_text(&format!("known {}", repository.display()), &format!("{project}\n{}", lines.concat()));
    }
}

/// A path by its checksum, so that one of thousands is found at once.
fn line(path: &str) -> String {
    format!("{:016x}\n", text::checksum(path.as_bytes()))
}
