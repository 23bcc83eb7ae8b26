//! Hides what looks like a secret on a screen.

use consort_core::secrets;

/// What stands in the place of a secret.
const HIDDEN: &str = "[redacted]";

/// A text without its secrets.
pub(crate) fn redacted(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            redacted.push('\n');
        }
        let mut rest = line;
        while let Some(secret) = secrets::find(rest) {
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
    use super::*;

    #[test]
    fn secrets_are_hidden_and_the_rest_stays() {
        let key = format!("AKIA{}", "A1B2C3D4E5F6G7H8");
        let text = format!("a {key} b\n\"{key}\" and {key}\nplain");
        assert_eq!(redacted(&text), "a [redacted] b\n\"[redacted]\" and [redacted]\nplain");
    }
}
