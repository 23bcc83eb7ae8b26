//! Pure rules of configuration: which layer wins, and which values are valid.

use std::cmp::Ordering;

use super::Acceptance;
use super::Config;
use super::ConfigError;
use super::ContextMode;
use super::Enforcement;
use super::HookSettings;
use super::KEYS;
use super::Key;
use super::Layer;
use super::Setting;
use super::ShieldMode;
use super::ValueKind;
use crate::convergence::Domains;
use crate::dispatch::Safety;
use crate::notices::parse_quiet_hours;
use crate::policy::RuleEffect;
use crate::policy::read_rules;
use crate::text;

/// Resolves the layers. Unknown keys and invalid values are ignored with a warning, so a mistake
/// in one file never stops a command. So is **a value that loosens protection and was not
/// accepted by the person**: the stricter value counts.
pub fn resolve(mut layers: Vec<Layer>, acceptances: &[Acceptance]) -> Config {
    // The farthest layer first: nearer values are compared with it.
    layers.sort_by(|a, b| b.source.cmp(&a.source));
    let mut warnings = Vec::new();
    let mut accepted: Vec<Setting> = Vec::new();
    for layer in layers {
        // Of two values for a key in one layer the first counts.
        for (name, value) in layer.values.into_iter().rev() {
            // A test checks the defaults, so commands do not.
            let checked = key(&name).and_then(|key| match layer.source {
                super::SettingSource::Default => Ok((key, value)),
                _ => Ok((key, key.check(&value)?)),
            });
            match checked.and_then(|(key, value)| {
                let is_cut_by_project = |setting: &Setting| {
                    key.name.starts_with("budget.")
                        && matches!(setting.source, super::SettingSource::Project(_))
                };
                // What the person may spend does not depend on what a project would rather spend.
                let of_key = accepted.iter().rev().filter(|setting| setting.key == key.name);
                let now =
                    of_key.clone().find(|setting| !is_cut_by_project(setting)).or(of_key.clone().next());
                // A project's file is always compared: only the person decides what acts on their
                // behalf, and how they are notified.
                let is_compared =
                    is_protected(key.name) || matches!(layer.source, super::SettingSource::Project(_));
                let order =
                    now.map(|now| strictness(key.name, &value).cmp(&strictness(key.name, &now.value)));
                // A smaller budget is anyone's to set. What is stricter elsewhere may be a command.
                let is_cut = key.name.starts_with("budget.") && order == Some(Ordering::Greater);
                let is_other = is_the_persons_own(key.name) && now.is_some_and(|now| now.value != value);
                let is_looser = is_compared && (order == Some(Ordering::Less) || is_other && !is_cut);
                let is_accepted = acceptances.iter().any(|one| one.is_of(&layer.source, key.name, &value));
                match is_looser && !is_accepted {
                    true => Err(ConfigError::Loosens { key, value, from: layer.source.clone() }),
                    false => Ok(Setting { key: key.name, value, source: layer.source.clone() }),
                }
            }) {
                Ok(setting) => accepted.push(setting),
                Err(error) => warnings.push((layer.source.clone(), error)),
            }
        }
    }
    accepted.reverse();
    warnings.reverse();
    let winner = |key: &Key| accepted.iter().find(|setting| setting.key == key.name).cloned();
    let settings = KEYS.iter().filter_map(winner).collect();
    Config { settings, accepted, warnings }
}

/// Tells whether a change of this key's value needs the person's acceptance, even if it loosens nothing.
fn is_the_persons_own(key: &str) -> bool {
    ["notify.", "dispatch.", "budget."].iter().any(|room| key.starts_with(room))
}

/// Tells whether a key guards reservations, privacy or policy, or limits what runs may do and cost.
pub fn is_protected(key: &str) -> bool {
    ["claims.", "privacy.", "policy.", "dispatch.", "budget."].iter().any(|room| key.starts_with(room))
}

impl Config {
    /// Tells whether a value would protect less than the accepted value of any tier, the default
    /// included.
    pub fn is_loosened_by(&self, key: &str, value: &str) -> bool {
        let is_stricter = |setting: &Setting| {
            strictness(key, &setting.value) > strictness(key, value)
                || !has_all_rules(key, value, &setting.value)
        };
        is_protected(key) && self.accepted.iter().filter(|setting| setting.key == key).any(is_stricter)
    }
}

/// Tells whether `value` has every rule of `other`; settings without rules always do.
fn has_all_rules(key: &str, value: &str, other: &str) -> bool {
    let rules = |value: &str| match key.starts_with("policy.") {
        true => read_rules(RuleEffect::Deny, value).unwrap_or_default(),
        false => Vec::new(),
    };
    let all = rules(value);
    rules(other).iter().all(|rule| all.contains(rule))
}

