//! Sets the program that Claude Code runs everything through, in the `env` of its settings, and removes it.
//!
//! The person's own program is kept in a variable of ours. Our program calls it, and it is restored when ours
//! is removed.

use std::path::PathBuf;

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstObject;

use crate::Environment;
use crate::InsertionState;
use crate::SettingsError;
use crate::json_settings::is_bare;
use crate::json_settings::parse;
use crate::json_settings::says;

/// The key of the object with the variables.
const ENV: &str = "env";
/// The variable that Claude Code reads.
const PREFIX: &str = "CLAUDE_CODE_SHELL_PREFIX";
/// The variable that keeps the person's own program.
const FORMER: &str = "CONSORT_SHELL_PREFIX";

/// Returns the variables that set our program for one run, and keep the one from the environment.
pub(crate) fn variables(program: String, environment: Environment<'_>) -> Vec<(&'static str, String)> {
    let former = environment(PREFIX).map(|former| (FORMER, former));
    [(PREFIX, program)].into_iter().chain(former).collect()
}

/// The setting in which Claude Code finds our program.
pub struct ShellPrefix {
    pub(crate) program: PathBuf,
}

impl ShellPrefix {
    pub(crate) fn connection(&self, settings: &str) -> Result<InsertionState, SettingsError> {
        let root = parse(settings)?;
        let unexpected = || SettingsError::unexpected("the file's content", "an object");
        let object = root.object_value().ok_or_else(unexpected)?;
        let Some(env) = object.get(ENV) else { return Ok(InsertionState::Absent) };
        let env = env.object_value().ok_or_else(|| SettingsError::unexpected("`env`", "an object"))?;
        Ok(match value(&env, PREFIX) {
            Some(found) if found == self.text() => InsertionState::Current,
            Some(found) if self.is_ours(&found) => InsertionState::Outdated,
            _ => InsertionState::Absent,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>) -> Result<String, SettingsError> {
        let settings = settings.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        let connection = self.connection(settings)?;
        if connection == InsertionState::Current {
            return Ok(settings.to_owned());
        }
        let root = parse(settings)?;
        let unexpected = || SettingsError::unexpected("the file's content", "an object");
        let object = root.object_value_or_create().ok_or_else(unexpected)?;
        let unexpected = || SettingsError::unexpected("`env`", "an object");
        let env = object.object_value_or_create(ENV).ok_or_else(unexpected)?;
        let former = value(&env, PREFIX).filter(|former| !self.is_ours(former) && !former.is_empty());
        set(&env, PREFIX, &self.text());
        if let Some(former) = former {
            set(&env, FORMER, &former);
        }
        Ok(root.to_string())
    }

    /// Removes our program, and restores the person's. `before` is the file's text before `init` changed it,
    /// if that is known.
    pub(crate) fn disconnect(&self, settings: &str, before: Option<&str>) -> Result<String, SettingsError> {
        let root = parse(settings)?;
        let all = root.object_value().and_then(|object| object.get(ENV));
        let env = all.as_ref().and_then(|all| all.object_value());
        let (Some(all), Some(env)) = (all, env) else { return Ok(settings.to_owned()) };
        if !value(&env, PREFIX).is_some_and(|found| self.is_ours(&found)) {
            return Ok(settings.to_owned());
        }
        match value(&env, FORMER) {
            Some(former) => set(&env, PREFIX, &former),
            None => remove(&env, PREFIX),
        }
        remove(&env, FORMER);
        if is_bare(&env.children()) && !says(before, &[ENV]) {
            all.remove();
        }
        Ok(root.to_string())
    }

    fn text(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Tells whether the value is a program with the name of ours, in any directory.
    fn is_ours(&self, found: &str) -> bool {
        let name = self.program.file_name().unwrap_or_default().to_string_lossy();
        found.rsplit('/').next() == Some(&*name)
    }
}

fn value(object: &CstObject, name: &str) -> Option<String> {
    object.get(name)?.value()?.as_string_lit()?.decoded_value().ok()
}

fn set(object: &CstObject, name: &str, value: &str) {
    let value = CstInputValue::String(value.to_owned());
    match object.get(name) {
        Some(found) => found.set_value(value),
        None => drop(object.append(name, value)),
    }
}

fn remove(object: &CstObject, name: &str) {
    if let Some(found) = object.get(name) {
        found.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_of_the_person_is_kept_and_comes_back() {
        let ours = ShellPrefix { program: "/h/.claude/consort-shell".into() };
        for before in [
            "{}\n",
            "{\n  \"model\": \"opus\"\n}\n",
            "{\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n",
            "{\n  \"env\": {\n    \"CLAUDE_CODE_SHELL_PREFIX\": \"/opt/log -c\"\n  }\n}\n",
        ] {
            assert_eq!(ours.connection(before).unwrap(), InsertionState::Absent);
            let connected = ours.connect(Some(before)).unwrap();
            assert_eq!(ours.connection(&connected).unwrap(), InsertionState::Current);
            assert!(connected.contains("\"CLAUDE_CODE_SHELL_PREFIX\": \"/h/.claude/consort-shell\""));
            assert_eq!(
                connected.contains("\"CONSORT_SHELL_PREFIX\": \"/opt/log -c\""),
                before.contains("/opt/log")
            );
            assert_eq!(ours.connect(Some(&connected)).unwrap(), connected);
            let moved = ShellPrefix { program: "/elsewhere/consort-shell".into() };
            assert_eq!(moved.connection(&connected).unwrap(), InsertionState::Outdated);
            let given_back =
                ours.disconnect(&moved.connect(Some(&connected)).unwrap(), Some(before)).unwrap();
            let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(parsed(&given_back), parsed(before));
        }
        // A program that somebody has set since then is theirs.
        let theirs = "{ \"env\": { \"CLAUDE_CODE_SHELL_PREFIX\": \"/opt/log\" } }";
        assert_eq!(ours.disconnect(theirs, None).unwrap(), theirs);
    }
}
