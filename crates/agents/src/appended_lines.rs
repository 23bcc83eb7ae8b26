//! Appends our lines to the end of a text file of an agent CLI, and cuts exactly those
//! lines out again.

use std::ops::Range;

/// Gives our lines the line endings of `text`.
pub(crate) fn with_line_endings(lines: &str, text: &str) -> String {
    lines.replace('\n', ending(text))
}

pub(crate) fn append(text: &str, lines: &str) -> String {
    let mut all = text.to_owned();
    if !all.is_empty() {
        if !all.ends_with('\n') {
            all.push_str(ending(text));
        }
        all.push_str(ending(text));
    }
    all + &with_line_endings(lines, text)
}

/// Returns the text without the range `lines`, and without the blank line before it.
pub(crate) fn cut(text: &str, lines: Range<usize>) -> String {
    let (before, after) = (&text[..lines.start], &text[lines.end..]);
    // `append` put this blank line before our lines.
    let shorter = before.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let before = shorter.filter(|text| text.is_empty() || text.ends_with('\n')).unwrap_or(before);
    format!("{before}{after}")
}

/// Returns the range of the whole line around the byte `at`, line ending included.
pub(crate) fn around(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    start..end
}

fn ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
