//! Adds our allow rules to OpenCode's permissions, an object with rules by tool and, for commands, by
//! pattern; and removes them.
//!
//! Of several rules that match, OpenCode takes the last. So ours come right after the rule for everything
//! else, and before the person's own. If there is one word instead of an object, that word becomes the rule
//! for everything else.

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstObject;
use jsonc_parser::cst::CstObjectProp;

use crate::InsertionState;
use crate::SettingsError;
use crate::allow;
use crate::json_settings::is_bare;
use crate::json_settings::parse;
use crate::json_settings::says;

const PERMISSION: &str = "permission";
/// OpenCode's tool that runs commands.
const SHELL: &str = "bash";
/// The pattern for everything else.
const ALL: &str = "*";
const ALLOW: &str = "allow";

pub(crate) fn connection(settings: &str) -> Result<InsertionState, SettingsError> {
    let unexpected = || SettingsError::unexpected("the file's content", "an object");
    let object = parse(settings)?.object_value().ok_or_else(unexpected)?;
    let permission = object.object_value(PERMISSION);
    let shell = permission.as_ref().and_then(|permission| permission.object_value(SHELL));
    let has = |object: &Option<CstObject>, name: &String| {
        object.as_ref().is_some_and(|object| object.get(name).is_some())
    };
    let (commands, tools) = allow::opencode();
    let there = commands.iter().filter(|command| has(&shell, command)).count()
        + tools.iter().filter(|tool| has(&permission, tool)).count();
    Ok(match there {
        0 => InsertionState::Absent,
        there if there == commands.len() + tools.len() => InsertionState::Current,
        _ => InsertionState::Outdated,
    })
}

pub(crate) fn connect(settings: Option<&str>) -> Result<String, SettingsError> {
    let settings = settings.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
    if connection(settings)? == InsertionState::Current {
        return Ok(settings.to_owned());
    }
    let root = parse(settings)?;
    let object = root
        .object_value_or_create()
        .ok_or_else(|| SettingsError::unexpected("the file's content", "an object"))?;
    let (commands, tools) = allow::opencode();
    let permission = opened(&object, PERMISSION)?;
    add(&permission, &tools);
    add(&opened(&permission, SHELL)?, &commands);
    Ok(root.to_string())
}

/// Removes our rules. `before` is the file's text before `init` changed it, if that is known. A rule that
/// says anything but `allow` is the person's, and stays.
pub(crate) fn disconnect(settings: &str, before: Option<&str>) -> Result<String, SettingsError> {
    let root = parse(settings)?;
    let property = root.object_value().and_then(|object| object.get(PERMISSION));
    let permission = property.as_ref().and_then(CstObjectProp::object_value);
    let (Some(property), Some(permission)) = (property, permission) else {
        return Ok(settings.to_owned());
    };
    let (commands, tools) = allow::opencode();
    let mut has_removed = false;
    if let Some(shell) = permission.get(SHELL)
        && let Some(patterns) = shell.object_value()
    {
        has_removed |= remove(&patterns, &commands, before, &[PERMISSION, SHELL]);
        if has_removed && is_bare(&patterns.children()) && !says(before, &[PERMISSION, SHELL]) {
            shell.remove();
        }
    }
    has_removed |= remove(&permission, &tools, before, &[PERMISSION]);
    if !has_removed {
        return Ok(settings.to_owned());
    }
    if is_bare(&permission.children()) && !says(before, &[PERMISSION]) {
        property.remove();
    }
    Ok(root.to_string())
}

/// Returns the object of that name, which is made if missing; a single word in its place becomes the object's
/// rule for everything.
fn opened(object: &CstObject, name: &str) -> Result<CstObject, SettingsError> {
    let word = object.get(name).and_then(|found| found.value()?.as_string_lit()?.decoded_value().ok());
    if let (Some(word), Some(property)) = (word, object.get(name)) {
        let rule = (ALL.to_owned(), CstInputValue::String(word));
        property.set_value(CstInputValue::Object(vec![rule]));
    }
    let unexpected = || SettingsError::unexpected(&format!("`{name}`"), "an object or a word");
    object.object_value_or_create(name).ok_or_else(unexpected)
}

fn add(object: &CstObject, names: &[String]) {
    let has_all = object.properties().first().and_then(CstObjectProp::name);
    let has_all = has_all.is_some_and(|name| name.decoded_value().is_ok_and(|name| name == ALL));
    let missing = names.iter().filter(|name| object.get(name).is_none());
    for (at, name) in missing.enumerate() {
        object.insert(at + usize::from(has_all), name, CstInputValue::String(ALLOW.to_owned()));
    }
}

fn remove(object: &CstObject, names: &[String], before: Option<&str>, place: &[&str]) -> bool {
    let mut has_removed = false;
    for name in names {
        let path: Vec<&str> = place.iter().copied().chain([name.as_str()]).collect();
        let Some(found) = object.get(name).filter(|_| !says(before, &path)) else { continue };
        let word = found.value().and_then(|value| value.as_string_lit()?.decoded_value().ok());
        if word.as_deref() == Some(ALLOW) {
            found.remove();
            has_removed = true;
        }
    }
    has_removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_the_person_stay_and_win() {
        for before in [
            "{}\n",
            "{\n  \"permission\": {\n    \"edit\": \"ask\"\n  }\n}\n",
            "{\n  \"permission\": {\n    \"bash\": {\n      \"*\": \"ask\",\n      \"consort who\": \"deny\"\n    }\n  }\n}\n",
        ] {
            let connected = connect(Some(before)).unwrap();
            assert_eq!(connection(&connected).unwrap(), InsertionState::Current, "{connected}");
            assert_eq!(connect(Some(&connected)).unwrap(), connected);
            let left = disconnect(&connected, Some(before)).unwrap();
            let parsed = |text: &str| parse(text).unwrap().to_serde_value();
            assert_eq!(parsed(&left), parsed(before), "{left}");
            if before.contains("deny") {
                assert!(connected.find("consort send").unwrap() < connected.find("\"consort who\"").unwrap());
                assert!(connected.find("\"*\"").unwrap() < connected.find("consort send").unwrap());
            }
        }
    }

    #[test]
    fn one_word_for_all_becomes_the_rule_for_everything_else() {
        let connected = connect(Some("{ \"permission\": { \"bash\": \"ask\" } }")).unwrap();
        let value = parse(&connected).unwrap().to_serde_value().unwrap();
        assert_eq!(value["permission"]["bash"]["*"], "ask");
        assert_eq!(value["permission"]["bash"]["consort send *"], "allow");
        let all = connect(Some("{ \"permission\": \"ask\" }")).unwrap();
        let value = parse(&all).unwrap().to_serde_value().unwrap();
        assert_eq!(value["permission"]["*"], "ask");
        assert_eq!(value["permission"]["consort_who"], "allow");
    }
}
