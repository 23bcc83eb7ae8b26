//! Data of the configuration room: layers, settings with their source, and the settings
//! that hooks get.

use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

use super::Key;
use super::ValueKind;
use crate::explain::Explain;
use crate::explain::Kind;

/// Where a value came from, nearest first.
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

/// That the person has accepted a value which loosens protection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// Empty for the user's own file, else the worktree.
    pub scope: String,
    pub key: String,
    pub value: String,
}

impl Acceptance {
    /// Of a value in a file; nothing else can be accepted.
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

/// A key, its value, and where that came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    pub key: &'static str,
    #[serde(serialize_with = "typed")]
    pub value: String,
    pub source: SettingSource,
}

/// Flags and numbers as what they are, the rest as text.
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
    /// What every tier says, nearest first, also where another one wins.
    pub accepted: Vec<Setting>,
    /// Keys and values that were passed over, and why.
    pub warnings: Vec<(SettingSource, ConfigError)>,
}

impl Config {
    /// Every key has a value: the default layer is complete (tested).
    pub fn get(&self, key: &str) -> &str {
        self.settings.iter().find(|setting| setting.key == key).map_or("", |setting| &setting.value)
    }

    /// How long a file that was edited is its editor's, in milliseconds.
    pub fn auto_claims_last(&self) -> i64 {
        self.get("claims.auto_minutes").parse().unwrap_or(10) * crate::Timestamp::MINUTE
    }

    /// Whether the project's file of knowledge follows whatever is recorded.
    pub fn saves_knowledge(&self) -> bool {
        self.get("knowledge.save") == "true"
    }

    /// Whether commands of sessions are kept.
    pub fn stores_commands(&self) -> bool {
        self.get("privacy.store_commands") == "true"
    }

    /// How long entries and messages are kept.
    pub fn retention(&self) -> Retention {
        let days = |key| self.get(key).parse().unwrap_or(30);
        Retention {
            journal_days: days("journal.retention_days"),
            message_days: days("messages.retention_days"),
        }
    }
}

/// How long things are kept that nothing depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub journal_days: u32,
    pub message_days: u32,
}

/// What hooks need to know.
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
    /// The same in another worktree than the holder's.
    pub worktrees: Enforcement,
    /// Whether reservations are read-only for commands that may write anything.
    pub shield: ShieldMode,
    pub contest_seconds: i64,
    pub auto_claim_minutes: i64,
    pub convergence: bool,
    pub convergence_files: bool,
    pub digest_tokens: usize,
    pub store_prompts: bool,
}

/// What becomes of a write to what another agent has reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    Block,
    Warn,
    Off,
}

impl Enforcement {
    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Block, Self::Warn, Self::Off].into_iter().find(|one| one.as_str() == name)
    }

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Off => "off",
        }
    }
}

/// How commands come to run behind the shield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShieldMode {
    /// Where the CLI runs its commands through us.
    Auto,
    Off,
    /// Also where a hook has to put another command in the place of one.
    Rewrite,
}

impl ShieldMode {
    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Auto, Self::Off, Self::Rewrite].into_iter().find(|one| one.as_str() == name)
    }

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Rewrite => "rewrite",
        }
    }
}

/// How much a session that starts is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextMode {
    Full,
    Minimal,
    None,
}

/// What is wrong with a setting.
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
    fn kind(&self) -> Kind {
        Kind::User
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
