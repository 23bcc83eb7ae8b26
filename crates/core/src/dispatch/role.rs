//! A role: the definition that a run is started with, its keys, and the checks of their values.

use serde::Deserialize;
use serde::Serialize;
use thiserror::Error;

use super::Cost;
use super::Safety;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::text;

/// The role of a run for which none is named.
pub const DEFAULT_ROLE: &str = "dev";

/// The levels of reasoning that a model can be asked for.
pub const REASONING: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh"];

/// A definition that a run is started with. A value that is absent is left to the run, to the
/// person's settings and to the CLI, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Role {
    pub name: String,
    pub description: String,
    /// The agent CLI that does the work.
    pub cli: Option<String>,
    pub model: Option<String>,
    /// The only tools that a run may use.
    pub tools: Option<Vec<String>>,
    /// Whether the run changes nothing, whatever `safety` says.
    pub read_only: bool,
    pub system_prompt: Option<String>,
    pub tier: ModelTier,
    pub isolation: Isolation,
    pub safety: Option<Safety>,
    pub reasoning: Option<String>,
    pub max_turns: Option<u32>,
    pub token_budget: Option<u64>,
    #[serde(serialize_with = "dollars")]
    pub budget_usd: Option<Cost>,
    pub timeout_s: Option<u64>,
    /// Number of times that a run is tried again after a failure.
    pub retry: u32,
    pub tags: Vec<String>,
}

impl Role {
    /// Returns the role's safety level, or `default`; a role that only reads never does more than
    /// suggest.
    pub fn safety_or(&self, default: Safety) -> Safety {
        if self.read_only { Safety::Suggest } else { self.safety.unwrap_or(default) }
    }

    /// Sets the value of one key of the role. Values are checked when they are read.
    pub(super) fn set(&mut self, key: &RoleKey, value: RoleValue) {
        match (key.name, value) {
            ("description", RoleValue::Text(text)) => self.description = text,
            ("cli", RoleValue::Text(text)) => self.cli = Some(text),
            ("model", RoleValue::Text(text)) => self.model = Some(text),
            ("tools", RoleValue::Words(words)) => self.tools = Some(words),
            ("read_only", RoleValue::Flag(flag)) => self.read_only = flag,
            ("system_prompt", RoleValue::Text(text)) => self.system_prompt = Some(text),
            ("tier", RoleValue::Text(text)) => self.tier = ModelTier::named(&text).unwrap_or_default(),
            ("isolation", RoleValue::Text(text)) => {
                self.isolation = Isolation::named(&text).unwrap_or_default();
            }
            ("safety", RoleValue::Text(text)) => self.safety = Safety::named(&text),
            ("reasoning", RoleValue::Text(text)) => self.reasoning = Some(text),
            ("max_turns", RoleValue::Number(number)) => self.max_turns = u32::try_from(number).ok(),
            ("token_budget", RoleValue::Number(number)) => self.token_budget = Some(number),
            ("budget_usd", RoleValue::Dollars(cost)) => self.budget_usd = Some(cost),
            ("timeout_s", RoleValue::Number(number)) => self.timeout_s = Some(number),
            ("retry", RoleValue::Number(number)) => self.retry = u32::try_from(number).unwrap_or_default(),
            ("tags", RoleValue::Words(words)) => self.tags = words,
            _ => debug_assert!(false, "`{}` is read as another kind than it is kept", key.name),
        }
    }
}

fn dollars<S: serde::Serializer>(cost: &Option<Cost>, serializer: S) -> Result<S::Ok, S::Error> {
    cost.map(Cost::dollars).serialize(serializer)
}

/// The quality that a model must have, the best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelTier {
    Frontier,
    Mid,
    #[default]
    Any,
}

impl ModelTier {
    /// Finds the tier by its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Frontier, Self::Mid, Self::Any].into_iter().find(|tier| tier.as_str() == name)
    }

    /// Returns the name in files and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frontier => "frontier",
            Self::Mid => "mid",
            Self::Any => "any",
        }
    }
}

