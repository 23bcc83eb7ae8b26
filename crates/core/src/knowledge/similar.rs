//! Computes how like two projects are, by the words in which they say what they know.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Known;

/// Shortest word that counts.
const SHORTEST: usize = 3;

/// The most words that two projects are said to share.
const SHOWN: usize = 5;

/// Returns the words of names, tags, concepts and types: what a project is about, not how it is
/// told.
pub(super) fn vocabulary<'a>(all: impl IntoIterator<Item = &'a Known>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for known in all {
        let lists = ["tags", "concepts"].into_iter().flat_map(|field| known.texts(field));
        for text in lists.chain([known.text("type"), known.text("name")]) {
            let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() >= SHORTEST);
            words.extend(parts.map(str::to_lowercase));
        }
    }
    words
}

/// Returns for each other project how like it is to this one (the cosine of their words, a word
/// counting less the more projects have it), and the words that they share; most alike first.
pub(super) fn ranked<K: Clone>(
    here: &BTreeSet<String>,
    others: &[(K, BTreeSet<String>)],
) -> Vec<(K, f64, Vec<String>)> {
    let mut projects: BTreeMap<&str, usize> = BTreeMap::new();
    for word in others.iter().flat_map(|(_, words)| words).chain(here) {
        *projects.entry(word).or_default() += 1;
    }
    let weight = |word: &String| 1.0 / projects.get(word.as_str()).copied().unwrap_or(1) as f64;
    let length = |words: &BTreeSet<String>| words.iter().map(|word| weight(word).powi(2)).sum::<f64>().sqrt();
    let mut found = Vec::new();
    for (key, words) in others {
        let mut shared: Vec<&String> = here.intersection(words).collect();
        if shared.is_empty() {
            continue;
        }
        let product: f64 = shared.iter().map(|word| weight(word).powi(2)).sum();
        let likeness = product / (length(here) * length(words));
        shared.sort_by(|one, two| weight(two).total_cmp(&weight(one)));
        found.push((key.clone(), likeness, shared.into_iter().take(SHOWN).cloned().collect()));
    }
    found.sort_by(|one, two| two.1.total_cmp(&one.1));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> BTreeSet<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_same_words_are_most_alike_and_none_is_nothing() {
        let here = words("sync crdt merge");
        let others = [
            ("far", words("cooking bread")),
            ("near", words("sync web")),
            ("same", words("crdt merge sync")),
        ];
        let found = ranked(&here, &others);
        let names: Vec<&str> = found.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, ["same", "near"]);
        assert!((found[0].1 - 1.0).abs() < 1e-9 && found[1].1 < 0.5, "{found:?}");
        assert_eq!(found[1].2, ["sync"]);
    }
}