/// Rates how strict a value is; all values of a key without an order rate the same.
fn strictness(key: &str, value: &str) -> i64 {
    match (key, value) {
        ("claims.enforcement" | "claims.worktrees", "block") => 2,
        ("claims.enforcement" | "claims.worktrees", "warn") => 1,
        ("claims.shield", value) => i64::from(value != "off"),
        // Longer is stricter.
        ("claims.contest_seconds" | "claims.auto_minutes", number) => number.parse().unwrap_or(0),
        ("privacy.store_prompts" | "privacy.store_commands", value) => i64::from(flag(value) == Some(false)),
        (
            "messages.type_into_panes"
            | "monitor.nudge"
            | "monitor.accept_suggestions"
            | "monitor.continue_after_limit",
            value,
        ) => i64::from(flag(value) == Some(false)),
        ("dispatch.safety" | "dispatch.agents", value) => {
            Safety::named(value).map_or(0, |safety| -(safety as i64))
        }
        ("dispatch.depth", number) => -number.parse().unwrap_or(0),
        ("dispatch.gate", command) => i64::from(!command.is_empty()),
        // Less is stricter, and 0 is no limit at all.
        ("budget.run" | "budget.day" | "budget.project", dollars) => match dollars.parse::<f64>() {
            Ok(dollars) if dollars > 0.0 => -((dollars * 1e6) as i64),
            _ => i64::MIN,
        },
        _ => 0,
    }
}

/// Finds the key with that name.
pub fn key(name: &str) -> Result<&'static Key, ConfigError> {
    KEYS.iter().find(|key| key.name == name).ok_or_else(|| ConfigError::UnknownKey {
        key: name.to_owned(),
        nearest: text::nearest(name, KEYS.iter().map(|key| key.name)),
    })
}

/// Returns the environment variable of a key: `context.mode` → `CONSORT_CONTEXT_MODE`.
pub fn environment_name(key: &str) -> String {
    let mut name = String::with_capacity("CONSORT_".len() + key.len());
    name.push_str("CONSORT");
    key.split('.').for_each(|part| name.extend(["_", part]));
    name.make_ascii_uppercase();
    name
}

impl Key {
    /// Checks a value of this key, and returns it in its one spelling.
    pub fn check(&'static self, value: &str) -> Result<String, ConfigError> {
        let bad = || ConfigError::BadValue { key: self, value: value.to_owned() };
        match self.kind {
            ValueKind::Flag => flag(value).map(|flag| flag.to_string()).ok_or_else(bad),
            ValueKind::Number { least, most } => value
                .parse::<i64>()
                .ok()
                .filter(|number| (least..=most).contains(number))
                .map(|number| number.to_string())
                .ok_or_else(bad),
            ValueKind::Choice(choices) => choices
                .iter()
                .find(|choice| **choice == value)
                .map(|choice| (*choice).to_owned())
                .ok_or_else(bad),
            ValueKind::Words => Ok(value.trim().to_owned()),
            ValueKind::Hours if value.trim().is_empty() => Ok(String::new()),
            ValueKind::Hours => parse_quiet_hours(value).map(|_| value.trim().to_owned()).ok_or_else(bad),
            ValueKind::Dollars => value
                .parse::<f64>()
                .ok()
                .filter(|dollars| (0.0..=1e6).contains(dollars))
                .map(|dollars| dollars.to_string())
                .ok_or_else(bad),
            ValueKind::Rules => {
                read_rules(RuleEffect::Deny, value).map(|_| value.trim().to_owned()).map_err(|_| bad())
            }
            ValueKind::Domains => Domains::parse(value).map(|_| value.trim().to_owned()).map_err(|_| bad()),
        }
    }
}

impl HookSettings {
    /// The settings where nothing is set.
    pub const DEFAULT: Self = Self {
        auto_register: true,
        context: ContextMode::Full,
        registration: true,
        reply_hint: true,
        sender_details: true,
        wake_idle: true,
        stale_reads: true,
        enforcement: Enforcement::Block,
        worktrees: Enforcement::Warn,
        shield: ShieldMode::Auto,
        contest_seconds: 120,
        auto_claim_minutes: 10,
        convergence: true,
        convergence_files: true,
        digest_tokens: 400,
        store_prompts: true,
    };

    /// Makes the settings for a hook from published values, then the environment's.
    pub(crate) fn from_published(
        published: &[(String, String)],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut settings = Self::DEFAULT;
        for (key, value) in published {
            settings.set(key, value);
        }
        for key in KEYS.iter().filter(|key| key.for_hooks) {
            if let Some(value) = environment(&environment_name(key.name)) {
                settings.set_from_environment(key.name, &value);
            }
        }
        settings
    }

