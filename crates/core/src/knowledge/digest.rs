//! The summary of a project's knowledge that a session is shown at its start: an index, with
//! details on demand.

use std::path::Path;

use super::Kind;
use super::Known;
use crate::journal::Seq;
use crate::project::ProjectId;
use crate::side_files::SideFiles;
use crate::text;

/// The most lines that are kept for sessions to choose from, and the most characters of the text in
/// one.
pub(super) const MOST: usize = 100;
const LONGEST_LINE: usize = 160;

/// Returns the weight and the line of a record in the summary; `None` if the record is not for it.
pub fn digest_line(known: &Known) -> Option<(f64, String)> {
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

/// Returns the kind and name by which a record is shown.
pub(super) fn shown_as(known: &Known) -> String {
    shown_name(known.kind, known.text(known.kind.key_field()))
}

/// Writes a kind and a name as they are shown.
pub(super) fn shown_name(kind: Kind, name: &str) -> String {
    format!("{} {}", kind.as_str(), text::foreign(name, 60))
}

/// Returns the kinds and names that a digest shows, without records that were stale already.
pub(super) fn shown_in(digest: &str) -> impl Iterator<Item = &str> {
    let named = digest.lines().filter_map(|line| Some(line.strip_prefix("- ")?.split_once(", by ")?.0));
    named.filter(|name| !name.ends_with(" (stale)"))
}

/// Returns the digest for a session: first the lines that have its words, within a budget of bytes,
/// and how to ask for more.
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
    // The sort is stable: other lines stay in the order of their weight.
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

/// Length of the line that stands for a path, in bytes.
const LINE: usize = 17;

/// The lines that sessions of a project choose from when they start.
pub(super) struct Digest {
    /// The last entry of the journal that is included.
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
    /// Returns the published summary of a project.
    pub(super) fn digest(&self, project: &ProjectId) -> Option<Digest> {
        let text = self.text(&digest_of(project))?;
        let (through, lines) = text.split_once('\n')?;
        Some(Digest { through: through.parse().ok()?, lines: lines.to_owned() })
    }

    /// Replaces the published summary of a project.
    pub(super) fn set_digest(&self, project: &ProjectId, digest: &Digest) {
        self.set_text(&digest_of(project), &format!("{}\n{}", digest.through, digest.lines));
    }

    /// Notes the last entry about what a project knows. A digest that includes less is behind.
    pub fn note_learned(&self, project: &ProjectId, seq: Seq) {
        self.set_text(&learned_of(project), &seq.to_string());
    }

    /// Tells whether something was recorded since the digest was written.
    pub(super) fn is_behind(&self, project: &ProjectId, digest: Option<&Digest>) -> bool {
        let learned = self.text(&learned_of(project)).and_then(|seq| seq.parse().ok());
        learned > digest.map(|digest| digest.through)
    }

    /// Returns the project that knows something of a file, and whose knowledge a change of the file
    /// would outdate.
    pub fn project_knowing(&self, repository: &Path, path: &str) -> Option<ProjectId> {
        let known = self.text(&format!("known {}", repository.display()))?;
        let (project, paths) = known.split_once('\n')?;
        let (paths, _) = paths.as_bytes().as_chunks::<LINE>();
        paths.binary_search(line(path).as_bytes().try_into().ok()?).is_ok().then(|| project.into())
    }

    /// Replaces the list of a repository's files whose records in its project are up to date.
    pub fn set_known_files(&self, repository: &Path, project: &ProjectId, paths: &[String]) {
        let mut lines: Vec<String> = paths.iter().map(|path| line(path)).collect();
        lines.sort_unstable();
        self.set_text(&format!("known {}", repository.display()), &format!("{project}\n{}", lines.concat()));
    }
}

/// Returns the checksum of a path as a line, so that one of thousands is found at once.
fn line(path: &str) -> String {
    format!("{:016x}\n", text::stable_hash(path.as_bytes()))
}
