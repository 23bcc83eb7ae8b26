//! The configuration room: the settings that the person has chosen.
//!
//! Five tiers, nearest first: flags, environment, the project's file, the user's file, the
//! defaults. Every value knows its source. The few values that hooks need are *published* into
//! the store, where a hook reads them without parsing a file.
//!
//! **Every key is declared once, with its default, in [`KEYS`].**

mod keys;
mod model;
mod ops;
mod rules;
mod store;

pub use keys::KEYS;
pub use keys::Key;
pub use keys::ValueKind;
pub use model::Acceptance;
pub use model::Config;
pub use model::ConfigError;
pub use model::ContextMode;
pub use model::Enforcement;
pub use model::HookSettings;
pub use model::Layer;
pub use model::Retention;
pub use model::Setting;
pub use model::SettingSource;
pub use model::ShieldMode;
pub(crate) use ops::hook_settings;
pub use rules::environment_name;
pub use rules::is_protected;
pub use rules::key;
pub use rules::resolve;
pub use store::ConfigStore;
