//! Chooses an entry of a menu in a pane by its label, one key at a time, checking the screen before each.
//!
//! **Enter is pressed only while the same question is shown and the cursor is on the entry with that label.**

use std::time::Duration;

use super::KeyPress;
use super::MenuOption;
use super::PaneAddress;
use super::PaneLook;
use super::PaneReading;
use super::PaneWriter;
use super::Signature;
use super::TerminalError;

/// Pause between two looks for the effect of a key.
const BEAT: Duration = Duration::from_millis(120);

/// Number of looks for the effect of a key.
const LOOKS: usize = 80;

/// The result of choosing an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceOutcome {
    /// The entry was confirmed, and the question is gone.
    Done,
    /// Another question is shown, or none: Enter was not pressed.
    NotAsked,
    /// No single entry has that label, the selected entry cannot be told, or the cursor did not get there.
    NoSuchEntry,
    /// The question is still shown after Enter, or the typed words never appeared.
    StillAsked,
}

/// The next step towards choosing an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Press(KeyPress),
    Confirm,
    Impossible,
}

/// Returns the next step towards the entry with that label.
fn next_move(options: &[MenuOption], label: &str) -> Move {
    let is_meant = |option: &MenuOption| option.label == label;
    let mut meant = options.iter().enumerate().filter(|(_, option)| is_meant(option)).map(|(at, _)| at);
    let (Some(wanted), None) = (meant.next(), meant.next()) else { return Move::Impossible };
    match options.iter().position(|option| option.is_selected) {
        Some(selected) if selected == wanted => Move::Confirm,
        Some(selected) if selected < wanted => Move::Press(KeyPress::Down),
        Some(_) => Move::Press(KeyPress::Up),
        None => Move::Impossible,
    }
}

/// Tells whether two readings show the same question with the same entries.
fn is_same_question(one: &PaneReading, other: &PaneReading) -> bool {
    let labels = |reading: &PaneReading| -> Vec<String> {
        reading.options.iter().map(|option| option.label.clone()).collect()
    };
    (one.state, &one.rule, &one.question) == (other.state, &other.rule, &other.question)
        && labels(one) == labels(other)
}

/// Tells whether an entry is chosen by typing an answer of one's own into it.
pub fn takes_typed_answer(signature: &Signature, asked: &PaneReading, label: &str) -> bool {
    let rule = signature.rules.iter().find(|rule| rule.name == asked.rule);
    rule.and_then(|rule| rule.words.as_ref()).is_some_and(|text| label.contains(text))
}

/// Chooses the entry with that label in the question that `asked` shows, and waits until it is gone.
/// `words` are typed into an entry that takes an answer of one's own.
pub fn choose(
    writer: &dyn PaneWriter,
    pane: &PaneAddress,
    signature: &Signature,
    asked: &PaneReading,
    label: &str,
    words: &str,
) -> Result<ChoiceOutcome, TerminalError> {
    let takes_typed_answer = takes_typed_answer(signature, asked, label);
    let look = || PaneLook::take(writer, pane, signature, Duration::MAX);
    // A key may get lost while the screen is drawn, so four keys per entry are allowed.
    for _ in 0..4 * asked.options.len().max(1) {
        let now = look()?;
        if now.facts.is_in_mode || !is_same_question(asked, &now.reading) {
            return Ok(ChoiceOutcome::NotAsked);
        }
        match next_move(&now.reading.options, label) {
            Move::Impossible => return Ok(ChoiceOutcome::NoSuchEntry),
            Move::Press(key) => {
                writer.press(pane, key)?;
                let selected = |reading: &PaneReading| reading.options.iter().position(|one| one.is_selected);
                let before = selected(&now.reading);
                for _ in 0..LOOKS {
                    writer.pause(BEAT / 2);
                    if selected(&look()?.reading) != before {
                        break;
                    }
                }
            }
            Move::Confirm if takes_typed_answer => {
                writer.paste(pane, words)?;
                let has_them = |reading: &PaneReading| {
                    let mut selected = reading.options.iter().filter(|option| option.is_selected);
                    selected.any(|option| option.label.starts_with(words))
                };
                let is_written = || Ok(has_them(&look()?.reading));
                if !looks(writer, is_written)? {
                    return Ok(ChoiceOutcome::StillAsked);
                }
                writer.press(pane, KeyPress::Enter)?;
                let is_gone = || Ok(!has_them(&look()?.reading));
                return Ok(if looks(writer, is_gone)? {
                    ChoiceOutcome::Done
                } else {
                    ChoiceOutcome::StillAsked
                });
            }
            Move::Confirm => {
                writer.press(pane, KeyPress::Enter)?;
                let is_gone = || Ok(!is_same_question(asked, &look()?.reading));
                return Ok(if looks(writer, is_gone)? {
                    ChoiceOutcome::Done
                } else {
                    ChoiceOutcome::StillAsked
                });
            }
        }
    }
    Ok(ChoiceOutcome::NoSuchEntry)
}

/// Looks repeatedly until the condition holds; returns whether it did.
fn looks(
    writer: &dyn PaneWriter,
    is_so: impl Fn() -> Result<bool, TerminalError>,
) -> Result<bool, TerminalError> {
    for _ in 0..LOOKS {
        writer.pause(BEAT);
        if is_so()? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_goes_to_the_label_and_nowhere_without_one() {
        let options = |selected: usize| -> Vec<MenuOption> {
            let option =
                |(at, label): (usize, &str)| MenuOption { label: label.into(), is_selected: at == selected };
            ["Yes", "Yes, and always", "No"].into_iter().enumerate().map(option).collect()
        };
        assert_eq!(next_move(&options(0), "Yes"), Move::Confirm);
        assert_eq!(next_move(&options(0), "No"), Move::Press(KeyPress::Down));
        assert_eq!(next_move(&options(2), "Yes, and always"), Move::Press(KeyPress::Up));
        assert_eq!(next_move(&options(9), "Yes"), Move::Impossible, "nobody knows what Enter would do");
        assert_eq!(next_move(&options(0), "Maybe"), Move::Impossible);
        let twice: Vec<MenuOption> = options(0).into_iter().chain(options(0)).collect();
        assert_eq!(next_move(&twice, "No"), Move::Impossible, "two entries of one label");
    }
}
