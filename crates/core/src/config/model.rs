//! Data of the configuration room: layers, settings with their source, and the settings
//! that hooks get.

use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

use super::Key;
use super::ValueKind;
use crate::explain::ErrorKind;
use crate::explain::Explain;

/// The tier that a value came from, nearest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    Flag,
    Environment(String),
    Project(PathBuf),
    User(PathBuf),
    Default,
}

impl std::fmt::Display for SettingSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag => f.write_str("--set"),
            Self::Environment(variable) => write!(f, "${variable}"),
            Self::Project(path) | Self::User(path) => path.display().fmt(f),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One tier: raw values by dotted key.
#[derive(Clone, Debug)]
pub struct Layer {
    pub source: SettingSource,
    pub values: Vec<(String, String)>,
}

/// The person's acceptance of a value that loosens protection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// The worktree whose file has the value; empty for the user's own file.
    pub scope: String,
    pub key: String,
    pub value: String,
}

impl Acceptance {
    /// Makes the acceptance of a value in a file; values from elsewhere cannot be accepted.
    pub fn new(source: &SettingSource, key: &str, value: &str) -> Option<Self> {
        let scope = match source {
            SettingSource::User(_) => String::new(),
            SettingSource::Project(file) => file.parent()?.parent()?.to_string_lossy().into_owned(),
            SettingSource::Flag | SettingSource::Environment(_) | SettingSource::Default => return None,
        };
        Some(Self { scope, key: key.to_owned(), value: value.to_owned() })
    }

    pub(super) fn is_of(&self, source: &SettingSource, key: &str, value: &str) -> bool {
        Self::new(source, key, value).as_ref() == Some(self)
    }
}

/// A key, its value, and the tier that the value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    pub key: &'static str,
    #[serde(serialize_with = "typed")]
    pub value: String,
    pub source: SettingSource,
}

/// Serialises flags and numbers as such, the rest as text.
fn typed<S: serde::Serializer>(value: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match (value.parse::<bool>(), value.parse::<i64>()) {
        (Ok(flag), _) => serializer.serialize_bool(flag),
        (_, Ok(number)) => serializer.serialize_i64(number),
        _ => serializer.serialize_str(value),
    }
}

/// All settings, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    pub settings: Vec<Setting>,
    /// The valid values of every tier, nearest first, also where another tier wins.
    pub accepted: Vec<Setting>,
    /// Keys and values that were ignored, and why.
    pub warnings: Vec<(SettingSource, ConfigError)>,
}

impl Config {
    /// Returns the value of a key. Every key has one: the default layer is complete (tested).
    pub fn get(&self, key: &str) -> &str {
        self.settings.iter().find(|setting| setting.key == key).map_or("", |setting| &setting.value)
    }

    /// Returns how long others are told that an agent has edited a file, in milliseconds.
    pub fn auto_claim_duration(&self) -> i64 {
        self.get("claims.auto_minutes").parse().unwrap_or(10) * crate::Timestamp::MINUTE
    }

    /// Tells whether the project's knowledge file is written whenever knowledge is recorded.
    pub fn saves_knowledge(&self) -> bool {
        self.get("knowledge.save") == "true"
    }

    /// Tells whether the commands of sessions are kept.
    pub fn stores_commands(&self) -> bool {
        self.get("privacy.store_commands") == "true"
    }

    /// Returns how long entries and messages are kept.
    pub fn retention(&self) -> Retention {
        let days = |key| self.get(key).parse().unwrap_or(30);
        Retention {
            journal_days: days("journal.retention_days"),
            message_days: days("messages.retention_days"),
        }
    }
}

/// The days for which entries and messages are kept that nothing depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub journal_days: u32,
    pub message_days: u32,
}

/// The settings that hooks need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookSettings {
    pub auto_register: bool,
    pub context: ContextMode,
    pub registration: bool,
    pub reply_hint: bool,
    pub sender_details: bool,
    pub wake_idle: bool,
    pub stale_reads: bool,
    pub enforcement: Enforcement,
    /// Enforcement in another worktree than the holder's.
    pub worktrees: Enforcement,
    /// The cases in which commands that may write anything run with others' reservations read-only.
    pub shield: ShieldMode,
    pub contest_seconds: i64,
    pub auto_claim_minutes: i64,
    pub convergence: bool,
    pub convergence_files: bool,
    pub digest_tokens: usize,
    pub store_prompts: bool,
}

/// The treatment of a write to a path that another agent has reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    Block,
    Warn,
    Off,
}

impl Enforcement {
    /// Finds the value with that name in settings.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Block, Self::Warn, Self::Off].into_iter().find(|one| one.as_str() == name)
    }

    /// Returns its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Off => "off",
        }
    }
}

/// The cases in which commands run behind the shield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShieldMode {
    /// In CLIs that run their commands through `consort shield`.
    Auto,
    Off,
    /// Also in CLIs where a hook has to rewrite the command.
    Rewrite,
}

impl ShieldMode {
    /// Finds the value with that name in settings.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Auto, Self::Off, Self::Rewrite].into_iter().find(|one| one.as_str() == name)
    }

    /// Returns its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Rewrite => "rewrite",
        }
    }
}

/// The amount of context that a session is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextMode {
    Full,
    Minimal,
    None,
}

/// An error in a setting.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("unknown key `{key}`")]
    UnknownKey { key: String, nearest: Option<&'static str> },
    #[error("`{value}` is not a value for `{}`", key.name)]
    BadValue { key: &'static Key, value: String },
    #[error("`{} = {value}` loosens protection and was not accepted; the stricter value counts", key.name)]
    Loosens { key: &'static Key, value: String, from: SettingSource },
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

impl Explain for ConfigError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::User
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::Loosens { from: SettingSource::User(_) | SettingSource::Project(_), .. } => {
                "`consort config accept` shows it and accepts it".into()
            }
            Self::Loosens { .. } => "`consort config set` changes it".into(),
            Self::UnknownKey { nearest: None, .. } => "`consort config list` shows every key".into(),
            Self::BadValue { key, .. } => match key.kind {
                ValueKind::Flag => "use `true` or `false`".into(),
                ValueKind::Number { least, most } => format!("use a number from {least} to {most}"),
                ValueKind::Choice(choices) => format!("use one of: {}", choices.join(", ")),
                ValueKind::Words => "use words".into(),
                ValueKind::Hours => "use `22:00-07:00`".into(),
                ValueKind::Dollars => "use an amount in dollars: `2.5`".into(),
                ValueKind::Rules => "use `Bash(git push*); Edit(.env)`".into(),
                ValueKind::Domains => "use `domain: topic topic; domain: topic`".into(),
            },
        }]
    }
}