/// The place that a run works in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// The directory that the run was started in.
    #[default]
    None,
    /// A worktree of the run's own, which is merged back.
    Worktree,
}

impl Isolation {
    /// Finds the variant by its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Worktree].into_iter().find(|isolation| isolation.as_str() == name)
    }

    /// Returns the name in files and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Worktree => "worktree",
        }
    }
}

/// A key of a role: its name, the values that it may have, and a description.
#[derive(Debug)]
pub struct RoleKey {
    pub name: &'static str,
    pub kind: RoleValueKind,
    pub about: &'static str,
}

impl PartialEq for RoleKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for RoleKey {}

/// The kind of value that a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleValueKind {
    Text,
    /// One word that becomes an argument of a CLI; `${NAME}` stands for a variable.
    Model,
    Choice(&'static [&'static str]),
    Flag,
    Number {
        least: u64,
        most: u64,
    },
    Dollars,
    /// A list of words.
    Words,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleValue {
    Text(String),
    Flag(bool),
    Number(u64),
    Dollars(Cost),
    Words(Vec<String>),
}

impl std::fmt::Display for RoleValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Dollars(cost) => cost.dollars().fmt(f),
            Self::Words(words) => f.write_str(&words.join(", ")),
        }
    }
}

/// All keys of a role. The value of `cli` is checked by the code that knows the CLIs.
pub const ROLE_KEYS: &[RoleKey] = &[
    RoleKey { name: "description", kind: RoleValueKind::Text, about: "what it is for, in a line" },
    RoleKey { name: "cli", kind: RoleValueKind::Text, about: "the agent CLI that does the work" },
    RoleKey {
        name: "model",
        kind: RoleValueKind::Model,
        about: "its model; `${NAME}` is a variable's value",
    },
    RoleKey { name: "tools", kind: RoleValueKind::Words, about: "the only tools it has" },
    RoleKey { name: "read_only", kind: RoleValueKind::Flag, about: "it changes nothing" },
    RoleKey { name: "system_prompt", kind: RoleValueKind::Text, about: "what it is told about its role" },
    RoleKey {
        name: "tier",
        kind: RoleValueKind::Choice(&["frontier", "mid", "any"]),
        about: "how good its model has to be",
    },
    RoleKey {
        name: "isolation",
        kind: RoleValueKind::Choice(&["none", "worktree"]),
        about: "where it works: here, or in a worktree of its own",
    },
    RoleKey {
        name: "safety",
        kind: RoleValueKind::Choice(&["suggest", "auto-edit", "full-auto"]),
        about: "how much it may do by itself",
    },
    RoleKey { name: "reasoning", kind: RoleValueKind::Choice(REASONING), about: "how much it thinks" },
    RoleKey {
        name: "max_turns",
        kind: RoleValueKind::Number { least: 1, most: 10_000 },
        about: "how often its model is asked at most",
    },
    RoleKey {
        name: "token_budget",
        kind: RoleValueKind::Number { least: 1, most: 1_000_000_000 },
        about: "how many tokens it may use",
    },
    RoleKey { name: "budget_usd", kind: RoleValueKind::Dollars, about: "how many dollars it may cost" },
    RoleKey {
        name: "timeout_s",
        kind: RoleValueKind::Number { least: 1, most: 7 * 86_400 },
        about: "how many seconds it may take",
    },
    RoleKey {
        name: "retry",
        kind: RoleValueKind::Number { least: 0, most: 10 },
        about: "how often it is tried again after a failure",
    },
    RoleKey { name: "tags", kind: RoleValueKind::Words, about: "words to find it by" },
];

/// Finds a key by its name.
pub fn role_key(name: &str) -> Result<&'static RoleKey, RoleError> {
    ROLE_KEYS.iter().find(|key| key.name == name).ok_or_else(|| RoleError::UnknownKey {
        key: name.to_owned(),
        nearest: text::nearest(name, ROLE_KEYS.iter().map(|key| key.name)),
    })
}

