//! Types that describe the screens of one CLI: its signature, rules and patterns.

use std::time::Duration;

use super::PaneState;
use super::capture::CapturedLine;

/// The description of one CLI's screens, with a list of rules that are tried in order.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Beginnings of the versions that these rules were made from; if empty, they are for all versions.
    pub versions: Vec<String>,
    /// The version of the installed CLI, if these rules were not made for it: then no screen of the CLI is
    /// understood.
    pub unknown_version: Option<String>,
    /// Beginnings of lines that hold a prompt, sent or being typed (`❯`).
    pub prompt: Vec<String>,
    /// The look of the composer; without it, nothing is typed into this CLI.
    pub composer: Option<ComposerShape>,
    /// Texts that the composer shows while it is empty.
    pub placeholders: Vec<String>,
    /// Beginnings of lines that end a turn or say how the turn went.
    pub marks: Vec<String>,
    /// The number of lines at the bottom that are the footer.
    pub footer_lines: usize,
    /// Patterns of the command that resumes a session, up to the session's id.
    pub resume: Vec<TextPattern>,
    pub rules: Vec<SignatureRule>,
}

impl Signature {
    /// Tells whether the rules were made for the version that a CLI states.
    pub fn knows(&self, said: &str) -> bool {
        if self.versions.is_empty() {
            return true;
        }
        let numbers = said.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|word| word.contains('.'));
        let is_of = |number: &str| {
            self.versions.iter().any(|known| {
                number
                    .strip_prefix(known.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        numbers.into_iter().any(is_of)
    }
}

/// The way to find a composer on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComposerShape {
    /// The composer is between the last two rules drawn across the screen.
    Rules,
    /// The composer is beside the last bar.
    Box,
    /// The composer begins at the last prompt.
    Prompt,
}

/// A rule that names a state if all its conditions hold: of each inner list, one pattern must be seen.
#[derive(Clone, Debug)]
pub struct SignatureRule {
    pub name: String,
    pub state: PaneState,
    /// Patterns in the lower part of the screen.
    pub screen: Vec<Vec<TextPattern>>,
    /// Patterns in the last lines of the screen.
    pub footer: Vec<Vec<TextPattern>>,
    /// Patterns in the lines since the last prompt.
    pub turn: Vec<Vec<TextPattern>>,
    /// Patterns in the first line since the last prompt.
    pub first: Vec<Vec<TextPattern>>,
    /// Patterns in the last line since the last prompt that begins with a mark.
    pub mark: Vec<Vec<TextPattern>>,
    /// Whether the line above that mark must be beside a bar.
    pub below_bar: bool,
    /// Patterns in the title of the pane.
    pub title: Vec<Vec<TextPattern>>,
    pub composer: ComposerCondition,
    /// The least number of seconds that one of the matched lines must show.
    pub seconds: Option<u64>,
    /// The time that the pane must have looked like this.
    pub held: Option<Duration>,
    /// The menu entry that says that the folder is trusted.
    pub trust: Option<String>,
    /// Part of the label of the menu entry that takes an answer of one's own.
    pub words: Option<String>,
}

/// The condition that a rule puts on the composer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComposerCondition {
    #[default]
    Nothing,
    /// The composer is on the screen.
    There,
    /// The composer shows dim text that is no placeholder.
    Dim,
}

/// A text to find within a line; `*` stands for anything, and `^` for the beginning of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPattern {
    is_anchored: bool,
    parts: Vec<String>,
}

impl From<&str> for TextPattern {
    fn from(text: &str) -> Self {
        let (is_anchored, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        Self { is_anchored, parts: text.split('*').map(str::to_owned).collect() }
    }
}

impl TextPattern {
    /// Returns the position of the pattern in a line.
    pub fn find(&self, line: &str) -> Option<usize> {
        let (mut start, mut from) = (None, 0);
        for part in &self.parts {
            let at = from + line[from..].find(part.as_str())?;
            if self.is_anchored && start.is_none() && at > 0 {
                return None;
            }
            start.get_or_insert(at);
            from = at + part.len();
        }
        start
    }

    pub(super) fn is_in(&self, line: &CapturedLine) -> bool {
        self.find(&line.text).is_some()
    }
}
