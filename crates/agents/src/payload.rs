//! Reads the JSON payloads that agent CLIs send to hooks into our hook events. CLIs name the same things
//! differently; this file knows all their names, so that a dialect is a table.
//!
//! The CLIs choose these fields: unknown fields are ignored, and a field of an unexpected type counts as
//! absent, so nothing that they add can break us.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::Replaces;
use consort_core::hooks::ToolAction;
use consort_core::hooks::ToolUse;
use consort_core::presence::SessionId;
use serde::Deserialize;
use serde::Deserializer;
use serde::de::DeserializeOwned;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde::de::value::MapAccessDeserializer;

use crate::other_tools;
use crate::other_tools::Given;
use crate::patch;
use crate::payload_lists::PathList;
use crate::payload_lists::TaskCount;

/// The payload of any event of any CLI. Two spellings of one name are two fields: a CLI may send both.
#[derive(Deserialize)]
pub(crate) struct Payload<'a> {
    #[serde(default, borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(default, borrow, rename = "sessionId")]
    session_id_too: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Cow<'a, str>,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    permission_mode: Text,
    #[serde(default)]
    tool_name: Text,
    #[serde(default, rename = "toolName")]
    tool_name_too: Text,
    #[serde(default)]
    tool_input: Object<ToolInput>,
    #[serde(default, rename = "toolArgs", alias = "toolInput")]
    tool_input_too: Object<ToolInput>,
    #[serde(default)]
    tool_use_id: Text,
    #[serde(default)]
    tool_response: Object<ToolResponse>,
    #[serde(default, rename = "toolResult")]
    tool_response_too: Object<ToolResponse>,
    #[serde(default)]
    pub(crate) prompt: Text,
    #[serde(default)]
    pub(crate) message: Text,
    #[serde(default)]
    pub(crate) notification_type: Text,
    #[serde(default)]
    pub(crate) error: Text,
    #[serde(default)]
    pub(crate) recoverable: Text,
    /// The reason why a session begins; `reason` is why it ends.
    #[serde(default)]
    source: Text,
    #[serde(default)]
    reason: Text,
    /// The session that this session replaces; only our plugins send it.
    #[serde(default)]
    replaces: Text,
    #[serde(default)]
    pub(crate) stop_hook_active: Text,
    /// The number of tasks that run on after a turn, if the CLI sends it.
    #[serde(default)]
    background_tasks: TaskCount,
    #[serde(default)]
    pub(crate) agent_id: Text,
    #[serde(default)]
    pub(crate) agent_type: Text,
    /// The session that started this one, for a session within a session.
    #[serde(default, rename = "parentAgentId")]
    parent: Text,
    /// The directory that a command is to be run in.
    #[serde(skip)]
    dir: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolInput {
    file_path: Text,
    #[serde(rename = "filePath")]
    file_path_too: Text,
    absolute_path: Text,
    notebook_path: Text,
    path: Text,
    command: Text,
    cmd: Text,
    #[serde(rename = "patchText")]
    patch: Text,
    dir_path: Text,
    workdir: Text,
    // Names that MCP servers have for their paths.
    relative_path: Text,
    #[serde(rename = "pathInProject")]
    path_in_project: Text,
    filename: Text,
    uri: Text,
    destination: Text,
    new_path: Text,
    source: Text,
    old_path: Text,
    paths: PathList,
    files: PathList,
    #[serde(rename = "run_in_background")]
    in_background: Text,
    #[serde(rename = "is_background")]
    in_background_too: Text,
    #[serde(rename = "dangerouslyDisableSandbox")]
    leaves_sandbox: Text,
}

/// The fields of a tool's response that tell its outcome.
#[derive(Deserialize)]
struct ToolResponse {
    #[serde(default, rename = "resultType")]
    result_type: Text,
    #[serde(default)]
    error: Option<IgnoredAny>,
    /// The task that goes on in the background, even if that was not requested.
    #[serde(default, rename = "backgroundTaskId")]
    task: Text,
}

/// A type that can be read from plain text where an object is expected.
trait OfText: Sized {
    fn of_text(text: &str) -> Option<Self>;
}

impl OfText for ToolInput {
    /// Takes the text as a command or a patch.
    fn of_text(text: &str) -> Option<Self> {
        Some(Self { command: Text(Some(text.to_owned())), ..Self::default() })
    }
}

