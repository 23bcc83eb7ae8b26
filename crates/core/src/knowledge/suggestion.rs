//! Finds the sentence of a message that sounds like a decision.

use super::Known;
use crate::text;

/// Phrases that announce a decision, in lower case.
const ANNOUNCED: &[&str] = &[
    "decision:",
    "decided:",
    "agreed:",
    "we decided",
    "we have decided",
    "we've decided",
    "i decided",
    "i have decided",
    "i've decided",
    "we agreed",
    "let's use",
    "let us use",
    "we will use",
    "we'll use",
    "we use",
    "from now on",
    "always use",
    "never use",
];

/// Longest sentence that may be a decision, in bytes.
const LONGEST: usize = 300;

/// Returns the first sentence of a message that sounds like a decision.
pub(super) fn decision_in(message: &str) -> Option<String> {
    let sentences = sentences(message);
    let is_decision = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        // A question asks for a decision.
        !sentence.ends_with('?') && ANNOUNCED.iter().any(|words| begins(&lower, words))
    };
    let found = sentences.filter(|sentence| sentence.len() <= LONGEST).find(is_decision)?;
    Some(text::one_line(found, LONGEST))
}

/// Splits a message at line ends and stops. A stop inside a word (`3.8`, `a.rs`) splits nothing.
fn sentences(message: &str) -> impl Iterator<Item = &str> {
    let mut rest = message;
    std::iter::from_fn(move || {
        let is_end = |(at, c): &(usize, char)| {
            let after = rest[at + c.len_utf8()..].chars().next();
            *c == '\n' || matches!(c, '.' | '!' | ';') && after.is_none_or(char::is_whitespace)
        };
        let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then(|| sentence.trim())
    })
}

/// Tells whether a sentence begins with `words`, after a short word at most: "So we decided …".
fn begins(sentence: &str, words: &str) -> bool {
    let is_word = |at: usize| sentence[..at].chars().filter(|c| *c == ' ').count() <= 2;
    let is_start = |at: usize| at == 0 || sentence[..at].ends_with([' ', ',']);
    sentence.find(words).is_some_and(|at| is_start(at) && is_word(at) && at < 24)
}

/// Tells whether a record says as much as a sentence already.
pub(super) fn says(known: &Known, sentence: &str) -> bool {
    let texts = ["description", "rationale", "name"].map(|field| known.text(field).to_lowercase());
    let said = texts.join(" ");
    let words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    words.iter().filter(|word| said.contains(word.as_str())).count() * 5 >= words.len() * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_told_from_questions_and_reports() {
        let said = "I looked at both. So we decided to keep SQLite; more later.";
        assert_eq!(decision_in(said).as_deref(), Some("So we decided to keep SQLite;"));
        assert_eq!(decision_in("Decision: one writer").as_deref(), Some("Decision: one writer"));
        assert!(decision_in("let's use pnpm from now on").is_some());
        let said = "Decision: we drop Python 3.8. Tell the others!";
        assert_eq!(decision_in(said).as_deref(), Some("Decision: we drop Python 3.8."));
        for other in
            ["Should we use SQLite?", "I am renaming login()", "they said that we decided nothing yet"]
        {
            assert_eq!(decision_in(other), None, "{other}");
        }
    }
}
