//! Reads details off a screen: the question and its options, the attempt, seconds, the end of a limit,
//! the resume command.

use super::MenuOption;
use super::PaneReading;
use super::PaneState;
use super::Signature;
use super::capture::CapturedLine;
use super::classify::Areas;

/// Cursors of menus: characters before the entry that Enter would choose.
const CURSORS: [char; 5] = ['❯', '›', '●', '→', '>'];

/// Least gap between menu entries that are side by side.
const BESIDE: &str = "   ";

/// Adds to a reading the details that its state can have.
pub(super) fn add(reading: &mut PaneReading, areas: &Areas<'_>) {
    let has_keys = areas.screen.iter().rev().take(3).any(|line| is_keys(&line.text));
    if reading.state.has_menu() && (reading.state != PaneState::Limit || has_keys) {
        let (start, options) = menu(areas.screen, &reading.lines);
        reading.question = question(&areas.screen[..start], &reading.lines);
        reading.options = options;
    }
    if reading.state == PaneState::Retrying {
        reading.attempt = reading.lines.iter().find_map(|line| attempt(line));
    }
    if reading.state == PaneState::Limit {
        reading.resets = areas.screen.iter().find_map(|line| resets(&line.text));
    }
}

/// Finds the entries of a menu, and the index of its first line. `seen` are the lines that the rule matched.
fn menu(lines: &[CapturedLine], seen: &[String]) -> (usize, Vec<MenuOption>) {
    let row = lines.iter().rposition(|line| seen.contains(&line.text) && side_by_side(&line.text).len() > 2);
    if let Some(at) = row {
        return (at, side_by_side(&lines[at].text));
    }
    let is_numbered = |line: &CapturedLine| numbered(unmarked(&line.text).unwrap_or(&line.text)).is_some();
    let is_first = |line: &CapturedLine| unmarked(&line.text).unwrap_or(&line.text).starts_with("1. ");
    let entry = |line: &CapturedLine| {
        let text = unmarked(&line.text).unwrap_or(&line.text);
        let label = numbered(text).unwrap_or(text).to_owned();
        MenuOption { label, is_selected: unmarked(&line.text).is_some() || line.is_lit }
    };
    if let Some(start) = lines.iter().rposition(is_first) {
        return (start, lines[start..].iter().filter(|line| is_numbered(line)).map(entry).collect());
    }
    // The entries have no numbers: take the lines around the cursor up to the next gap.
    let Some(cursor) = lines.iter().rposition(|line| unmarked(&line.text).is_some()) else {
        return (lines.len(), Vec::new());
    };
    let start = (0..=cursor).rev().find(|at| lines[*at].is_apart).unwrap_or(cursor);
    // The line right above the entries may be their heading.
    let start = if start < cursor && lines[start].text.ends_with(':') { start + 1 } else { start };
    let below = lines[cursor + 1..].iter().take_while(|line| !line.is_apart && !is_keys(&line.text));
    let end = cursor + 1 + below.count();
    (start, lines[start..end].iter().map(entry).collect())
}

/// Returns the menu entries that are side by side on one line; the selected one cannot be told.
fn side_by_side(line: &str) -> Vec<MenuOption> {
    let entries = line.split(BESIDE).filter(|entry| !entry.is_empty());
    let entries = entries.take_while(|entry| !entry.starts_with("  "));
    // On a narrow screen the key hints follow the last entry closely.
    let labels = entries.map(|entry| entry.split("  ").next().unwrap_or_default().trim());
    let labels = labels.take_while(|label| !label.contains("ctrl+"));
    labels.map(|label| MenuOption { label: label.to_owned(), is_selected: false }).collect()
}

/// Tells whether a line lists the keys of a dialog.
fn is_keys(line: &str) -> bool {
    let line = line.to_lowercase();
    ["enter to", "enter select", "enter confirm", "esc to"].iter().any(|keys| line.contains(keys))
}

/// Returns the text after the cursor of a menu. On a narrow screen a number may follow without a space.
fn unmarked(line: &str) -> Option<&str> {
    let entry = line.strip_prefix(CURSORS)?;
    entry.strip_prefix(' ').map(str::trim_start).or_else(|| numbered(entry).map(|_| entry))
}

/// Returns the text after a number such as `2. `, if the text begins with one.
pub(super) fn numbered(text: &str) -> Option<&str> {
    let (number, label) = text.split_once(". ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| label.trim())
}

/// Finds the nearest question above a menu, else the nearest line that the rule matched.
fn question(above: &[CapturedLine], seen: &[String]) -> Option<String> {
    let is_asked = |line: &&CapturedLine| line.text.ends_with('?') || line.text.contains("? ");
    let asked = above.iter().rev().take(10).find(is_asked);
    let asked = asked.or_else(|| above.iter().rfind(|line| seen.contains(&line.text)));
    asked.or(above.last()).map(|line| line.text.clone())
}

/// Finds the number of the attempt in a line: `3/5` or `#3`.
fn attempt(line: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '/' || c == '#';
    let words = line.split(|c: char| !is_part(c)).filter(|word| word.len() > 1);
    words.into_iter().find(|word| word.contains(['/', '#'])).map(str::to_owned)
}

/// Adds up the time that a line shows (`13s`, `1m 2s`), in seconds.
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

/// Returns the end of a limit as a line states it, after `resets` or `try again`.
fn resets(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    let mut begins = ["resets at ", "resets ", "try again at ", "limit reached|"].into_iter();
    let from = begins.find_map(|begin| lower.find(begin).map(|at| at + begin.len()));
    // A duration keeps its `in`; "try again later" states no time.
    let from = from.or_else(|| lower.find("try again in ").map(|at| at + "try again ".len()))?;
    let told = line.get(from..)?.trim().trim_end_matches('.');
    Some(told.to_owned()).filter(|told| !told.is_empty())
}

/// Finds the command that resumes the session, if the screen shows one.
pub(super) fn resume(lines: &[CapturedLine], signature: &Signature) -> Option<String> {
    lines.iter().rev().find_map(|line| {
        let at = signature.resume.iter().find_map(|pattern| pattern.find(&line.text))?;
        line.text.get(at..).map(|command| command.trim().to_owned())
    })
}
