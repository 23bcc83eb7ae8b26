//! Reads the configuration files into layers, and changes one of their values in place.

use std::path::Path;
use std::path::PathBuf;

use consort_core::App;
use consort_core::config;
use consort_core::config::Acceptance;
use consort_core::config::Config;
use consort_core::config::KEYS;
use consort_core::config::Layer;
use consort_core::config::SettingSource;
use consort_core::explain::Explain as _;
use consort_core::text;
use consort_host::Paths;
use consort_host::env;
use toml_edit::DocumentMut;
use toml_edit::Item;
use toml_edit::TableLike;

use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::world::World;

/// The resolved settings, with warnings about the files they came from.
pub(crate) struct Loaded {
    pub(crate) resolved: Config,
    pub(crate) warnings: Vec<Warning>,
    /// Whether a file could not be read or parsed, so that its settings are missing.
    pub(crate) is_partial: bool,
}

/// A problem with a setting or a file, and the file it is in.
pub(crate) struct Warning {
    pub(crate) file: Option<PathBuf>,
    pub(crate) text: String,
}

impl Warning {
    fn new(file: Option<PathBuf>, text: &str) -> Self {
        Self { file, text: text::one_line(text, 500) }
    }
}

/// Tells whether a value protects less than the current value or the default. If that cannot be told, the
/// value counts as loosening.
pub(crate) fn loosens(world: &World, app: &mut App, key: &str, value: &str) -> bool {
    let acceptances = app.acceptances().unwrap_or_default();
    let loaded = load(&world.paths, &world.place().worktree, &[], &acceptances);
    config::is_protected(key)
        && loaded.map_or(true, |loaded| loaded.is_partial || loaded.resolved.is_loosened_by(key, value))
}

/// Returns the path of a project's settings file.
pub(crate) fn project_file(worktree: &Path) -> PathBuf {
    worktree.join(".consort/config.toml")
}

/// Resolves all tiers of settings. A file that cannot be read counts as absent, with a warning: a typo must
/// not stop an agent. A flag that is wrong is an error.
pub(crate) fn load(
    paths: &Paths,
    worktree: &Path,
    overrides: &[(String, String)],
    acceptances: &[Acceptance],
) -> Result<Loaded, CommandError> {
    for (name, value) in overrides {
        config::key(name)?.check(value)?;
    }
    let mut warnings = Vec::new();
    // The last of two flags wins.
    let overrides = overrides.iter().rev().cloned().collect();
    let defaults = KEYS.iter().map(|key| (key.name.to_owned(), key.default.to_owned())).collect();
    let mut layers = vec![
        Layer { source: SettingSource::Flag, values: overrides },
        Layer { source: SettingSource::Default, values: defaults },
    ];
    for key in KEYS {
        let variable = config::environment_name(key.name);
        if let Some(value) = env::get(&variable) {
            let values = vec![(key.name.to_owned(), value)];
            layers.push(Layer { source: SettingSource::Environment(variable), values });
        }
    }
    let (project, user) = (project_file(worktree), paths.user_config());
    let mut files = vec![(SettingSource::User(user.clone()), TheirFile::OfUser(user.clone()))];
    // In the home directory both may be one file; then it counts as the user's.
    if project != user {
        files.push((SettingSource::Project(project.clone()), TheirFile::in_repository(worktree, &project)));
    }
    for (source, file) in files {
        let path = file.path();
        let text = match file.read() {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                warnings.push(Warning::new(Some(path), &format!("ignored: {}", error.in_a_line())));
                continue;
            }
        };
        match flatten(&text) {
            Ok(values) => layers.push(Layer { source, values }),
            Err(error) => {
                let text = format!("{} is ignored: {}", path.display(), one_line(&error));
                warnings.push(Warning::new(Some(path), &text));
            }
        }
    }
    let is_partial = !warnings.is_empty();
    let resolved = config::resolve(layers, acceptances);
    warnings.extend(resolved.warnings.iter().map(|(source, warning)| {
        let hint = warning.hints().into_iter().next().unwrap_or_default();
        let file = match source {
            SettingSource::User(file) | SettingSource::Project(file) => Some(file.clone()),
            SettingSource::Flag | SettingSource::Environment(_) | SettingSource::Default => None,
        };
        Warning::new(file, &format!("{source}: {warning} ({hint})"))
    }));
    Ok(Loaded { resolved, warnings, is_partial })
}

/// Returns the file's text with one value changed and everything else as it was.
pub(crate) fn with_value(text: &str, key: &str, value: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let value = value.parse::<toml_edit::Value>().unwrap_or_else(|_| value.into());
    let (section, key) = key.split_once('.').unwrap_or(("", key));
    let entry = document.entry(section).or_insert_with(toml_edit::table);
    let table = entry.as_table_like_mut().ok_or_else(|| format!("`{section}` is not a table"))?;
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(key, Item::Value(value))),
    }
    Ok(document.to_string())
}

/// Returns the file's text without one value and with everything else as it was; `None` if the value is not
/// in it.
pub(crate) fn without_value(text: &str, key: &str) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let (section, key) = key.split_once('.').unwrap_or(("", key));
    let table = document.get_mut(section).and_then(Item::as_table_like_mut);
    Ok(table.and_then(|table| table.remove(key)).map(|_| document.to_string()))
}

/// Parses TOML into dotted keys with their values as text.
fn flatten(text: &str) -> Result<Vec<(String, String)>, toml_edit::TomlError> {
    fn walk(prefix: &str, table: &dyn TableLike, values: &mut Vec<(String, String)>) {
        for (key, item) in table.iter() {
            let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
            match item {
                Item::Value(value) => {
                    let text =
                        value.as_str().map_or_else(|| value.to_string().trim().to_owned(), str::to_owned);
                    match value.as_inline_table() {
                        Some(table) => walk(&name, table, values),
                        None => values.push((name, text)),
                    }
                }
                Item::Table(table) => walk(&name, table, values),
                Item::ArrayOfTables(_) => values.push((name, "[[…]]".into())),
                Item::None => {}
            }
        }
    }
    let document: DocumentMut = text.parse()?;
    let mut values = Vec::new();
    walk("", document.as_table(), &mut values);
    Ok(values)
}

/// Returns the place and message of a parse error, without its drawing:
/// `TOML parse error at line 2, column 3: …`.
fn one_line(error: &toml_edit::TomlError) -> String {
    let text = error.to_string();
    let place = text.lines().next().unwrap_or_default();
    format!("{place}: {}", error.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_changed_in_place() {
        let text = "# mine\n[context]\nmode = \"full\" # keep\n";
        let changed = with_value(text, "context.mode", "none").unwrap();
        assert_eq!(changed, "# mine\n[context]\nmode = \"none\" # keep\n");
        let added = with_value(&changed, "journal.retention_days", "7").unwrap();
        assert_eq!(added, format!("{changed}\n[journal]\nretention_days = 7\n"));
    }
}
