//! SQL that searches the knowledge index for words.
//!
//! The full-text index could rank by itself (`bm25`), but counts every row that has a word to do so: 80
//! ms for a word that 100,000 records have. So each query here is for the newest [`MOST`] rows that
//! match, and only those are weighed.

use std::collections::BTreeMap;

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Scope;
use consort_core::text;
use rusqlite::Connection;
use rusqlite::params;

use super::read;

/// Most rows that one query of the full-text index returns.
const MOST: usize = 200;

/// Most words that are looked for.
const MOST_WORDS: usize = 32;

/// Weight of a word in the name, where a word in the text counts once.
const IN_NAME: f64 = 4.0;

/// Finds the records that have all of these words, or else some of them, best first; relationships come
/// after the other records.
pub(super) fn search(
    connection: &Connection,
    scope: Option<&Scope>,
    words: &str,
    limit: usize,
) -> rusqlite::Result<Vec<(Scope, Known)>> {
    let words: Vec<&str> = words
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let within = scope.map_or_else(String::new, |scope| format!(" AND within : \"{}\"", scope_token(scope)));
    let of = |join: &str| Search {
        connection,
        words: &words,
        within: format!("{within} {join} within : \"{}\"", kind_token(Kind::Relationship)),
    };
    let mut found = weighed(connection, of("NOT").all(limit)?, &words)?;
    if found.is_empty() {
        found = records(connection, of("NOT").some(limit)?)?;
    }
    if found.len() < limit {
        found.extend(weighed(connection, of("AND").all(limit)?, &words)?);
    }
    found.truncate(limit);
    Ok(found)
}

fn records(connection: &Connection, numbers: Vec<i64>) -> rusqlite::Result<Vec<(Scope, Known)>> {
    let found = numbers.into_iter().map(|number| read::numbered(connection, number));
    Ok(found.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Reads records with all of the words, and puts those first that are most about the words.
fn weighed(
    connection: &Connection,
    numbers: Vec<i64>,
    words: &[&str],
) -> rusqlite::Result<Vec<(Scope, Known)>> {
    let mut found: Vec<(f64, (Scope, Known))> =
        records(connection, numbers)?.into_iter().map(|found| (weight(&found.1, words), found)).collect();
    found.sort_by(|one, two| two.0.total_cmp(&one.0));
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

/// Weighs a record by the share of these words in its name and text, and by how much the record counts.
fn weight(known: &Known, words: &[&str]) -> f64 {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let share = |text: &str| {
        let text = text.to_lowercase();
        let (mut hits, mut all) = (0.0, 0.0);
        for part in text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
            all += 1.0;
            // The word itself counts more than a word that begins with it.
            hits += words
                .iter()
                .map(|word| match part.strip_prefix(word.as_str()) {
                    Some("") => 1.0,
                    Some(_) => 0.5,
                    None => 0.0,
                })
                .fold(0.0, f64::max);
        }
        hits / (4.0_f64 + all)
    };
    // Of records that are as much about the words, the one that counts for more comes first.
    (IN_NAME * share(&known.name) + share(&super::write::words(known))) * known.order().max(0.0).sqrt()
}

/// Returns the tokens that are indexed with a record so that a search can be limited to a scope and a
/// kind.
pub(super) fn tokens(scope: &Scope, kind: Kind) -> String {
    format!("{} {}", scope_token(scope), kind_token(kind))
}

fn scope_token(scope: &Scope) -> String {
    format!("scope{:016x}", text::stable_hash(scope.as_str().as_bytes()))
}

fn kind_token(kind: Kind) -> String {
    format!("kind{}", kind.as_str())
}

/// The words that may be the beginning of a longer one.
#[derive(Clone, Copy, PartialEq)]
enum Prefixes {
    None,
    Last,
    All,
}

struct Search<'a> {
    connection: &'a Connection,
    words: &'a [&'a str],
    /// The condition that every query gets: the scope and kinds to search in.
    within: String,
}

impl Search<'_> {
    /// Finds the records that have all words.
    fn all(&self, limit: usize) -> rusqlite::Result<Vec<i64>> {
        let mut found = Vec::new();
        for prefixes in [Prefixes::None, Prefixes::Last, Prefixes::All] {
            // Collecting all rows for beginnings of words takes long.
            if prefixes == Prefixes::All && !found.is_empty() {
                break;
            }
            let words = self.words.iter().enumerate().map(|(place, word)| {
                let is_last = place + 1 == self.words.len();
                let is_prefix = prefixes == Prefixes::All || prefixes == Prefixes::Last && is_last;
                quoted(word, is_prefix)
            });
            let words = words.collect::<Vec<_>>().join(" ");
            for columns in ["name", "{name text}"] {
                if found.len() < limit {
                    let more = self.rows(columns, &words)?;
                    let more: Vec<i64> = more.into_iter().filter(|row| !found.contains(row)).collect();
                    found.extend(more);
                }
            }
        }
        Ok(found)
    }

    /// Finds the records that have some of the words; a rare word counts more.
    fn some(&self, limit: usize) -> rusqlite::Result<Vec<i64>> {
        let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
        for word in self.words {
            let mut rows = self.rows("{name text}", &quoted(word, false))?;
            if rows.is_empty() {
                rows = self.rows("{name text}", &quoted(word, true))?;
            }
            let rarity = 1.0 / (1.0 + rows.len() as f64).ln();
            for row in rows {
                *scores.entry(row).or_default() += rarity;
            }
            for row in self.rows("name", &quoted(word, false))? {
                *scores.entry(row).or_default() += rarity * IN_NAME;
            }
        }
        let mut found: Vec<(i64, f64)> = scores.into_iter().collect();
        found.sort_by(|one, two| two.1.total_cmp(&one.1).then(two.0.cmp(&one.0)));
        Ok(found.into_iter().take(limit).map(|(row, _)| row).collect())
    }

    /// Finds the newest rows that match.
    fn rows(&self, columns: &str, words: &str) -> rusqlite::Result<Vec<i64>> {
        let question = format!("({columns} : ({words})){}", self.within);
        let sql = "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_map(params![question, MOST as i64], |row| row.get(0))?.collect()
    }
}

/// Quotes a word, so that it is not taken for an operator.
fn quoted(word: &str, is_prefix: bool) -> String {
    if is_prefix { format!("\"{word}\"*") } else { format!("\"{word}\"") }
}
