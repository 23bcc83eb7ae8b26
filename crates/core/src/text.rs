//! Helpers for text that people and agents read: one line, no control characters,
//! quoting, plurals, ages, near misses.

use std::borrow::Cow;

/// Makes `text` one line of at most `max` characters. Control characters become spaces, so the
/// words of an agent or a file name cannot move a cursor, end a line or close a block.
pub fn one_line(text: &str, max: usize) -> String {
    // Names, paths and most messages are plain already.
    if text.len() <= max && is_plain(text) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len().min(max * 4));
    let mut length = 0;
    let mut gap = false;
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        if c.is_whitespace() || is_control(c) {
            gap = !line.is_empty();
            continue;
        }
        if length + usize::from(gap) + 1 > max {
            while length + 1 > max {
                line.pop();
                length -= 1;
            }
            line.push('…');
            return line;
        }
        if gap {
            line.push(' ');
            length += 1;
            gap = false;
        }
        line.push(c);
        length += 1;
    }
    line
}

/// Appends `text` to `line`, in the form that [`one_line`] gives it.
pub fn push_line(line: &mut String, text: &str, max: usize) {
    if text.len() <= max && is_plain(text) {
        line.push_str(text);
    } else {
        line.push_str(&one_line(text, max));
    }
}

/// Keeps the lines of `text` and their layout, but no character that could move a cursor or hide text.
pub fn printable(text: &str) -> String {
    let visible = text.chars().filter(|c| !is_invisible(*c));
    visible.map(|c| if c != '\n' && is_control(c) { ' ' } else { c }).collect()
}

/// Quotes somebody else's words within a sentence of ours: on one line, in double quotes **that
/// nothing in the words can end**.
pub fn quoted(text: &str, max: usize) -> String {
    let is_quote = |c: char| {
        matches!(
            c,
            '"' | '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{ff02}' | '\u{2033}' | '\u{2036}'
        )
    };
    let line = one_line(text, max).replace(is_quote, "'");
    format!("\"{}\"", disarm_hook_tags(&line))
}

/// Shows somebody else's word within a sentence of ours: the name of a file, a branch, a model, a
/// task. A plain word stays as it is, anything else is quoted.
pub fn foreign(text: &str, max: usize) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./@+:#~=,*{}[]%".contains(c);
    if !text.is_empty() && text.chars().count() <= max && text.chars().all(is_plain) {
        return text.to_owned();
    }
    quoted(text, max)
}

/// Tells whether a character is a control character, reorders text or ends a line.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Tells whether a character is invisible and can carry text past a reader: joiners, fillers,
/// variation selectors, tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Tags that agent CLIs wrap around a hook's text. A text that closed one of these could pass for
/// the CLI's own words.
const WRAPPERS: &[&str] = &[
    "system-reminder",
    "system_reminder",
    "system",
    "hook_context",
    "hook_prompt",
    "cross-session-message",
    "user-prompt-submit-hook",
];

/// Disarms the tags that agent CLIs wrap around a hook's text: their `<` becomes `‹`. Every text
/// for a model goes through this, no matter who wrote it.
pub fn disarm_hook_tags(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return text.into();
    }
    let mut disarmed = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        let name = tag[1..].trim_start().trim_start_matches('/').trim_start();
        let is_wrapper = WRAPPERS.iter().any(|wrapper| {
            let (start, after) = name.split_at_checked(wrapper.len()).unwrap_or(("", ""));
            start.eq_ignore_ascii_case(wrapper)
                && !after.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_')
        });
        disarmed.push_str(before);
        disarmed.push(if is_wrapper { '‹' } else { '<' });
        rest = &tag[1..];
    }
    disarmed.push_str(rest);
    disarmed.into()
}

/// Formats an age in one unit: `now`, `12s`, `3m`, `5h`, `2d`.
pub fn age(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        ..5 => "now".into(),
        5..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Formats an age as a phrase: `3m ago`, `just now`.
pub fn ago(milliseconds: i64) -> String {
    match age(milliseconds).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}

/// Joins the first `most` items with commas, and adds how many more there are.
pub fn first_few(items: impl IntoIterator<Item = String>, most: usize) -> String {
    let mut rest = items.into_iter();
    let mut items: Vec<String> = rest.by_ref().take(most).collect();
    let more = rest.count();
    if more > 0 {
        items.push(format!("{more} more"));
    }
    items.join(", ")
}

/// Quotes any text as one word of a shell command, which people and agents paste.
pub fn shell_quoted(word: &str) -> String {
    format!("'{}'", one_line(word, 300).replace('\'', r"'\''"))
}

/// Tells whether a text is words of ASCII with one space between them.
fn is_plain(text: &str) -> bool {
    let mut before = b' ';
    for byte in text.bytes() {
        if !matches!(byte, b' '..=b'~') || (byte == b' ' && before == b' ') {
            return false;
        }
        before = byte;
    }
    before != b' ' || text.is_empty()
}

/// Formats a count with its noun: `1 agent`, `2 agents`, `3 entries`.
pub fn counted_noun(n: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if n == 1 => format!("1 {noun}"),
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {noun}s"),
    }
}

/// Finds the candidate nearest to `word`, if it is near enough to be a misspelling.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)
        // Otherwise a candidate of one letter would match any other letter.
        .filter(|(distance, candidate)| {
            let length = candidate.chars().count();
            *distance * 3 <= length.max(3) && *distance < length
        })
        .map(|(_, candidate)| candidate)
}

/// Hashes bytes, with the same result in every version (FNV-1a). For file names; not for anything
/// that must withstand an adversary.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    stable_hash_of_parts(&[bytes])
}

/// Hashes bytes that are in several places as if they were in one.
pub(crate) fn stable_hash_of_parts(parts: &[&[u8]]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    parts.iter().fold(0xcbf2_9ce4_8422_2325, |hash, part| part.iter().fold(hash, step))
}

/// Counts the characters that are wrong, missing, too many or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let substituted = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substituted.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters_and_a_limit() {
        assert_eq!(one_line("a\nb\t\u{1b}[31mc", 40), "a b [31mc");
        assert_eq!(one_line("  spaced   out  ", 40), "spaced out");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abc def", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
        assert_eq!(one_line("evil\u{202e}txt", 40), "evil txt");
    }

    proptest::proptest! {
        #[test]
        fn a_line_never_exceeds_its_limit(text: String, max in 1usize..60) {
            let line = one_line(&text, max);
            assert!(line.chars().count() <= max);
            assert!(!line.chars().any(|c| is_control(c) || is_invisible(c)));
        }

        #[test]
        fn a_quotation_ends_where_we_end_it(text: String, max in 1usize..60) {
            let quoted = quoted(&text, max);
            assert_eq!(quoted.matches('"').count(), 2);
            assert!(quoted.starts_with('"') && quoted.ends_with('"'));
            let foreign = foreign(&text, max);
            assert!(foreign == quoted || !foreign.contains(['"', ' ', '<', '(', ')', '\n']));
        }
    }

    #[test]
    fn near_misses_are_found_and_far_ones_are_not() {
        let keys = ["context.mode", "journal.retention_days"];
        assert_eq!(nearest("context.mod", keys), Some("context.mode"));
        assert_eq!(nearest("color", keys), None);
    }
}
