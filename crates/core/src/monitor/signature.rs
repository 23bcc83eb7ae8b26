//! How one CLI looks: what its rules are made of.

use std::time::Duration;

use super::PaneState;
use super::capture::Line;

/// What one CLI shows in which state, in the order in which it is asked.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Beginnings of the versions that were seen; without any, it is for all.
    pub versions: Vec<String>,
    /// What the installed CLI says of its version, if these rules were not made for that:
    /// then no screen of it is understood.
    pub unknown_version: Option<String>,
    /// What a line begins with that the user has typed or types.
    pub prompt: Vec<String>,
    /// What the composer looks like; without it nobody types there.
    pub composer: Option<ComposerShape>,
    /// What the composer shows while it is empty.
    pub placeholders: Vec<String>,
    /// What lines begin with that end a turn or say how it went.
    pub marks: Vec<String>,
    /// How many lines at the bottom are the footer.
    pub footer_lines: usize,
    /// The command that resumes a session, up to its id.
    pub resume: Vec<Pattern>,
    pub rules: Vec<Rule>,
}

impl Signature {
    /// Whether it was made for the version that a CLI states.
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

/// How a composer stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComposerShape {
    /// Between the last two rules.
    Rules,
    /// Beside the last bar.
    Box,
    /// From the last prompt on.
    Prompt,
}

/// Holds if all that it asks for is seen: of each inner list, one pattern.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub state: PaneState,
    /// In the lower part of the screen.
    pub screen: Vec<Vec<Pattern>>,
    /// In its last lines.
    pub footer: Vec<Vec<Pattern>>,
    /// In what was shown since the last prompt.
    pub turn: Vec<Vec<Pattern>>,
    /// In the first line of that.
    pub first: Vec<Vec<Pattern>>,
    /// In the last line of that which begins with a mark.
    pub mark: Vec<Vec<Pattern>>,
    /// Whether the line above that one stands beside a bar.
    pub below_bar: bool,
    /// In the title of the pane.
    pub title: Vec<Vec<Pattern>>,
    pub composer: ComposerRule,
    /// The least number of seconds that the line of `turn` or `first` shows.
    pub seconds: Option<u64>,
    /// How long the pane must have looked like this.
    pub held: Option<Duration>,
    /// The entry that says that the folder is trusted.
    pub trust: Option<String>,
    /// What the entry says that is chosen with words of one's own, and not without.
    pub words: Option<String>,
}

/// What a rule asks of the composer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComposerRule {
    #[default]
    Nothing,
    /// It is there.
    There,
    /// It shows dim text that is no placeholder.
    Dim,
}

/// Text to be seen within a line; `*` stands for anything, and `^` for its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    is_anchored: bool,
    parts: Vec<String>,
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        let (is_anchored, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        Self { is_anchored, parts: text.split('*').map(str::to_owned).collect() }
    }
}

impl Pattern {
    /// Where it is seen in a line.
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

    pub(super) fn is_in(&self, line: &Line) -> bool {
        self.find(&line.text).is_some()
    }
}
