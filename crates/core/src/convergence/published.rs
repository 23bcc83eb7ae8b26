//! Reads and writes the published lines about convergence, which hooks read instead of the database:
//! threshold, settings, domains, predictions.

use std::path::Path;

use crate::Timestamp;
use crate::convergence::LearnedDomain;
use crate::convergence::PredictionNote;
use crate::convergence::PublishedConvergence;
use crate::convergence::SignalKind;
use crate::journal::ChangeId;
use crate::side_files::SideFiles;
use crate::side_files::escaped;
use crate::side_files::unescaped;

/// Beginnings of the published lines about convergence.
pub const LINE_PREFIXES: [&str; 5] = ["threshold\t", SETTING, "domain\t", "learned\t", "met\t"];

const SETTING: &str = "set\t";

impl dyn SideFiles + '_ {
    /// Reads the published data for agents in that worktree. `None` if it is older than the store.
    pub fn radar(&self, worktree: &Path) -> Option<PublishedConvergence> {
        self.read_published(&LINE_PREFIXES, worktree)
    }

    /// Reads only the published settings for agents in that worktree. `None` if they are older than the
    /// store.
    pub fn published_settings(&self, worktree: &Path) -> Option<Vec<(String, String)>> {
        Some(self.read_published(&[SETTING], worktree)?.settings)
    }

    fn read_published(&self, tags: &[&str], worktree: &Path) -> Option<PublishedConvergence> {
        let lines = tags.iter().map(|tag| self.published(tag, usize::MAX)).collect::<Option<Vec<_>>>()?;
        let lines = lines.iter().flatten().map(String::as_str);
        self.is_current().then(|| read_lines(lines, worktree))
    }
}

/// Parses published lines, for agents in that worktree.
pub fn read_lines<'a>(lines: impl Iterator<Item = &'a str>, worktree: &Path) -> PublishedConvergence {
    let mut note = PublishedConvergence::default();
    let here = worktree.to_string_lossy();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        match cells[..] {
            ["threshold", threshold] => note.threshold = threshold.parse().ok(),
            ["set", scope, key, value] if scope.is_empty() || unescaped(scope) == here => {
                note.is_published_here |= !scope.is_empty();
                note.settings.push((unescaped(key).into_owned(), unescaped(value).into_owned()));
            }
            ["domain", topic, domain] => {
                let domain = (!domain.is_empty()).then(|| unescaped(domain).into_owned());
                note.assigned.push((unescaped(topic).into_owned(), domain));
            }
            ["learned", topic, domain, weight, at] => {
                note.learned.push(LearnedDomain {
                    topic: unescaped(topic).into_owned(),
                    domain: unescaped(domain).into_owned(),
                    weight: weight.parse().unwrap_or_default(),
                    at: Timestamp(at.parse().unwrap_or_default()),
                });
            }
            ["met", id, at, kind, one, other, ended, topics, files] => {
                note.predictions.extend(read_prediction(
                    [id, at, kind, ended],
                    [one, other],
                    [topics, files],
                ));
            }
            _ => {}
        }
    }
    note
}

/// Formats the published line of a prediction.
pub fn prediction_line(note: &PredictionNote) -> String {
    let words = |names: &[String]| names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join("\u{1f}");
    let ended = note.ended.map_or_else(|| "-".to_owned(), |at| at.0.to_string());
    let pair = note.pair.each_ref().map(|session| escaped(session.as_str())).join("\t");
    let (kind, at) = (note.kind.as_str(), note.at.0);
    let names = [words(&note.topics), words(&note.files)].join("\t");
    format!("met\t{}\t{at}\t{kind}\t{pair}\t{ended}\t{names}\n", note.id)
}

fn read_prediction(facts: [&str; 4], pair: [&str; 2], names: [&str; 2]) -> Option<PredictionNote> {
    let [id, at, kind, ended] = facts;
    let [topics, files] = names.map(|names| {
        let names = names.split('\u{1f}').filter(|name| !name.is_empty());
        names.map(|name| unescaped(name).into_owned()).collect()
    });
    Some(PredictionNote {
        id: ChangeId::parse(id)?,
        at: Timestamp(at.parse().ok()?),
        kind: SignalKind::ALL.into_iter().find(|known| known.as_str() == kind)?,
        pair: pair.map(|session| unescaped(session).into_owned().into()),
        topics,
        files,
        ended: ended.parse().ok().map(Timestamp),
    })
}

/// Formats the published line of the threshold.
pub fn threshold_line(threshold: f64) -> String {
    format!("threshold\t{threshold}\n")
}

/// Formats the published line of a setting.
pub fn setting_line(scope: &str, key: &str, value: &str) -> String {
    format!("set\t{}\t{}\t{}\n", escaped(scope), escaped(key), escaped(value))
}

/// Formats the published line of a topic assigned to a domain, or to none.
pub fn domain_line(topic: &str, domain: Option<&str>) -> String {
    format!("domain\t{}\t{}\n", escaped(topic), escaped(domain.unwrap_or_default()))
}

/// Formats the published line of a learned domain.
pub fn learned_line(LearnedDomain { topic, domain, weight, at }: &LearnedDomain) -> String {
    format!("learned\t{}\t{}\t{weight}\t{}\n", escaped(topic), escaped(domain), at.0)
}
