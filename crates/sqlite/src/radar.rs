//! The part of what is published (`published.rs`) that is about convergence: the
//! threshold, published settings, domains, and which predictions there are.

use std::fmt::Write as _;
use std::path::Path;

use consort_core::Timestamp;
use consort_core::convergence::Learned;
use consort_core::convergence::PredictionNote;
use consort_core::convergence::RadarNote;
use consort_core::convergence::SignalKind;
use consort_core::journal::Change;
use rusqlite::Connection;

use crate::convergence;
use crate::held;
use crate::held::escaped;
use crate::held::plain;
use crate::published::Published;

/// How many predictions that have ended hooks know of: nobody is to hear the
/// same again.
const MOST_ENDED: usize = 100;

/// Whether a line belongs to this part.
pub(crate) fn is_line(line: &str) -> bool {
    let tag = line.split('\t').next().unwrap_or_default();
    matches!(tag, "threshold" | "set" | "domain" | "learned" | "met")
}

/// Whether a change can make a difference to it.
pub(crate) fn concerns(change: &Change) -> bool {
    matches!(change, Change::Convergence(_))
}

/// The whole file as the tables have it now.
pub(crate) fn render(connection: &Connection) -> rusqlite::Result<String> {
    let mut text = format!("threshold\t{}\n", convergence::tally(connection)?.threshold);
    let mut settings = connection
        .prepare_cached("SELECT owner, key, value FROM facts WHERE kind = 'setting' ORDER BY owner")?;
    let mut rows = settings.query([])?;
    while let Some(row) = rows.next()? {
        let (scope, key, value): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let _ = writeln!(text, "set\t{}\t{}\t{}", escaped(&scope), escaped(&key), escaped(&value));
    }
    for (topic, domain) in convergence::assigned(connection)? {
        let _ = writeln!(text, "domain\t{}\t{}", escaped(&topic), escaped(&domain.unwrap_or_default()));
    }
    for Learned { topic, domain, weight, at } in convergence::learned(connection)? {
        let _ = writeln!(text, "learned\t{}\t{}\t{weight}\t{}", escaped(&topic), escaped(&domain), at.0);
    }
    let mut predictions = convergence::open(connection)?;
    predictions.extend(convergence::ended(connection, MOST_ENDED)?);
    for note in predictions.iter().map(PredictionNote::from) {
        let words =
            |names: &[String]| names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join("\u{1f}");
        let ended = note.ended.map_or_else(|| "-".to_owned(), |at| at.0.to_string());
        let _ = writeln!(
            text,
            "met\t{}\t{}\t{}\t{}\t{}\t{ended}\t{}\t{}",
            note.number,
            note.at.0,
            note.kind.as_str(),
            escaped(note.pair[0].as_str()),
            escaped(note.pair[1].as_str()),
            words(&note.topics),
            words(&note.files),
        );
    }
    Ok(text)
}

/// What the file says for who works in that worktree, if it is current.
pub(crate) fn read(published: &Published, worktree: &Path) -> Option<RadarNote> {
    published.is_current.then(|| parse(published.text(), worktree))
}

/// What those lines say for who works in that worktree.
pub(crate) fn parse(text: &str, worktree: &Path) -> RadarNote {
    let mut note = RadarNote::default();
    let here = worktree.to_string_lossy();
    // There may be hundreds of holds.
    for line in text.lines().filter(|line| !held::is_line(line)) {
        let cells: Vec<&str> = line.split('\t').collect();
        match cells[..] {
            ["threshold", threshold] => note.threshold = threshold.parse().ok(),
            ["set", scope, key, value] if scope.is_empty() || plain(scope) == here => {
                note.is_published_here |= !scope.is_empty();
                note.settings.push((plain(key).into_owned(), plain(value).into_owned()));
            }
            ["domain", topic, domain] => {
                let domain = (!domain.is_empty()).then(|| plain(domain).into_owned());
                note.assigned.push((plain(topic).into_owned(), domain));
            }
            ["learned", topic, domain, weight, at] => {
                note.learned.push(Learned {
                    topic: plain(topic).into_owned(),
                    domain: plain(domain).into_owned(),
                    weight: weight.parse().unwrap_or_default(),
                    at: Timestamp(at.parse().unwrap_or_default()),
                });
            }
            ["met", number, at, kind, one, other, ended, topics, files] => {
                note.predictions.extend(prediction([number, at, kind, ended], [one, other], [topics, files]));
            }
            _ => {}
        }
    }
    note
}

fn prediction(facts: [&str; 4], pair: [&str; 2], names: [&str; 2]) -> Option<PredictionNote> {
    let [number, at, kind, ended] = facts;
    let [topics, files] = names.map(|names| {
        let names = names.split('\u{1f}').filter(|name| !name.is_empty());
        names.map(|name| plain(name).into_owned()).collect()
    });
    Some(PredictionNote {
        number: number.parse().ok()?,
        at: Timestamp(at.parse().ok()?),
        kind: SignalKind::ALL.into_iter().find(|known| known.as_str() == kind)?,
        pair: pair.map(|session| plain(session).into_owned().into()),
        topics,
        files,
        ended: ended.parse().ok().map(Timestamp),
    })
}
