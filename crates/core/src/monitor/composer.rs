//! What stands in a composer: nothing, our text, or anything else. Pure.

use super::capture::Row;
use super::signature::ComposerShape;
use super::signature::Signature;

/// A text of so many lines may be shown only in part.
const LONG: usize = 5;

/// What CLIs show in the place of a long paste.
const PASTED: [&str; 4] = ["[Pasted ", "[pasted ", "[paste ", "[Paste "];

/// What is typed into a composer, without placeholders and suggestions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composer {
    text: String,
    lines: usize,
    /// What it shows dimly while nothing is typed.
    hint: String,
}

/// What a composer holds, as seen by who wants to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Nothing,
    /// Exactly the text that is meant, or what stands for it.
    Ours,
    Other,
}

impl Composer {
    /// The composer that these rows end with, if there is one.
    pub(super) fn find(rows: &[Row], signature: &Signature) -> Option<Self> {
        if signature.unknown_version.is_some() {
            return None;
        }
        let inside = match signature.composer? {
            ComposerShape::Rules => between_rules(rows)?,
            ComposerShape::Box => in_box(rows)?,
            ComposerShape::Prompt => after_prompt(rows, signature)?,
        };
        let written = |shown: fn(&Row) -> &str| {
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

    /// What it suggests to say next. What begins with a mark may be a command of the CLI's, or of
    /// the shell: that is for the person to say.
    pub fn suggestion(&self) -> Option<&str> {
        Some(self.hint.as_str()).filter(|hint| hint.starts_with(char::is_alphanumeric))
    }

    /// What it holds, for who wants to type `text`.
    pub fn holds(&self, text: &str) -> Holds {
        // A composer breaks lines where it likes.
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let (held, ours) = (bare(&self.text), bare(text));
        if held.is_empty() {
            Holds::Nothing
        } else if held == ours || self.is_mark() || (self.lines >= LONG && ours.contains(&held)) {
            Holds::Ours
        } else {
            Holds::Other
        }
    }

    /// The last line that is typed, as it is shown.
    pub(super) fn last_line(&self) -> &str {
        self.text.lines().last().unwrap_or_default()
    }

    /// Whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether all that it shows is one mark that stands for a paste.
    fn is_mark(&self) -> bool {
        let text = self.text.trim();
        let is_one = text.matches('[').count() == 1 && text.ends_with(']');
        is_one && PASTED.iter().any(|mark| text.starts_with(mark))
    }
}

/// Between the last two rules.
fn between_rules(rows: &[Row]) -> Option<&[Row]> {
    let end = rows.iter().rposition(|row| row.is_rule)?;
    let start = rows[..end].iter().rposition(|row| row.is_rule)?;
    Some(&rows[start + 1..end])
}

/// Beside the last bar, without the line that names the model.
fn in_box(rows: &[Row]) -> Option<&[Row]> {
    let end = rows.iter().rposition(|row| row.has_bar)?;
    let start = rows[..end].iter().rposition(|row| !row.has_bar).map_or(0, |at| at + 1);
    let inside = &rows[start..=end];
    let last = inside.iter().rposition(|row| !row.text.is_empty())?;
    Some(&inside[..last])
}

/// From the last prompt to the next empty line.
fn after_prompt<'a>(rows: &'a [Row], signature: &Signature) -> Option<&'a [Row]> {
    let is_prompt = |row: &Row| signature.prompt.iter().any(|prompt| row.text.starts_with(prompt.as_str()));
    let start = rows.iter().rposition(is_prompt)?;
    let length = rows[start..].iter().take_while(|row| !row.text.is_empty()).count();
    Some(&rows[start..start + length])
}
