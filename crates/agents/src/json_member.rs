//! Adds our entry to one object of a CLI's JSON settings, such as its object of MCP servers, and removes it.
//!
//! An entry with our name that somebody has changed is theirs: it is left as it is. The object is removed
//! with our entry if we made it and nobody has put anything else into it, not even a comment.

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstObject;
use serde_json::Value;

use crate::InsertionState;
use crate::SettingsError;
use crate::connect::is_consort;
use crate::json_settings::is_bare;
use crate::json_settings::parse;
use crate::json_settings::says;

/// The key of our entry.
const NAME: &str = "consort";

pub struct JsonMember {
    /// The key of the object that our entry is in.
    pub(crate) of: &'static str,
    /// Returns the value of our entry for the path of our program.
    pub(crate) value: fn(&str) -> Value,
}

impl JsonMember {
    pub(crate) fn connection(&self, settings: &str, program: &str) -> Result<InsertionState, SettingsError> {
        let Some(object) = self.object(settings)? else { return Ok(InsertionState::Absent) };
        let Some(found) = object.get(NAME) else { return Ok(InsertionState::Absent) };
        let found = found.value().and_then(|found| found.to_serde_value());
        Ok(match found {
            Some(found) if self.is_ours(&found) && found != (self.value)(program) => InsertionState::Outdated,
            _ => InsertionState::Current,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>, program: &str) -> Result<String, SettingsError> {
        let settings = settings.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        if self.connection(settings, program)? == InsertionState::Current {
            return Ok(settings.to_owned());
        }
        let root = parse(settings)?;
        let unexpected = || SettingsError::unexpected("the file's content", "an object");
        let object = root.object_value_or_create().ok_or_else(unexpected)?;
        let unexpected = || SettingsError::unexpected(&format!("`{}`", self.of), "an object");
        let servers = object.object_value_or_create(self.of).ok_or_else(unexpected)?;
        match servers.get(NAME) {
            Some(ours) => ours.set_value(input((self.value)(program))),
            None => drop(servers.append(NAME, input((self.value)(program)))),
        }
        Ok(root.to_string())
    }

    /// Removes our entry. `before` is the file's text before `init` changed it, if that is known.
    pub(crate) fn disconnect(&self, settings: &str, before: Option<&str>) -> Result<String, SettingsError> {
        let root = parse(settings)?;
        let all = root.object_value().and_then(|object| object.get(self.of));
        let object = all.as_ref().and_then(|all| all.object_value());
        let ours = object.as_ref().and_then(|object| object.get(NAME));
        let value = ours.as_ref().and_then(|ours| ours.value()?.to_serde_value());
        let (Some(all), Some(object), Some(ours)) = (all, object, ours) else {
            return Ok(settings.to_owned());
        };
        if !value.is_some_and(|value| self.is_ours(&value)) {
            return Ok(settings.to_owned());
        }
        ours.remove();
        if is_bare(&object.children()) && !says(before, &[self.of]) {
            all.remove();
        }
        Ok(root.to_string())
    }

    /// Returns the program of our entry, if there is one.
    pub(crate) fn programs(&self, settings: &str) -> Vec<String> {
        let found = self
            .object(settings)
            .ok()
            .flatten()
            .and_then(|object| object.get(NAME)?.value()?.to_serde_value());
        found
            .filter(|found| self.is_ours(found))
            .map(|found| program(&found).to_owned())
            .into_iter()
            .collect()
    }

    fn object(&self, settings: &str) -> Result<Option<CstObject>, SettingsError> {
        let unexpected = || SettingsError::unexpected("the file's content", "an object");
        let object = parse(settings)?.object_value().ok_or_else(unexpected)?;
        let Some(servers) = object.get(self.of) else { return Ok(None) };
        let unexpected = || SettingsError::unexpected(&format!("`{}`", self.of), "an object");
        servers.object_value().map(Some).ok_or_else(unexpected)
    }

    /// Tells whether an entry is exactly as we would write it for some consort program.
    fn is_ours(&self, found: &Value) -> bool {
        let program = program(found);
        is_consort(program) && *found == (self.value)(program)
    }
}

/// Returns the program that an entry starts.
fn program(found: &Value) -> &str {
    let program = match &found["command"] {
        Value::Array(words) => words.first(),
        command => Some(command),
    };
    program.and_then(Value::as_str).unwrap_or_default()
}

fn input(value: Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text),
        Value::Array(all) => CstInputValue::Array(all.into_iter().map(input).collect()),
        Value::Object(all) => {
            CstInputValue::Object(all.into_iter().map(|(name, value)| (name, input(value))).collect())
        }
    }
}
