//! Tells whether a text consists of plain commands only, one after another: then it runs exactly
//! the words it contains.
//!
//! It lists the syntax that is understood, not the dangerous syntax: literal words, quotes that
//! expand nothing, `;`, `&&`, `||`, `|` and ends of lines, and output that is thrown away.

/// Redirections that write nothing.
const HARMLESS: [&str; 6] = ["2>&1", "2>/dev/null", "1>/dev/null", "&>/dev/null", ">/dev/null", "</dev/null"];

/// Reserved words: a command that begins with one is more than a program and its arguments.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
    "then", "time", "until", "while",
];

/// Whether a text consists of plain commands only.
pub(crate) fn is_plain(text: &str) -> bool {
    let mut rest = text;
    let mut word = String::new();
    let mut is_first = true;
    while let Some(next) = rest.chars().next() {
        if word.is_empty()
            && let Some(after) = HARMLESS.iter().find_map(|one| rest.strip_prefix(one))
            && after.chars().next().is_none_or(|c| c.is_whitespace() || ";&|".contains(c))
        {
            rest = after;
            continue;
        }
        let after = match next {
            '\'' => rest[1..].split_once('\'').map(|(_, after)| after),
            '"' => rest[1..]
                .split_once('"')
                .filter(|(inside, _)| !inside.contains(['$', '`', '\\', '!']))
                .map(|(_, after)| after),
            ' ' | '\t' => {
                is_first = is_first && word.is_empty();
                word.clear();
                rest.strip_prefix(next)
            }
            ';' | '\n' | '|' | '&' => {
                let after = rest.strip_prefix("&&").or_else(|| rest.strip_prefix("||"));
                is_first = true;
                word.clear();
                after.or_else(|| rest.strip_prefix([';', '\n', '|']))
            }
            c if c.is_alphanumeric() || "_-./:=,+@%^~*?".contains(c) => rest.strip_prefix(c),
            _ => None,
        };
        let Some(after) = after else { return false };
        if !next.is_whitespace() && !";|&".contains(next) {
            word.push_str(&rest[..rest.len() - after.len()]);
        }
        if is_first && RESERVED.contains(&word.as_str()) && ends_word(after) {
            return false;
        }
        rest = after;
    }
    true
}

fn ends_word(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| c.is_whitespace() || ";&|".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_literal_is_plain() {
        for text in [
            "cargo test",
            "cd sub && 'cargo' \"test\" --all -- --nocapture",
            "cargo test 2>&1 | tail -20; echo 'it $(rm x) is done'",
            "CI=1 npm run lint >/dev/null\nls *.rs",
            "timeout 60 cargo test --test 'a b' </dev/null",
            "git log --format=%h --since=yesterday",
        ] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "cargo test $X",
            "cargo test \"$(rm x)\"",
            "cargo test `rm x`",
            "cargo test > out",
            "cargo test 2>/dev/null2",
            "cargo test >/dev/null/../x",
            "cargo test &",
            "cargo test & rm x",
            "(cargo test)",
            "{ cargo test; }",
            "cargo() { rm x; }",
            "if cargo test; then ls; fi",
            "for x in a; do cargo test; done",
            "ls; while true; do ls; done",
            "time cargo test",
            "[[ -v x ]]",
            "[ -v 'x[$(rm y)]' ]",
            "cargo test # it",
            "cargo test \\\n x",
            "cargo test \"a\\\" b\"",
            "cargo test 'open",
            "cargo test \"it's $[1]\"",
            "cargo test $'x'",
            "cargo test {a,b}",
            "cargo test <<E\nx\nE",
            "! cargo test",
            "cargo\rtest",
            "cargo test\u{0}",
            "function f ls",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }
}
