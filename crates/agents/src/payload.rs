//! What agent CLIs send their hooks. They name the same things differently;
//! here all their names are known, so that a dialect is a table.
//!
//! These are their words, not ours: unknown fields are ignored, and a field of
//! an unexpected type counts as absent, so nothing they add can break us.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use consort_core::hooks::Act;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::ToolUse;
use serde::Deserialize;
use serde::Deserializer;
use serde::de::DeserializeOwned;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde::de::value::MapAccessDeserializer;

use crate::patch;

#[derive(Deserialize)]
pub(crate) struct Payload<'a> {
    #[serde(borrow, alias = "sessionId")]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    cwd: Cow<'a, str>,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    permission_mode: Text,
    #[serde(default, alias = "toolName")]
    pub(crate) tool_name: Text,
    #[serde(default, alias = "toolArgs")]
    tool_input: Object<ToolInput>,
    #[serde(default)]
    tool_use_id: Text,
    #[serde(default, alias = "toolResult")]
    tool_response: Object<ToolResponse>,
    #[serde(default)]
    pub(crate) prompt: Text,
    #[serde(default)]
    pub(crate) message: Text,
    #[serde(default)]
    pub(crate) notification_type: Text,
    #[serde(default)]
    pub(crate) error: Text,
    #[serde(default)]
    pub(crate) stop_hook_active: Text,
    #[serde(default)]
    pub(crate) agent_id: Text,
    #[serde(default)]
    pub(crate) agent_type: Text,
}

#[derive(Default, Deserialize)]
struct ToolInput {
    #[serde(default, alias = "filePath", alias = "absolute_path")]
    file_path: Text,
    #[serde(default)]
    notebook_path: Text,
    #[serde(default)]
    path: Text,
    #[serde(default, alias = "cmd")]
    command: Text,
}

/// What a tool came to, as far as it tells in a word.
#[derive(Deserialize)]
struct ToolResponse {
    #[serde(default, rename = "resultType")]
    result_type: Text,
}

/// What a CLI calls its tools.
pub(crate) struct Tools {
    pub(crate) write: &'static [&'static str],
    pub(crate) read: &'static [&'static str],
    pub(crate) shell: &'static [&'static str],
    /// Takes a patch, which names its files.
    pub(crate) patch: &'static [&'static str],
}

impl<'a> Payload<'a> {
    pub(crate) fn parse(payload: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(payload).ok()
    }

    /// The tool that is used, and on what.
    pub(crate) fn tool(&mut self, tools: &Tools) -> Option<ToolUse> {
        let name = self.tool_name.0.take()?;
        let input = self.tool_input.0.take().unwrap_or_default();
        let path: Option<PathBuf> =
            input.file_path.0.or(input.notebook_path.0).or(input.path.0).map(Into::into);
        let is = |names: &[&str]| names.contains(&name.as_str());
        let act = match (path, input.command.0) {
            (_, Some(text)) if is(tools.patch) => Act::Writes(patch::paths(&text)),
            (_, Some(command)) if is(tools.shell) => Act::Runs(command),
            (Some(path), _) if is(tools.write) => Act::Writes(vec![path]),
            (Some(path), _) if is(tools.read) => Act::Reads(path),
            (Some(path), _) => Act::Visits(path),
            _ => Act::Other,
        };
        Some(ToolUse { id: self.tool_use_id.0.take().unwrap_or_default(), name, act })
    }

    /// Whether the tool says that it failed.
    pub(crate) fn has_failed(&self) -> bool {
        let result = self.tool_response.0.as_ref().and_then(|response| response.result_type.0.as_deref());
        result.is_some_and(|result| result != "success")
    }

    /// The call, whose event that is.
    pub(crate) fn call(self, event: HookEvent) -> HookCall {
        HookCall {
            session: self.session_id.into_owned().into(),
            cwd: self.cwd.into_owned().into(),
            model: self.model.0,
            in_subagent: self.agent_id.0.is_some(),
            asks_first: self.permission_mode.0.map(|mode| mode != "bypassPermissions"),
            event,
        }
    }
}

/// An object where there is one, or text that is one; anything else counts as
/// absent.
struct Object<T>(Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyObject<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for AnyObject<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|object| Object(Some(object)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Object<T>, E> {
                Ok(Object(serde_json::from_str(text).ok()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Object<T>, E> {
                Ok(Object(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Object<T>, E> {
                Ok(Object(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Object<T>, E> {
                Ok(Object(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Object<T>, E> {
                Ok(Object(None))
            }

            fn visit_unit<E>(self) -> Result<Object<T>, E> {
                Ok(Object(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Object<T>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Object(None))
            }
        }

        deserializer.deserialize_any(AnyObject(PhantomData))
    }
}

/// Text where there is text or a flag; anything else counts as absent.
#[derive(Default)]
pub(crate) struct Text(pub(crate) Option<String>);

impl Text {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.as_deref() == Some(text)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyText;

        impl<'de> Visitor<'de> for AnyText {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(Some(text.to_owned())))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Text, E> {
                Ok(Text(Some(flag.to_string())))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_unit<E>(self) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }
        }

        deserializer.deserialize_any(AnyText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: Tools = Tools { write: &["w"], read: &["r"], shell: &["s"], patch: &["p"] };

    fn act(more: &str) -> Option<Act> {
        let payload = format!(r#"{{"sessionId":"s1","cwd":"/",{more}}}"#);
        Payload::parse(payload.as_bytes())?.tool(&TOOLS).map(|tool| tool.act)
    }

    #[test]
    fn whatever_a_field_turns_out_to_be_the_rest_is_read() {
        assert_eq!(act(r#""tool_name":"w","tool_input":{"path":"a"}"#), Some(Act::Writes(vec!["a".into()])));
        assert_eq!(act(r#""toolName":"r","toolArgs":"{\"filePath\":\"a\"}""#), Some(Act::Reads("a".into())));
        assert_eq!(act(r#""tool_name":"s","tool_input":{"cmd":"ls"}"#), Some(Act::Runs("ls".into())));
        let patch = r#""tool_name":"p","tool_input":{"command":"*** Add File: x"}"#;
        assert_eq!(act(patch), Some(Act::Writes(vec!["x".into()])));
        for odd in ["1", "null", "[1]", "\"x\"", "true", "{\"path\":{}}", "{\"path\":[1]}"] {
            let more = format!(r#""tool_name":"w","tool_input":{odd},"tool_response":{odd},"model":{odd}"#);
            assert_eq!(act(&more), Some(Act::Other), "{odd}");
        }
    }
}
