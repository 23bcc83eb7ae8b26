//! Recognises secrets by their format, so that none is recorded or sent by mistake.
//!
//! A text that only talks of secrets ("tokens begin with `ghp_`", `ghp_xxxxxxxx`) is not taken for one.

mod formats;

use formats::FORMATS;
use serde_json::Value;

/// A secret in a text. **It never carries the secret itself.**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    pub what: &'static str,
    /// The position of its first character in the text, from 1.
    pub at: usize,
}

/// Finds the first secret in a text.
pub fn find(text: &str) -> Option<SecretFinding> {
    let mut before = ' ';
    for (place, (start, c)) in text.char_indices().enumerate() {
        let is_inside_word = before.is_alphanumeric() || before == '_';
        before = c;
        if !is_inside_word && let Some(format) = FORMATS.iter().find(|format| format.begins(&text[start..])) {
            return Some(SecretFinding { what: format.what, at: place + 1 });
        }
    }
    None
}

/// Finds the first secret in any text of a JSON value.
pub fn find_in(value: &Value) -> Option<SecretFinding> {
    match value {
        Value::String(text) => find(text),
        Value::Array(all) => all.iter().find_map(find_in),
        Value::Object(fields) => {
            fields.iter().find_map(|(name, value)| find(name).or_else(|| find_in(value)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The text that replaces a secret.
const HIDDEN: &str = "[redacted]";

/// Replaces the secrets in a text.
pub fn redacted(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            redacted.push('\n');
        }
        let mut rest = line;
        while let Some(secret) = find(rest) {
            let start = rest.char_indices().nth(secret.at - 1).map_or(0, |(start, _)| start);
            let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
            let end = rest[start..].find(is_end).map_or(rest.len(), |end| start + end);
            redacted.push_str(&rest[..start]);
            redacted.push_str(HIDDEN);
            rest = &rest[end..];
        }
        redacted.push_str(rest);
    }
    redacted
}

#[cfg(test)]
mod tests {
    use formats::Follows;
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_and_the_rest_stays() {
        let key = format!("AKIA{}", "A1B2C3D4E5F6G7H8");
        let text = format!("a {key} b\n\"{key}\" and {key}\nplain");
        assert_eq!(redacted(&text), "a [redacted] b\n\"[redacted]\" and [redacted]\nplain");
    }

    #[test]
    fn every_format_is_found_and_its_place_told() {
        let mut count = 0;
        for format in FORMATS {
            let some = "A1B2C3D4E5F6".repeat(8);
            let some = if format.follows == Follows::Hex { some.to_lowercase() } else { some };
            let text = format!("é the key is `{}{}`.", format.beginning, &some[..format.least]);
            assert_eq!(find(&text), Some(SecretFinding { what: format.what, at: 15 }), "{}", format.what);
            if format.least > 0 {
                let short = format!("{}{}", format.beginning, &some[..format.least - 1]);
                assert_ne!(find(&short).map(|secret| secret.what), Some(format.what), "too short");
            }
            count += 1;
        }
        assert!(count >= 20);
    }

    #[test]
    fn talk_of_secrets_is_none() {
        for text in [
            "tokens begin with ghp_",
            &format!("ghp_{}", "x".repeat(36)),
            "task-force-one sk-learn skeleton",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "-----BEGIN PUBLIC KEY-----",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
        let token = format!("ghp_{}", "a".repeat(36));
        assert!(find(&token).is_some(), "it may be one");
        assert_eq!(find(&format!("my_{token} é{token}")), None, "inside a word");
        let both = format!("{token} AKIA{}", "A1B2C3D4E5F6G7H8");
        assert_eq!(find(&both).map(|secret| secret.at), Some(1), "the first in the text");
        let inside = json!([["record-note", { "tags": ["a", format!("AKIA{}", "A1B2C3D4E5F6G7H8")] }]]);
        assert_eq!(find_in(&inside).map(|secret| secret.what), Some("an AWS access key"));
    }
}
