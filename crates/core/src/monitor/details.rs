//! What else a screen says: the question and its options, attempts, seconds, when a limit
//! ends, how to resume.

use super::MenuOption;
use super::PaneReading;
use super::PaneState;
use super::Signature;
use super::capture::Line;
use super::classify::Areas;

/// What stands before the entry of a menu that Enter would choose.
const CURSORS: [char; 5] = ['❯', '›', '●', '→', '>'];

/// What stands between entries that are side by side.
const BESIDE: &str = "   ";

/// Adds what there is to a reading.
pub(super) fn add(reading: &mut PaneReading, areas: &Areas<'_>) {
    if reading.state.has_menu() {
        let (start, options) = menu(areas.screen);
        reading.question = question(&areas.screen[..start]);
        reading.options = options;
    }
    if reading.state == PaneState::Retrying {
        reading.attempt = reading.lines.iter().find_map(|line| attempt(line));
    }
    if reading.state == PaneState::Limit {
        reading.resets = areas.screen.iter().find_map(|line| resets(&line.text));
    }
}

/// The entries of a menu, and where it begins.
fn menu(lines: &[Line]) -> (usize, Vec<MenuOption>) {
    let Some(cursor) = lines.iter().rposition(|line| unmarked(&line.text).is_some()) else {
        return row(lines);
    };
    let is_numbered = |line: &Line| numbered(unmarked(&line.text).unwrap_or(&line.text)).is_some();
    let entry = |line: &Line| {
        let text = unmarked(&line.text).unwrap_or(&line.text);
        let label = numbered(text).unwrap_or(text).to_owned();
        MenuOption { label, is_selected: unmarked(&line.text).is_some() }
    };
    if is_numbered(&lines[cursor]) {
        let first = (0..=cursor).rev().find(|at| {
            let text = unmarked(&lines[*at].text).unwrap_or(&lines[*at].text);
            text.starts_with("1.")
        });
        let start = first.unwrap_or(cursor);
        return (start, lines[start..].iter().filter(|line| is_numbered(line)).map(entry).collect());
    }
    // Without numbers: all lines around the cursor, up to the question and the keys.
    let is_text = |line: &Line| line.text.ends_with(['?', '.', ':']) || is_keys(&line.text);
    let start = (0..cursor).rev().find(|at| is_text(&lines[*at])).map_or(cursor, |at| at + 1);
    let end = (cursor + 1..lines.len()).find(|at| is_text(&lines[*at])).unwrap_or(lines.len());
    (start, lines[start..end].iter().map(entry).collect())
}

/// Entries side by side, of which none is known to be selected.
fn row(lines: &[Line]) -> (usize, Vec<MenuOption>) {
    let Some(at) = lines.iter().rposition(|line| line.text.matches(BESIDE).count() >= 2) else {
        return (lines.len(), Vec::new());
    };
    let entries = lines[at].text.split(BESIDE).map(str::trim).filter(|entry| !entry.is_empty());
    let entry = |label: &str| MenuOption { label: label.to_owned(), is_selected: false };
    (at, entries.take_while(|entry| !entry.contains("  ") && !entry.contains("ctrl+")).map(entry).collect())
}

/// Whether a line tells which keys there are.
fn is_keys(line: &str) -> bool {
    let line = line.to_lowercase();
    ["enter to", "enter select", "enter confirm", "esc to"].iter().any(|keys| line.contains(keys))
}

/// What a line says after the cursor of a menu.
fn unmarked(line: &str) -> Option<&str> {
    line.strip_prefix(CURSORS)?.strip_prefix(' ').map(str::trim_start)
}

/// What follows `2. `, if a text begins so.
pub(super) fn numbered(text: &str) -> Option<&str> {
    let (number, label) = text.split_once(". ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| label.trim())
}

/// The nearest question above, else the nearest line.
fn question(above: &[Line]) -> Option<String> {
    let asked = above.iter().rev().take(8).find(|line| line.text.ends_with('?'));
    asked.or(above.last()).map(|line| line.text.clone())
}

/// `3/5` or `#3`, as a line has it.
fn attempt(line: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '/' || c == '#';
    let words = line.split(|c: char| !is_part(c)).filter(|word| word.len() > 1);
    words.into_iter().find(|word| word.contains(['/', '#'])).map(str::to_owned)
}

/// The seconds that a line shows: `13s`, `1m 2s`.
pub(super) fn seconds(line: &str) -> Option<u64> {
    let mut total = None;
    for word in line.split(|c: char| !c.is_ascii_alphanumeric()) {
        let (number, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
        let factor = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => continue,
        };
        if let Ok(number) = number.parse::<u64>() {
            *total.get_or_insert(0) += number.saturating_mul(factor);
        }
    }
    total
}

/// What follows `resets` or `try again at`.
fn resets(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    let mut begins = ["resets at ", "resets ", "try again at "].into_iter();
    let from = begins.find_map(|begin| lower.find(begin).map(|at| at + begin.len()))?;
    let told = line.get(from..)?.trim().trim_end_matches('.');
    Some(told.to_owned()).filter(|told| !told.is_empty())
}

/// The command that resumes the session, if the screen has one.
pub(super) fn resume(lines: &[Line], signature: &Signature) -> Option<String> {
    lines.iter().rev().find_map(|line| {
        let at = signature.resume.iter().find_map(|pattern| pattern.find(&line.text))?;
        line.text.get(at..).map(|command| command.trim().to_owned())
    })
}