impl OfText for ToolResponse {
    fn of_text(_text: &str) -> Option<Self> {
        None
    }
}

/// A CLI's names for its own tools, by what the tools do.
pub(crate) struct Tools {
    pub(crate) write: &'static [&'static str],
    pub(crate) read: &'static [&'static str],
    pub(crate) shell: &'static [&'static str],
    /// The tools that take a patch, which names its files.
    pub(crate) patch: &'static [&'static str],
}

impl<'a> Payload<'a> {
    /// Parses a payload. JavaScript may send half a surrogate pair, which is not valid text: then the payload
    /// is read from `repaired`, without that half.
    pub(crate) fn parse(payload: &'a [u8], repaired: &'a mut Vec<u8>) -> Option<Self> {
        if let Ok(payload) = serde_json::from_slice(payload) {
            return Some(payload);
        }
        *repaired = without_lone_surrogates(payload)?;
        serde_json::from_slice(repaired).ok()
    }

    /// Makes the event of a session that begins. It replaces the session that our plugin names, else the last
    /// one of its process after `/clear`, `/resume` and the like, else as `usual` says.
    pub(crate) fn session_start(&mut self, usual: Replaces) -> HookEvent {
        let named = self.replaces.0.take().and_then(|id| SessionId::from_cli(id).ok());
        let replaces = match (named, self.source.0.as_deref()) {
            (Some(session), _) => Replaces::Session(session),
            (None, Some("clear" | "resume" | "fork" | "switch")) => Replaces::TheLast,
            (None, _) => usual,
        };
        HookEvent::SessionStart { replaces, is_heard: true }
    }

    /// Makes the event of a session that ends or is about to be replaced.
    pub(crate) fn session_end(&self) -> HookEvent {
        let is_replaced =
            matches!(self.reason.0.as_deref(), Some("clear" | "resume" | "fork" | "new" | "switch"));
        HookEvent::SessionEnd { is_replaced }
    }

    /// Tells whether a session begins for the first time, not after `/clear` or a resumption.
    pub(crate) fn is_fresh_start(&self) -> bool {
        !matches!(self.source.0.as_deref(), Some("clear" | "resume"))
    }

    /// Takes the name of the tool out of the payload.
    pub(crate) fn tool_name(&mut self) -> Option<String> {
        self.tool_name.0.take().or(self.tool_name_too.0.take())
    }

    /// Makes the event of waiting for the person's permission to use a tool.
    pub(crate) fn permission(&mut self) -> HookEvent {
        let tool = self.tool_name().unwrap_or_else(|| "a tool".into());
        HookEvent::Waiting(format!("permission for {tool}"))
    }

    /// Reads which tool is used, and on which files or with which command.
    pub(crate) fn tool(&mut self, tools: &Tools) -> Option<ToolUse> {
        let name = self.tool_name()?;
        let input = *self.tool_input.0.take().or(self.tool_input_too.0.take()).unwrap_or_default();
        let paths =
            [input.file_path, input.file_path_too, input.absolute_path, input.notebook_path, input.path];
        let mut paths = paths.into_iter().filter_map(|path| path.0).map(PathBuf::from).collect::<Vec<_>>();
        let path = paths.first().cloned();
        let others = [
            input.relative_path,
            input.path_in_project,
            input.filename,
            input.uri,
            input.destination,
            input.new_path,
        ];
        let command = input.command.0.or(input.cmd.0);
        let is = |names: &[&str]| names.iter().any(|known| *known == name);
        let mut deletes = false;
        let act = match (path, command) {
            (_, text) if is(tools.patch) && (text.is_some() || input.patch.0.is_some()) => {
                let text = input.patch.0.or(text).unwrap_or_default();
                deletes = patch::deletes(&text);
                ToolAction::Writes(patch::paths(&text))
            }
            // Codex applies a patch in a shell command as its own patch tool would.
            (_, Some(command)) if is(tools.shell) && patch::is_patch_command(&command) => {
                deletes = patch::deletes(&command);
                ToolAction::Writes(patch::paths(&command))
            }
            (_, Some(command)) if is(tools.shell) => {
                self.dir = input.dir_path.0.or(input.workdir.0);
                ToolAction::Runs(command)
            }
            // Only the CLI knows which of several path fields counts, so all are taken.
            (Some(_), _) if is(tools.write) => {
                paths.dedup();
                ToolAction::Writes(paths)
            }
            (Some(path), _) if is(tools.read) => ToolAction::Reads(path),
            (path, command) => {
                let named =
                    others.into_iter().filter_map(|path| path.0).chain(input.paths.0).chain(input.files.0);
                let named = named.map(|path| PathBuf::from(path.strip_prefix("file://").unwrap_or(&path)));
                let source = input.source.0.or(input.old_path.0).map(PathBuf::from);
                other_tools::guess_action(
                    &name,
                    Given { paths: path.into_iter().chain(named).collect(), source, command },
                )
            }
        };
        let is_own = [tools.patch, tools.shell, tools.write, tools.read].into_iter().any(is)
            && !input.leaves_sandbox.is("true");
        let response = self.tool_response.0.as_ref().or(self.tool_response_too.0.as_ref());
        let in_background = input.in_background.is("true")
            || input.in_background_too.is("true")
            || response.is_some_and(|response| response.task.0.is_some());
        let id = self.tool_use_id.0.take().unwrap_or_default();
        Some(ToolUse { id, name, act, deletes, in_background, is_own })
    }

