//! Finds the composer on a screen, and tells whether it is empty, holds our text, or another text. Pure.

use super::capture::CapturedRow;
use super::signature::ComposerShape;
use super::signature::Signature;

/// From this many lines on, a composer may show only part of a text.
const LONG: usize = 5;

/// Beginnings of the marks that CLIs show in place of a long paste.
const PASTED: [&str; 4] = ["[Pasted ", "[pasted ", "[paste ", "[Paste "];

/// The content of a composer: the text that is typed into it, and beside that the dim hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composer {
    text: String,
    lines: usize,
    /// The dim text that the composer shows while nothing is typed.
    hint: String,
}

/// The contents of a composer, compared with the text that we want to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComposerMatch {
    Nothing,
    /// Exactly our text, or the mark that the CLI shows in its place.
    Ours,
    Other,
}

impl Composer {
    /// Finds the composer at the end of these rows, if there is one.
    pub(super) fn find(rows: &[CapturedRow], signature: &Signature) -> Option<Self> {
        if signature.unknown_version.is_some() {
            return None;
        }
        let inside = match signature.composer? {
            ComposerShape::Rules => between_rules(rows)?,
            ComposerShape::Box => in_box(rows)?,
            ComposerShape::Prompt => after_prompt(rows, signature)?,
        };
        let written = |shown: fn(&CapturedRow) -> &str| {
            let mut lines: Vec<&str> = inside.iter().map(|row| shown(row).trim()).collect();
            if let Some(first) = lines.first_mut() {
                let bare = signature.prompt.iter().find_map(|prompt| first.strip_prefix(prompt.as_str()));
                *first = bare.unwrap_or(first).trim_start();
            }
            lines.retain(|line| !line.is_empty());
            let is_known = |line: &&str| signature.placeholders.iter().any(|known| line.contains(known));
            if lines.len() == 1 && lines.iter().all(is_known) {
                lines.clear();
            }
            lines
        };
        let typed = written(|row| &row.bright);
        let hint = if typed.is_empty() { written(|row| &row.text).join(" ") } else { String::new() };
        Some(Self { lines: typed.len(), text: typed.join("\n"), hint })
    }

    /// Returns the prompt that the CLI suggests. Text that begins with a mark is left out: it may be
    /// a command of the CLI or of the shell, which only the person may enter.
    pub fn suggestion(&self) -> Option<&str> {
        Some(self.hint.as_str()).filter(|hint| hint.starts_with(char::is_alphanumeric))
    }

    /// Compares the contents of the composer with `text`.
    pub fn compare(&self, text: &str) -> ComposerMatch {
        // A composer wraps lines at its own width, so white space is not compared.
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let (held, ours) = (bare(&self.text), bare(text));
        if held.is_empty() {
            ComposerMatch::Nothing
        } else if held == ours || self.is_mark() || (self.lines >= LONG && ours.contains(&held)) {
            ComposerMatch::Ours
        } else {
            ComposerMatch::Other
        }
    }

    /// Returns the last line of the typed text, as shown.
    pub(super) fn last_line(&self) -> &str {
        self.text.lines().last().unwrap_or_default()
    }

    /// Tells whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Tells whether the composer shows only one mark that stands for a long paste.
    fn is_mark(&self) -> bool {
        let text = self.text.trim();
        let is_one = text.matches('[').count() == 1 && text.ends_with(']');
        is_one && PASTED.iter().any(|mark| text.starts_with(mark))
    }
}

/// Returns the rows between the last two rules.
fn between_rules(rows: &[CapturedRow]) -> Option<&[CapturedRow]> {
    let end = rows.iter().rposition(|row| row.is_rule)?;
    let start = rows[..end].iter().rposition(|row| row.is_rule)?;
    Some(&rows[start + 1..end])
}

/// Returns the rows beside the last bar, without the line that names the model.
fn in_box(rows: &[CapturedRow]) -> Option<&[CapturedRow]> {
    let end = rows.iter().rposition(|row| row.has_bar)?;
    let start = rows[..end].iter().rposition(|row| !row.has_bar).map_or(0, |at| at + 1);
    let inside = &rows[start..=end];
    let last = inside.iter().rposition(|row| !row.text.is_empty())?;
    Some(&inside[..last])
}

/// Returns the rows from the last prompt to the next empty row.
fn after_prompt<'a>(rows: &'a [CapturedRow], signature: &Signature) -> Option<&'a [CapturedRow]> {
    let is_prompt =
        |row: &CapturedRow| signature.prompt.iter().any(|prompt| row.text.starts_with(prompt.as_str()));
    let start = rows.iter().rposition(is_prompt)?;
    let length = rows[start..].iter().take_while(|row| !row.text.is_empty()).count();
    Some(&rows[start..start + length])
}
