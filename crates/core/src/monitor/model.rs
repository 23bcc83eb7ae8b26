//! Data of the monitor room: states of panes, and what one look at a pane told.

use serde::Serialize;

/// What an agent in a pane does or needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneState {
    /// Nothing is drawn yet.
    Starting,
    /// Its composer waits for a prompt.
    Ready,
    Working,
    /// It waits to ask its model again after a failure.
    Retrying,
    /// It asks whether it may do something.
    Permission,
    /// It asks its user something else.
    Question,
    /// It asks whether its plan is good.
    Plan,
    /// A dialog at its start, or about its settings.
    Dialog,
    /// It may go on only after some time.
    Limit,
    Error,
    /// Its turn is over, and something that it started still runs.
    Background,
    /// It proposes the next prompt.
    Suggestion,
    /// Its turn is over.
    Finished,
    /// It has ended by itself.
    Exited,
    /// It was ended, or its pane is gone.
    Dead,
    Unknown,
}

impl PaneState {
    pub const ALL: [Self; 16] = [
        Self::Starting,
        Self::Ready,
        Self::Working,
        Self::Retrying,
        Self::Permission,
        Self::Question,
        Self::Plan,
        Self::Dialog,
        Self::Limit,
        Self::Error,
        Self::Background,
        Self::Suggestion,
        Self::Finished,
        Self::Exited,
        Self::Dead,
        Self::Unknown,
    ];

    /// Its name in rules and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Working => "working",
            Self::Retrying => "retrying",
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Dialog => "dialog",
            Self::Limit => "limit",
            Self::Error => "error",
            Self::Background => "background",
            Self::Suggestion => "suggestion",
            Self::Finished => "finished",
            Self::Exited => "exited",
            Self::Dead => "dead",
            Self::Unknown => "unknown",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether it waits for an answer from a menu.
    pub fn has_menu(self) -> bool {
        matches!(self, Self::Permission | Self::Question | Self::Plan | Self::Dialog | Self::Limit)
    }
}

/// What one look at a pane told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PaneReading {
    pub state: PaneState,
    /// The rule that said so.
    pub rule: String,
    /// The lines that it went by.
    pub lines: Vec<String>,
    /// What its user is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    pub options: Vec<MenuOption>,
    /// `3/5`: how often it has tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// When its limit ends, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets: Option<String>,
    /// The command that resumes its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

impl PaneReading {
    /// The entry of its menu that is meant: by its number, its label, or the beginning of only
    /// one. Of a permission the first that says yes, no, or always, by those words.
    pub fn meant_option(&self, word: &str) -> Option<String> {
        let word = word.trim().to_lowercase();
        if let Some(label) = self.decision(&word) {
            return Some(label);
        }
        let by_number =
            word.parse::<usize>().ok().and_then(|number| self.options.get(number.checked_sub(1)?));
        let is_it = |option: &&MenuOption| option.label.to_lowercase() == word;
        let begins =
            |option: &&MenuOption| !word.is_empty() && option.label.to_lowercase().starts_with(&word);
        let mut like = self.options.iter().filter(begins);
        let only = like.next().filter(|_| like.next().is_none());
        by_number.or_else(|| self.options.iter().find(is_it)).or(only).map(|option| option.label.clone())
    }
}

impl PaneReading {
    /// The entry that allows, refuses or allows from now on, where a permission is asked.
    fn decision(&self, word: &str) -> Option<String> {
        if !matches!(self.state, PaneState::Permission | PaneState::Plan) {
            return None;
        }
        let is_always =
            |label: &str| ["always", "don't ask", "session", "all "].iter().any(|part| label.contains(part));
        let begins = |label: &str, words: &[&str]| words.iter().any(|word| label.starts_with(word));
        // Who approves a plan does not approve unseen whatever is done for it.
        let is_looser = |label: &str| ["auto", "bypass"].iter().any(|part| label.contains(part));
        let is_plan = self.state == PaneState::Plan;
        let is_it = |option: &&MenuOption| {
            let label = option.label.to_lowercase().replace('’', "'");
            match word {
                "allow" if is_plan => begins(&label, &["yes", "accept"]) && !is_looser(&label),
                "deny" if is_plan => begins(&label, &["no", "suggest changes", "type your feedback"]),
                "allow" => begins(&label, &["yes", "allow", "approve"]) && !is_always(&label),
                "always" => begins(&label, &["yes", "allow", "approve"]) && is_always(&label),
                "deny" => begins(&label, &["no", "deny", "reject", "cancel"]),
                _ => false,
            }
        };
        self.options.iter().find(is_it).map(|option| option.label.clone())
    }
}

/// An entry of a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MenuOption {
    pub label: String,
    /// Whether Enter would choose it.
    pub is_selected: bool,
}

/// What an agent may do without asking, from the strictest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permissions {
    /// It reads and plans.
    Plan,
    /// It asks before it changes anything.
    Ask,
    /// It edits files of its project, and asks for the rest.
    Edit,
    /// It asks for nothing.
    Full,
}

impl Permissions {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Edit, Self::Full];

    /// Its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Edit => "edit",
            Self::Full => "full",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}
