//! Extracts the topics of a prompt: its words without stop words.

use std::collections::BTreeMap;

use super::stop_words;

/// Most topics of a prompt.
pub const MOST_TOPICS: usize = 8;

/// Bytes of a prompt that are read: the rest of a longer prompt is usually pasted.
const LONGEST: usize = 16 << 10;

/// Most bytes of a word: a longer one is a pasted key or hash.
const LONGEST_WORD: usize = 32;

/// Returns the topics of a prompt, the most frequent first. Identifiers and paths are split into words; a run
/// of ideographs is split into pairs, because such scripts have no spaces between words. `noise` are words to
/// leave out, such as the names of the user and the machine.
pub fn topics(prompt: &str, noise: &[String]) -> Vec<String> {
    let end = prompt.floor_char_boundary(LONGEST.min(prompt.len()));
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (at, word) in words(&prompt[..end]).into_iter().enumerate() {
        if !stop_words::is_stop_word(&word) && !noise.contains(&word) {
            found.entry(word).or_insert((0, at)).0 += 1;
        }
    }
    let mut topics: Vec<(String, (usize, usize))> = found.into_iter().collect();
    // Of two words of equal frequency, the earlier one comes first.
    topics.sort_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
    topics.truncate(MOST_TOPICS);
    topics.into_iter().map(|(word, _)| word).collect()
}

/// Splits a name into words, as they would be found in a prompt.
pub(super) fn words_of(name: &str) -> Vec<String> {
    words(name)
}

/// Splits a text into words in lower case, in order. `HTTPServer_config` is `http`, `server` and `config`.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut end = |word: &mut String| {
        let whole = std::mem::take(word);
        let is_long = whole.chars().nth(2).is_some() || stop_words::is_short_topic(&whole);
        let is_word = is_long && whole.len() <= LONGEST_WORD && whole.contains(char::is_alphabetic);
        if is_word || whole.starts_with(is_ideograph) {
            words.push(whole);
        }
    };
    let mut previous = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        if is_ideograph(character) {
            end(&mut word);
            if is_ideograph(next) {
                word.extend([character, next]);
                end(&mut word);
            }
        } else if character.is_alphanumeric() {
            // Split `parseConfig` and `HTTPServer`, but not `OAuth`.
            let after_small = previous.is_lowercase() || previous.is_numeric();
            let ends_capitals = previous.is_uppercase() && next.is_lowercase() && word.len() > 1;
            if character.is_uppercase() && (after_small || ends_capitals) {
                end(&mut word);
            }
            word.extend(character.to_lowercase());
        } else {
            end(&mut word);
        }
        previous = character;
    }
    end(&mut word);
    words
}

/// Tells whether a character belongs to a script without spaces between words.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(prompt: &str) -> Vec<String> {
        topics(prompt, &["ada".into()])
    }

    #[test]
    fn identifiers_paths_and_other_scripts_are_taken_apart() {
        assert_eq!(
            of("fix src/auth.py and oauth2 e2e user_id jwt-token"),
            ["auth", "oauth2", "e2e", "user", "jwt", "token"]
        );
        assert_eq!(
            of("parseConfig in HTTPServer, OAuthClient"),
            ["parse", "config", "http", "server", "oauth", "client"]
        );
        assert_eq!(of("修复登录"), ["修复", "复登", "登录"]);
        assert_eq!(of("Die Größe der Datenbank prüfen"), ["größe", "datenbank", "prüfen"]);
    }

    #[test]
    fn what_is_said_most_comes_first_and_noise_never() {
        assert_eq!(of("ada, please fix the login: cookie of the login page"), ["login", "cookie", "page"]);
        assert_eq!(of("please add a test and make it work"), [""; 0]);
        assert_eq!(of("the UI of the DB"), ["ui", "db"]);
        assert_eq!(of(&format!("key {}", "a1b2".repeat(9))), ["key"]);
        assert_eq!(
            of(&"alpha beta gamma delta epsilon zeta eta theta iota kappa ".repeat(2_000)).len(),
            MOST_TOPICS
        );
    }
}