/// Checks that a text can be the name of a role: a word that no shell and no file system takes for
/// anything else.
pub fn check_role_name(name: &str) -> Result<(), RoleError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_name = name.len() <= 40 && name.starts_with(|c: char| c.is_ascii_alphabetic());
    match is_name && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(RoleError::BadName { name: text::one_line(name, 60) }),
    }
}

impl RoleKey {
    /// Checks a value against the key's kind and bounds.
    pub fn check(&'static self, value: &RoleValue) -> Result<(), RoleError> {
        let is_word = |word: &String| is_argument(word);
        let is_fit = match (self.kind, value) {
            (RoleValueKind::Text, RoleValue::Text(_)) | (RoleValueKind::Flag, RoleValue::Flag(_)) => true,
            (RoleValueKind::Model, RoleValue::Text(text)) => is_word(text) && variables(text).is_some(),
            (RoleValueKind::Choice(choices), RoleValue::Text(text)) => choices.contains(&text.as_str()),
            (RoleValueKind::Number { least, most }, RoleValue::Number(number)) => {
                (least..=most).contains(number)
            }
            (RoleValueKind::Dollars, RoleValue::Dollars(cost)) => (1..=MOST_DOLLARS).contains(&cost.0),
            (RoleValueKind::Words, RoleValue::Words(words)) => words.iter().all(is_word),
            _ => false,
        };
        match is_fit {
            true => Ok(()),
            false => Err(RoleError::BadValue { key: self, value: text::one_line(&value.to_string(), 60) }),
        }
    }

    /// Describes the values that the key accepts.
    pub fn wanted(&self) -> String {
        match self.kind {
            RoleValueKind::Text => "a text".into(),
            RoleValueKind::Model => "a model's name, one word; `${NAME}` is a variable's value".into(),
            RoleValueKind::Choice(choices) => format!("one of: {}", choices.join(", ")),
            RoleValueKind::Flag => "`true` or `false`".into(),
            RoleValueKind::Number { least, most } => format!("a number from {least} to {most}"),
            RoleValueKind::Dollars => "dollars above 0, as in `0.5`".into(),
            RoleValueKind::Words => "a list of words".into(),
        }
    }

    /// Reads a value as it is typed; a list of words has commas between them.
    pub fn typed(&'static self, typed: &str) -> Result<RoleValue, RoleError> {
        let bad = || RoleError::BadValue { key: self, value: text::one_line(typed, 60) };
        let value = match self.kind {
            RoleValueKind::Text | RoleValueKind::Model | RoleValueKind::Choice(_) => {
                RoleValue::Text(typed.to_owned())
            }
            RoleValueKind::Flag => RoleValue::Flag(typed.parse().map_err(|_| bad())?),
            RoleValueKind::Number { .. } => RoleValue::Number(typed.parse().map_err(|_| bad())?),
            RoleValueKind::Dollars => {
                RoleValue::Dollars(typed.parse().map(Cost::from_dollars).map_err(|_| bad())?)
            }
            RoleValueKind::Words => {
                let words = typed.split(',').map(str::trim).filter(|word| !word.is_empty());
                RoleValue::Words(words.map(str::to_owned).collect())
            }
        };
        self.check(&value)?;
        Ok(value)
    }
}

/// Largest budget, in millionths of a dollar: more than anybody means.
const MOST_DOLLARS: i64 = 1_000_000 * 1_000_000;

/// Tells whether a text is one word that can be an argument, and that no program takes for an
/// option.
pub fn is_argument(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 200
        && !word.starts_with('-')
        && !word
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || text::one_line(&c.to_string(), 1).is_empty())
}

/// Returns the variables that a text names as `${NAME}`; `None` if one of them is not closed or is
/// not a name.
pub(super) fn variables(text: &str) -> Option<Vec<&str>> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((_, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        found.push(is_name.then_some(name)?);
        rest = after;
    }
    Some(found)
}

