//! Adds our strings to a list in a CLI's JSON settings, such as Claude Code's allow rules, and removes them.
//!
//! A string that was in the list before `init` is the person's, and stays.

use jsonc_parser::cst::CstArray;
use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstNode;

use crate::InsertionState;
use crate::SettingsError;
use crate::json_settings::is_bare;
use crate::json_settings::parse;
use crate::json_settings::says;

/// The strings of ours that a list is to have, and the place of the list.
pub struct JsonList {
    /// The key of the object that the list is in.
    pub(crate) of: &'static str,
    /// The key of the list in that object.
    pub(crate) name: &'static str,
    pub(crate) items: fn() -> Vec<String>,
}

impl JsonList {
    pub(crate) fn connection(&self, settings: &str) -> Result<InsertionState, SettingsError> {
        let found = self.found(settings)?;
        let items = (self.items)();
        let there = items.iter().filter(|item| found.contains(item)).count();
        Ok(match there {
            0 => InsertionState::Absent,
            there if there == items.len() => InsertionState::Current,
            _ => InsertionState::Outdated,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>) -> Result<String, SettingsError> {
        let settings = settings.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        let found = self.found(settings)?;
        let missing: Vec<String> = (self.items)().into_iter().filter(|item| !found.contains(item)).collect();
        if missing.is_empty() {
            return Ok(settings.to_owned());
        }
        let root = parse(settings)?;
        let unexpected = |name: &str, expected| SettingsError::unexpected(&format!("`{name}`"), expected);
        let object = root
            .object_value_or_create()
            .ok_or_else(|| SettingsError::unexpected("the file's content", "an object"))?;
        let of = object.object_value_or_create(self.of).ok_or_else(|| unexpected(self.of, "an object"))?;
        let list = of
            .array_value_or_create(self.name)
            .ok_or_else(|| unexpected(&format!("{}.{}", self.of, self.name), "an array"))?;
        list.ensure_multiline();
        for item in missing {
            list.append(CstInputValue::String(item));
        }
        Ok(root.to_string())
    }

    /// Removes our strings. `before` is the file's text before `init` changed it, if that is known.
    pub(crate) fn disconnect(&self, settings: &str, before: Option<&str>) -> Result<String, SettingsError> {
        let root = parse(settings)?;
        let of = root.object_value().and_then(|object| object.get(self.of));
        let inner = of.as_ref().and_then(|of| of.object_value());
        let property = inner.as_ref().and_then(|inner| inner.get(self.name));
        let list = property.as_ref().and_then(|property| property.array_value());
        let (Some(of), Some(inner), Some(property), Some(list)) = (of, inner, property, list) else {
            return Ok(settings.to_owned());
        };
        let theirs = before.and_then(|before| self.found(before).ok()).unwrap_or_default();
        let ours: Vec<String> = (self.items)().into_iter().filter(|item| !theirs.contains(item)).collect();
        let mut has_removed = false;
        for element in list.elements() {
            if string(&element).is_some_and(|item| ours.contains(&item)) {
                element.remove();
                has_removed = true;
            }
        }
        if !has_removed {
            return Ok(settings.to_owned());
        }
        if is_bare(&list.children()) && !says(before, &[self.of, self.name]) {
            property.remove();
        }
        if is_bare(&inner.children()) && !says(before, &[self.of]) {
            of.remove();
        }
        Ok(root.to_string())
    }

    /// Returns the strings that are in the list.
    fn found(&self, settings: &str) -> Result<Vec<String>, SettingsError> {
        let unexpected = || SettingsError::unexpected("the file's content", "an object");
        let object = parse(settings)?.object_value().ok_or_else(unexpected)?;
        let Some(of) = object.get(self.of) else { return Ok(Vec::new()) };
        let unexpected = || SettingsError::unexpected(&format!("`{}`", self.of), "an object");
        let of = of.object_value().ok_or_else(unexpected)?;
        let Some(list) = of.get(self.name) else { return Ok(Vec::new()) };
        let unexpected = || SettingsError::unexpected(&format!("`{}.{}`", self.of, self.name), "an array");
        let list: CstArray = list.array_value().ok_or_else(unexpected)?;
        Ok(list.elements().iter().filter_map(string).collect())
    }
}

fn string(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: JsonList =
        JsonList { of: "permissions", name: "allow", items: || vec!["a".into(), "b".into(), "c".into()] };

    #[test]
    fn what_was_there_before_stays() {
        for before in [
            "{}\n",
            "{\n  \"permissions\": {\n    \"deny\": [\"x\"]\n  }\n}\n",
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"x\", // mine\n      \"b\"\n    ]\n  }\n}\n",
            "{ \"permissions\": { \"allow\": [] } }\n",
        ] {
            let connected = LIST.connect(Some(before)).unwrap();
            assert_eq!(LIST.connection(&connected).unwrap(), InsertionState::Current, "{connected}");
            assert_eq!(connected.matches("\"b\"").count(), 1, "{connected}");
            assert_eq!(LIST.connect(Some(&connected)).unwrap(), connected);
            let left = LIST.disconnect(&connected, Some(before)).unwrap();
            let parsed = |text: &str| parse(text).unwrap().to_serde_value();
            assert_eq!(parsed(&left), parsed(before), "{left}");
        }
    }

    #[test]
    fn a_part_of_ours_is_outdated_and_none_is_absent() {
        let some = r#"{"permissions": {"allow": ["b", "x"]}}"#;
        assert_eq!(LIST.connection(some).unwrap(), InsertionState::Outdated);
        assert_eq!(LIST.connection("{}").unwrap(), InsertionState::Absent);
        assert!(LIST.connection(r#"{"permissions": {"allow": 1}}"#).is_err());
        assert_eq!(LIST.disconnect(r#"{"permissions": 1}"#, None).unwrap(), r#"{"permissions": 1}"#);
    }
}
