//! Our entry in an object of a JSON file, such as that of MCP servers.
//!
//! One of our name that somebody has changed is theirs: it is left as it is.

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstObject;
use serde_json::Value;

use crate::Connection;
use crate::SettingsError;
use crate::connect::is_consort;
use crate::settings::parse;

/// What our entry is called.
const NAME: &str = "consort";

pub struct Member {
    /// The object it is in.
    pub(crate) of: &'static str,
    /// What it says, for a program of ours.
    pub(crate) value: fn(&str) -> Value,
}

impl Member {
    pub(crate) fn connection(&self, settings: &str, program: &str) -> Result<Connection, SettingsError> {
        let Some(object) = self.object(settings)? else { return Ok(Connection::Absent) };
        let Some(found) = object.get(NAME) else { return Ok(Connection::Absent) };
        let found = found.value().and_then(|found| found.to_serde_value());
        Ok(match found {
            Some(found) if self.is_ours(&found) && found != (self.value)(program) => Connection::Outdated,
            _ => Connection::Current,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>, program: &str) -> Result<String, SettingsError> {
        let settings = settings.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        if self.connection(settings, program)? == Connection::Current {
            return Ok(settings.to_owned());
        }
        let root = parse(&self.disconnect(settings)?)?;
        let unexpected = || SettingsError::unexpected("the file's content", "an object");
        let object = root.object_value_or_create().ok_or_else(unexpected)?;
        let unexpected = || SettingsError::unexpected(&format!("`{}`", self.of), "an object");
        let servers = object.object_value_or_create(self.of).ok_or_else(unexpected)?;
        servers.append(NAME, input((self.value)(program)));
        Ok(root.to_string())
    }

    pub(crate) fn disconnect(&self, settings: &str) -> Result<String, SettingsError> {
        let root = parse(settings)?;
        let Some(all) = root.object_value().and_then(|object| object.get(self.of)) else {
            return Ok(root.to_string());
        };
        let Some(object) = all.object_value() else { return Ok(root.to_string()) };
        if let Some(ours) = object.get(NAME)
            && ours.value().and_then(|found| found.to_serde_value()).is_some_and(|found| self.is_ours(&found))
        {
            ours.remove();
            if object.properties().is_empty() {
                all.remove();
            }
        }
        Ok(root.to_string())
    }

    fn object(&self, settings: &str) -> Result<Option<CstObject>, SettingsError> {
        let unexpected = || SettingsError::unexpected("the file's content", "an object");
        let object = parse(settings)?.object_value().ok_or_else(unexpected)?;
        let Some(servers) = object.get(self.of) else { return Ok(None) };
        let unexpected = || SettingsError::unexpected(&format!("`{}`", self.of), "an object");
        servers.object_value().map(Some).ok_or_else(unexpected)
    }

    /// Whether that is what we would write for some program of ours.
    fn is_ours(&self, found: &Value) -> bool {
        let program = match &found["command"] {
            Value::Array(words) => words.first(),
            command => Some(command),
        };
        let program = program.and_then(Value::as_str).unwrap_or_default();
        is_consort(program) && *found == (self.value)(program)
    }
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