/// A problem with a role, or with the name of one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RoleError {
    #[error("there is no role {}", text::foreign(name, 60))]
    UnknownRole { name: String, nearest: Option<String>, all: Vec<String> },
    #[error("a role has no key {}", text::foreign(key, 60))]
    UnknownKey { key: String, nearest: Option<&'static str> },
    #[error("{} is no value of `{}`", text::quoted(value, 60), key.name)]
    BadValue { key: &'static RoleKey, value: String },
    #[error("{} is no name of a role", text::quoted(name, 60))]
    BadName { name: String },
    #[error("the model of `{role}` needs the variable {variable}, which is not set")]
    NoVariable { role: String, variable: String },
    #[error("what the variables in the model of `{role}` say is no name of a model")]
    NotAModel { role: String },
}

impl Explain for RoleError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::User
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::UnknownRole { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::UnknownRole { all, .. } => format!("there are: {}", all.join(", ")),
            Self::UnknownKey { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::UnknownKey { nearest: None, .. } => {
                format!("its keys: {}", ROLE_KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", "))
            }
            Self::BadValue { key, .. } => format!("use {}", key.wanted()),
            Self::BadName { .. } => "use up to 40 letters, digits, `-` and `_`, a letter first".into(),
            Self::NotAModel { role } => format!("name the model: consort roles set {role} model <model>"),
            Self::NoVariable { role, variable } => {
                format!("set {variable}, or name the model: consort roles set {role} model <model>")
            }
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_place_in_a_role() {
        for key in ROLE_KEYS {
            let typed = match key.kind {
                RoleValueKind::Text | RoleValueKind::Model => "some-text",
                RoleValueKind::Choice(choices) => choices[0],
                RoleValueKind::Flag => "true",
                RoleValueKind::Number { .. } => "7",
                RoleValueKind::Dollars => "0.25",
                RoleValueKind::Words => "one, two",
            };
            let (mut role, before) = (Role::default(), Role::default());
            role.set(key, key.typed(typed).unwrap());
            let is_default = [("isolation", "none")].contains(&(key.name, typed));
            assert_eq!(role == before, is_default, "{}", key.name);
        }
    }

    #[test]
    fn values_are_checked_as_they_are_typed() {
        for (key, typed, is_fit) in [
            ("model", "opus", true),
            ("model", "${MY_MODEL}", true),
            ("model", "anthropic/${A}-${B}", true),
            ("model", "${MY MODEL}", false),
            ("model", "${", false),
            ("model", "${}", false),
            ("model", "--dangerously-skip-permissions", false),
            ("model", "two words", false),
            ("model", "a\u{1b}[2J", false),
            ("model", "", false),
            ("safety", "full-auto", true),
            ("safety", "yolo", false),
            ("read_only", "yes", false),
            ("max_turns", "0", false),
            ("max_turns", "-1", false),
            ("retry", "0", true),
            ("budget_usd", "0", false),
            ("budget_usd", "0.5", true),
            ("budget_usd", "NaN", false),
            ("budget_usd", "inf", false),
            ("tools", "read, grep", true),
            ("tools", "-x", false),
        ] {
            let read = role_key(key).unwrap().typed(typed);
            assert_eq!(read.is_ok(), is_fit, "{key} = {typed}: {read:?}");
        }
        assert!(matches!(role_key("modle"), Err(RoleError::UnknownKey { nearest: Some("model"), .. })));
    }

    #[test]
    fn names_are_plain_words() {
        for (name, is_fit) in [
            ("dev", true),
            ("plan-reviewer", true),
            ("", false),
            ("-x", false),
            ("a/b", false),
            ("a b", false),
            ("ü", false),
        ] {
            assert_eq!(check_role_name(name).is_ok(), is_fit, "{name}");
        }
        assert!(check_role_name(&"x".repeat(41)).is_err());
    }
}
