//! Data of the monitor room: states of panes, the reading of a screen, menu entries and permission levels.

use serde::Serialize;

/// The state of an agent in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneState {
    /// The screen is still empty.
    Starting,
    /// The agent's composer waits for a prompt.
    Ready,
    Working,
    /// The agent waits before it asks its model again after a failure.
    Retrying,
    /// The agent asks for permission to do something.
    Permission,
    /// The agent asks its user a question that is neither a permission nor a plan.
    Question,
    /// The agent asks its user to approve its plan.
    Plan,
    /// The CLI shows a dialog at its start, or about its settings.
    Dialog,
    /// The agent has reached a usage limit and can go on only later.
    Limit,
    Error,
    /// The turn is over, but something that the agent started still runs.
    Background,
    /// The CLI proposes the next prompt.
    Suggestion,
    /// The turn is over.
    Finished,
    /// The CLI has ended by itself.
    Exited,
    /// The CLI was killed, or its pane is gone.
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

    /// Returns the state's name in signature rules and in JSON.
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

    /// Tells whether the agent waits for a choice from a menu.
    pub fn has_menu(self) -> bool {
        matches!(self, Self::Permission | Self::Question | Self::Plan | Self::Dialog | Self::Limit)
    }
}

/// The state that one look at a pane found, with the details read off the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PaneReading {
    pub state: PaneState,
    /// The name of the rule that matched.
    pub rule: String,
    /// The lines that the rule matched.
    pub lines: Vec<String>,
    /// The question that the agent asks its user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    pub options: Vec<MenuOption>,
    /// The number of attempts so far, as shown: `3/5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// The end of the usage limit, in the CLI's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets: Option<String>,
    /// The command that resumes the agent's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

impl PaneReading {
    /// Finds the menu entry that `word` names: by its number, its label, or a beginning that only one label
    /// has. For a permission or a plan, `allow`, `deny` and `always` name the first entry that says so.
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
    /// Finds the entry that allows, refuses or always allows, in a permission or plan dialog.
    fn decision(&self, word: &str) -> Option<String> {
        if !matches!(self.state, PaneState::Permission | PaneState::Plan) {
            return None;
        }
        let is_always =
            |label: &str| ["always", "don't ask", "session", "all "].iter().any(|part| label.contains(part));
        let begins = |label: &str, words: &[&str]| words.iter().any(|word| label.starts_with(word));
        // Approving a plan must not also approve, unseen, every step that carries it out.
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

/// One entry of a menu on a screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MenuOption {
    pub label: String,
    /// Whether Enter would choose this entry.
    pub is_selected: bool,
}

/// Levels of what an agent may do without asking, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permissions {
    /// The agent only reads and plans.
    Plan,
    /// The agent asks before it changes anything.
    Ask,
    /// The agent edits files of its project, and asks for everything else.
    Edit,
    /// The agent never asks.
    Full,
}

impl Permissions {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Edit, Self::Full];

    /// Returns the level's name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Edit => "edit",
            Self::Full => "full",
        }
    }

    /// Finds the level of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}
