//! Hashes a screen without its spinners and counters, to detect whether the agent makes progress. Pure.
//!
//! Agent CLIs turn a spinner and count seconds even while their model hangs, so two captures of a hung agent
//! always differ; without spinners and counters they are equal.

use crate::text;

/// Characters that draw spinners and progress bars.
const MOVING: &[char] = &[
    '·', '✢', '✳', '✶', '✻', '✽', '*', '◐', '◑', '◒', '◓', '○', '◉', '◎', '●', '⬝', '■', '□', '█', '▓', '▒',
    '░', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '•', '…',
];

/// Returns a hash of the text of a screen, equal for screens that differ only in spinners and counters.
pub fn progress_hash(screen: &str) -> u64 {
    let mut said = String::with_capacity(screen.len());
    for line in super::capture::plain_lines(screen) {
        let before = said.len();
        for word in line.split_whitespace() {
            let word =
                word.trim_matches(|c: char| MOVING.contains(&c) || is_braille(c) || "()[]·,".contains(c));
            if !word.is_empty() && !is_counter(word) {
                said.push_str(word);
                said.push(' ');
            }
        }
        if said.len() > before {
            said.push('\n');
        }
    }
    text::stable_hash(said.as_bytes())
}

fn is_braille(c: char) -> bool {
    ('\u{2800}'..='\u{28ff}').contains(&c)
}

/// Tells whether a word is a counter: `13s`, `1m`, `11:53`, `40%`, `3/10`, `1.2k`, `12MB`.
fn is_counter(word: &str) -> bool {
    let word = word.trim_start_matches(['↑', '↓', '~', '+', '#']);
    let mut digits = 0;
    let mut letters = 0;
    for c in word.chars() {
        match c {
            '0'..='9' => digits += 1,
            '.' | ':' | '/' | '%' | ',' => {}
            c if c.is_alphabetic() => letters += 1,
            _ => return false,
        }
    }
    // Letters right after the number are a unit, at most three of them.
    digits > 0 && letters <= 3 && word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_by_itself_is_no_progress() {
        let one = "● Bash(cargo test)\n  ⎿  running 12 tests\n\n✻ Baking… (12s · ↓ 1.2k tokens · esc to interrupt)\n 11:53 40% 3/10MB ███░░\n";
        let other = "● Bash(cargo test)\n  ⎿  running 12 tests\n\n\n✽ Baking… (1m 3s · ↓ 1.9k tokens · esc to interrupt)\n 11:54 90% 9/10MB █████\n";
        assert_eq!(progress_hash(one), progress_hash(other));
        assert_eq!(progress_hash("⠋ Working"), progress_hash("⠙ Working"));
        for more in ["test a ... ok", "● Read(src/lib.rs)", "src/a1.rs"] {
            assert_ne!(progress_hash(one), progress_hash(&format!("{one}{more}\n")), "{more}");
        }
    }
}