    /// Tells whether messages come with a hint how to reply.
    pub fn hints_at_replies(&self) -> bool {
        self.context != ContextMode::None && self.reply_hint
    }

    /// Tells whether a session hears of agents that come and go.
    pub fn tells_arrivals(&self) -> bool {
        match self.context {
            ContextMode::Full => self.registration,
            ContextMode::Minimal => true,
            ContextMode::None => false,
        }
    }

    /// Tells whether a sender is introduced when it first writes.
    pub fn introduces_senders(&self) -> bool {
        self.context == ContextMode::Full && self.sender_details
    }

    /// Tells whether a session hears that a file it has read was changed.
    pub fn tells_stale_reads(&self) -> bool {
        self.context != ContextMode::None && self.stale_reads
    }

    /// Sets a key from the environment of an agent, which cannot loosen protection.
    pub fn set_from_environment(&mut self, key: &str, value: &str) {
        let now = match key {
            "claims.enforcement" => self.enforcement.as_str().to_owned(),
            "claims.worktrees" => self.worktrees.as_str().to_owned(),
            "claims.shield" => self.shield.as_str().to_owned(),
            "claims.contest_seconds" => self.contest_seconds.to_string(),
            "claims.auto_minutes" => self.auto_claim_minutes.to_string(),
            "privacy.store_prompts" => self.store_prompts.to_string(),
            _ => return self.set(key, value),
        };
        if strictness(key, value) >= strictness(key, &now) {
            self.set(key, value);
        }
    }

    /// Sets a key; an unknown key or an invalid value changes nothing.
    pub fn set(&mut self, key: &str, value: &str) {
        match key {
            "presence.auto_register" => self.auto_register = flag(value).unwrap_or(self.auto_register),
            "context.reply_hint" => self.reply_hint = flag(value).unwrap_or(self.reply_hint),
            "context.sender_details" => self.sender_details = flag(value).unwrap_or(self.sender_details),
            "messages.wake_idle" => self.wake_idle = flag(value).unwrap_or(self.wake_idle),
            "context.stale_reads" => self.stale_reads = flag(value).unwrap_or(self.stale_reads),
            "convergence.enabled" => self.convergence = flag(value).unwrap_or(self.convergence),
            "convergence.files" => self.convergence_files = flag(value).unwrap_or(self.convergence_files),
            "privacy.store_prompts" => self.store_prompts = flag(value).unwrap_or(self.store_prompts),
            "knowledge.digest_tokens" => self.digest_tokens = value.parse().unwrap_or(self.digest_tokens),
            "claims.contest_seconds" => {
                self.contest_seconds = value.parse().unwrap_or(self.contest_seconds);
            }
            "claims.auto_minutes" => {
                self.auto_claim_minutes = value.parse().unwrap_or(self.auto_claim_minutes);
            }
            "claims.enforcement" => self.enforcement = Enforcement::named(value).unwrap_or(self.enforcement),
            "claims.worktrees" => self.worktrees = Enforcement::named(value).unwrap_or(self.worktrees),
            "claims.shield" => self.shield = ShieldMode::named(value).unwrap_or(self.shield),
            "context.registration" => self.registration = flag(value).unwrap_or(self.registration),
            "context.mode" => {
                self.context = match value {
                    "full" => ContextMode::Full,
                    "minimal" => ContextMode::Minimal,
                    "none" => ContextMode::None,
                    _ => self.context,
                }
            }
            _ => {}
        }
    }
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "true" | "1" | "on" | "yes" => Some(true),
        "false" | "0" | "off" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::SettingSource;
    use super::*;

    fn layer(source: SettingSource, values: &[(&str, &str)]) -> Layer {
        let values = values.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Layer { source, values }
    }

    #[test]
    fn every_default_is_a_value() {
        for key in KEYS {
            assert_eq!(key.check(key.default).as_deref(), Ok(key.default), "{}", key.name);
        }
    }

    #[test]
    fn the_nearest_tier_wins_and_says_so() {
        let config = resolve(
            vec![
                layer(SettingSource::Default, &[("context.mode", "full"), ("journal.retention_days", "30")]),
                layer(SettingSource::User("/u".into()), &[("context.mode", "minimal")]),
                layer(SettingSource::Environment("CONSORT_CONTEXT_MODE".into()), &[("context.mode", "none")]),
                layer(SettingSource::Project("/p".into()), &[("context.mode", "full")]),
            ],
            &[],
        );
        assert_eq!(config.get("context.mode"), "none");
        let mode = config.settings.iter().find(|setting| setting.key == "context.mode").unwrap();
        assert_eq!(mode.source, SettingSource::Environment("CONSORT_CONTEXT_MODE".into()));
        assert_eq!(config.retention().journal_days, 30);
    }

