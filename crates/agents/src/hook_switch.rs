//! The settings, of every tier, that keep an agent CLI from running hooks.

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use toml_edit::Document;

use crate::json_settings::parse;

/// A settings file that may switch hooks off.
pub struct HookSwitch {
    pub file: PathBuf,
    /// Returns the key that switches hooks off in the text of the file, if it has one.
    pub found: fn(&str) -> Option<&'static str>,
}

/// Makes a hook switch for each of these files, all of which have the same keys.
pub(crate) fn switches(
    files: impl IntoIterator<Item = PathBuf>,
    found: fn(&str) -> Option<&'static str>,
) -> Vec<HookSwitch> {
    files.into_iter().map(|file| HookSwitch { file, found }).collect()
}

/// Returns the administrator's settings file for this operating system.
pub(crate) fn of_system(linux: &str, macos: &str) -> PathBuf {
    Path::new(if cfg!(target_os = "macos") { macos } else { linux }).to_owned()
}

/// Returns the value at a path of keys in the text of a JSON file.
pub(crate) fn json_at(text: &str, names: &[&str]) -> Option<Value> {
    let root = parse(text.trim_start_matches('\u{feff}')).ok()?.to_serde_value()?;
    names.iter().try_fold(root, |value, name| value.get(name).cloned())
}

/// Returns the name of a flag if the text of a JSON file sets it to true.
pub(crate) fn flag_if_true(text: &str, name: &'static str) -> Option<&'static str> {
    (json_at(text, &[name])? == true).then_some(name)
}

/// Returns the value of a flag in the text of a TOML file, in a table or at the top.
pub(crate) fn toml_flag(text: &str, table: Option<&str>, name: &str) -> Option<bool> {
    let document = Document::parse(text).ok()?;
    let root = document.as_item();
    let item = table.map_or(Some(root), |table| root.get(table))?;
    item.get(name)?.as_bool()
}