    /// Makes the event of a turn that is over.
    pub(crate) fn turn_end(&self) -> HookEvent {
        let runs_on = self.background_tasks.0 != Some(0);
        HookEvent::TurnEnd { may_go_on: !self.stop_hook_active.is("true"), runs_on }
    }

    /// Tells whether the tool's response says that it failed.
    pub(crate) fn has_failed(&self) -> bool {
        let response = self.tool_response.0.as_ref().or(self.tool_response_too.0.as_ref());
        response.is_some_and(|response| {
            response.error.is_some()
                || response.result_type.0.as_deref().is_some_and(|kind| kind != "success")
        })
    }

    /// Makes the hook call with this event.
    pub(crate) fn call(self, event: HookEvent) -> Option<HookCall> {
        let session = self.session_id.or(self.session_id_too)?.into_owned();
        let cwd = PathBuf::from(self.cwd.into_owned());
        Some(HookCall {
            in_subagent: self.agent_id.0.is_some() || self.parent.0.is_some(),
            session: SessionId::from_cli(self.parent.0.unwrap_or(session)).ok()?,
            cwd: match self.dir {
                Some(dir) => cwd.join(dir),
                None => cwd,
            },
            model: self.model.0,
            asks_first: self.permission_mode.0.map(|mode| mode != "bypassPermissions"),
            event,
        })
    }
}

/// Tells whether a payload contains an error about a path that is read-only (EROFS) or mounted (EBUSY), in
/// the words of the C library, Node or Python.
pub(crate) fn met_read_only(payload: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] =
        [b"ead-only file system", b"EROFS", b"resource busy", b"ReadOnlyFileSystem", b"EBUSY"];
    WORDS.iter().any(|word| payload.windows(word.len()).any(|found| found == *word))
}

/// Returns the payload with `\\ufffd` for every escaped half of a surrogate pair, and a replacement character
/// for every invalid part of UTF-8; `None` if there is nothing to replace.
pub(crate) fn without_lone_surrogates(payload: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(payload);
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut repaired, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(next) = text[at..].find('\\') {
        repaired.push_str(&text[at..at + next]);
        at += next;
        let (length, is_lone) = match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, false),
            (Some(0xd800..=0xdfff), _) => (6, true),
            (Some(_), _) => (6, false),
            // The character after the backslash may be a backslash.
            (None, _) => (1 + text[at + 1..].chars().next().map_or(0, char::len_utf8), false),
        };
        repaired.push_str(if is_lone { "\\ufffd" } else { &text[at..at + length] });
        at += length;
    }
    repaired.push_str(&text[at..]);
    (repaired.as_bytes() != payload).then(|| repaired.into_bytes())
}

/// An object, also as JSON in a text or made from plain text (`OfText`); anything else counts as absent.
/// Boxed, because otherwise reading a payload would take pages of stack.
struct Object<T>(Option<Box<T>>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned + OfText> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyObject<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned + OfText> Visitor<'de> for AnyObject<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|object| Object(Some(Box::new(object))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Object<T>, E> {
                Ok(Object(serde_json::from_str(text).ok().or_else(|| T::of_text(text)).map(Box::new)))
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

/// A text, or a flag as a text; anything else counts as absent.
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