    #[test]
    fn mistakes_are_passed_over_with_a_hint() {
        let config = resolve(
            vec![
                layer(
                    SettingSource::User("/u".into()),
                    &[("context.mood", "full"), ("context.mode", "loud")],
                ),
                layer(SettingSource::Default, &[("context.mode", "full")]),
            ],
            &[],
        );
        assert_eq!(config.get("context.mode"), "full");
        let hints: Vec<_> =
            config.warnings.iter().flat_map(|(_, warning)| crate::explain::Explain::hints(warning)).collect();
        assert_eq!(hints, ["did you mean `context.mode`?", "use one of: full, minimal, none"]);
    }

    #[test]
    fn what_loosens_protection_has_to_be_accepted() {
        let project = || SettingSource::Project("/shop/.consort/config.toml".into());
        let resolved = |enforcement: &str, acceptances: &[Acceptance]| {
            let layers = vec![
                layer(
                    SettingSource::Default,
                    &[("claims.enforcement", "block"), ("privacy.store_prompts", "true")],
                ),
                layer(SettingSource::User("/u".into()), &[("privacy.store_prompts", "false")]),
                layer(project(), &[("claims.enforcement", enforcement), ("privacy.store_prompts", "true")]),
            ];
            resolve(layers, acceptances)
        };
        let config = resolved("off", &[]);
        assert_eq!(
            (config.get("claims.enforcement"), config.get("privacy.store_prompts")),
            ("block", "false")
        );
        assert_eq!(config.warnings.len(), 2);
        let accept = |value: &str| Acceptance::new(&project(), "claims.enforcement", value).unwrap();
        assert_eq!(resolved("off", &[accept("off")]).get("claims.enforcement"), "off");
        assert_eq!(resolved("off", &[accept("warn")]).get("claims.enforcement"), "block");
        let mut settings = HookSettings::DEFAULT;
        settings.set_from_environment("claims.enforcement", "off");
        settings.set_from_environment("claims.contest_seconds", "1");
        settings.set_from_environment("privacy.store_prompts", "false");
        assert_eq!(settings, HookSettings { store_prompts: false, ..HookSettings::DEFAULT });
    }

    #[test]
    fn only_what_protects_less_loosens() {
        let key = "claims.enforcement";
        let user = || SettingSource::User("/u".into());
        let with = |value: &str| {
            let layers = vec![
                layer(SettingSource::Default, &[(key, "block"), ("claims.contest_seconds", "120")]),
                layer(user(), &[(key, value), ("claims.contest_seconds", "600")]),
            ];
            resolve(layers, &[Acceptance::new(&user(), key, value).unwrap()])
        };
        for now in ["block", "off"] {
            assert!(!with(now).is_loosened_by(key, "block"), "back to the default from {now}");
            assert!(with(now).is_loosened_by(key, "warn"), "{now}");
        }
        assert!(with("off").is_loosened_by("claims.contest_seconds", "120"), "less than now");
        assert!(!with("off").is_loosened_by("claims.contest_seconds", "900"));
        assert!(!with("off").is_loosened_by("context.mode", "none"), "it protects nobody");
    }

    #[test]
    fn a_repository_has_nothing_typed() {
        let key = "messages.type_into_panes";
        let project = || SettingSource::Project("/shop/.consort/config.toml".into());
        let resolved = |source: SettingSource, acceptances: &[Acceptance]| {
            let layers =
                vec![layer(SettingSource::Default, &[(key, "false")]), layer(source, &[(key, "true")])];
            resolve(layers, acceptances).get(key).to_owned()
        };
        assert_eq!(resolved(project(), &[]), "false");
        assert_eq!(resolved(project(), &[Acceptance::new(&project(), key, "true").unwrap()]), "true");
        assert_eq!(resolved(SettingSource::User("/u".into()), &[]), "true");
    }

    #[test]
    fn hooks_know_every_key_published_for_them() {
        for key in KEYS.iter().filter(|key| key.for_hooks) {
            let unlike = |settings: HookSettings| settings != HookSettings::DEFAULT;
            let mut settings = HookSettings::DEFAULT;
            let other = match key.kind {
                ValueKind::Flag => "false",
                ValueKind::Choice(choices) => choices[choices.len() - 1],
                ValueKind::Number { .. } => "7",
                // Hooks read these where they need them, not from `HookSettings`.
                ValueKind::Words
                | ValueKind::Domains
                | ValueKind::Rules
                | ValueKind::Hours
                | ValueKind::Dollars => continue,
            };
            settings.set(key.name, other);
            assert!(unlike(settings), "{} is published but hooks do not read it", key.name);
        }
    }
}
