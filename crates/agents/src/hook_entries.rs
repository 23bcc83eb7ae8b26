//! Our hook entries in a CLI's JSON settings, for the CLIs that keep hooks as
//! `{"hooks": {"Event": [{"hooks": [{"type": "command", "command": …}]}]}}`.

use jsonc_parser::cst::CstArray;
use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstNode;
use jsonc_parser::cst::CstObject;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::InsertionState;
use crate::SettingsError;
use crate::json_settings::is_bare;
use crate::json_settings::parse;
use crate::json_settings::says;

/// Seconds after which a CLI may stop waiting for a hook. Our hook ends itself well before; if another
/// program is in its place, a CLI waits for two hooks per tool.
pub(crate) const TIMEOUT: u32 = 5;

/// The timeout in seconds for the end of a session; Codex complains of a longer one.
const TIMEOUT_AT_THE_END: u32 = 3;

/// The event of a question to the person.
const ASKED: &str = "PermissionRequest";

/// The hook entries that we write into a CLI's settings.
pub struct HookEntries {
    pub(crate) kind: &'static str,
    pub(crate) events: &'static [&'static str],
    /// One second in the CLI's unit of timeouts.
    pub(crate) seconds: u32,
    /// The timeout in seconds of the hook that asks the person. That hook ends itself before.
    pub(crate) patience: u32,
    /// Whether a failing hook blocks the tool in this CLI.
    pub(crate) is_strict: bool,
    /// Whether hooks have names in this CLI, which are shown instead of their command lines.
    pub(crate) has_names: bool,
    /// The key in the same settings that switches all hooks off.
    pub(crate) off_switch: Option<&'static str>,
}

/// The answer of our program to `hook --who`; another program called `consort` does not give it.
pub const WHO_ANSWER: &str = "consort";

/// Writes the command line of one hook. A missing program must never stop an agent (two of the CLIs block
/// every tool on it), nor must another program with our name: a program that is found by name only is first
/// asked who it is. `exec` saves a process. With `is_strict` the line does without `exec`, because it must
/// succeed even if the program fails.
pub(crate) fn hook_command(program: &str, kind: &str, event: &str, is_strict: bool) -> String {
    let call = |program: &str, more: &str| match is_strict {
        true => format!("{program} hook {kind} {event}{more} 2>/dev/null; exit 0"),
        false => format!("exec {program} hook {kind} {event}{more}"),
    };
    let by_name = |name: &str, more: &str| {
        format!(
            "[ \"$({name} hook --who </dev/null 2>/dev/null)\" = {WHO_ANSWER} ] || exit 0; {}",
            call(name, more)
        )
    };
    let quoted = quote(program);
    if !program.contains('/') {
        return by_name(&quoted, &format!(" {PROJECT_ARGUMENT}"));
    }
    let first = if is_strict { format!("{{ {}; }}", call(&quoted, "")) } else { call(&quoted, "") };
    format!("[ -x {quoted} ] && {first}; {}", by_name(NAME, ""))
}

/// The argument of a hook from a project's file: it does nothing if the user's own file has the same hook.
pub const PROJECT_ARGUMENT: &str = "--project";

/// The name of our program.
pub(crate) const NAME: &str = "consort";

impl HookEntries {
    /// Returns the timeout of an event's hook, in the CLI's unit.
    fn timeout(&self, event: &str) -> u32 {
        let seconds = match event {
            "SessionEnd" => TIMEOUT_AT_THE_END,
            ASKED => self.patience,
            _ => TIMEOUT,
        };
        seconds * self.seconds
    }

    pub(crate) fn connection(&self, settings: &str, program: &str) -> Result<InsertionState, SettingsError> {
        let object = parse(settings)?.object_value();
        let found = ours(&object, self.kind, program)?;
        if found.is_empty() {
            return Ok(InsertionState::Absent);
        }
        let is_hasty = found.iter().any(|ours| ours.event == ASKED && ours.timeout() < self.timeout(ASKED));
        let command =
            |event: &&str| ((*event).to_owned(), hook_command(program, self.kind, event, self.is_strict));
        let mut wanted: Vec<(String, String)> = self.events.iter().map(command).collect();
        let mut found: Vec<(String, String)> =
            found.into_iter().map(|ours| (ours.event, ours.command)).collect();
        wanted.sort();
        found.sort();
        let is_off = self.off_switch.and_then(|switch| object?.get(switch)?.value()?.as_boolean_lit());
        Ok(match wanted == found && !is_hasty {
            true if is_off.is_some_and(|switch| switch.value()) => InsertionState::SwitchedOff,
            true => InsertionState::Current,
            false => InsertionState::Outdated,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>, program: &str) -> Result<String, SettingsError> {
        // An empty file is a file without settings, not a mistake.
        let settings = settings.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        if self.connection(settings, program)? == InsertionState::Current {
            return Ok(settings.to_owned());
        }
        let settings = self.disconnect(settings, program, None)?;
        let root = parse(&settings)?;
        let object = root
            .object_value_or_create()
            .ok_or_else(|| SettingsError::unexpected("the file's content", "an object"))?;
        let hooks = object
            .object_value_or_create("hooks")
            .ok_or_else(|| SettingsError::unexpected("`hooks`", "an object"))?;
        for event in self.events {
            let entries = hooks
                .array_value_or_create(event)
                .ok_or_else(|| SettingsError::unexpected(&format!("`hooks.{event}`"), "an array"))?;
            entries.ensure_multiline();
            let text = |text: &str| CstInputValue::String(text.to_owned());
            let mut hook = vec![
                ("type".into(), text("command")),
                ("command".into(), text(&hook_command(program, self.kind, event, self.is_strict))),
                ("timeout".into(), CstInputValue::Number(self.timeout(event).to_string())),
            ];
            if self.has_names {
                hook.insert(0, ("name".into(), text(NAME)));
            }
            let hooks = CstInputValue::Array(vec![CstInputValue::Object(hook)]);
            entries.append(CstInputValue::Object(vec![("hooks".into(), hooks)]));
        }
        Ok(root.to_string())
    }

    /// Returns settings that have only our hooks.
    pub(crate) fn alone(&self, program: &str) -> Value {
        let hook = |event: &&str| {
            let command = hook_command(program, self.kind, event, self.is_strict);
            let mut hook = json!({ "type": "command", "command": command, "timeout": self.timeout(event) });
            if self.has_names {
                hook["name"] = json!(NAME);
            }
            ((*event).to_owned(), json!([{ "hooks": [hook] }]))
        };
        json!({ "hooks": self.events.iter().map(hook).collect::<Map<_, _>>() })
    }

    /// Removes our hooks. `before` is the file's text before `init` changed it, if that is known.
    pub(crate) fn disconnect(
        &self,
        settings: &str,
        program: &str,
        before: Option<&str>,
    ) -> Result<String, SettingsError> {
        let root = parse(settings)?;
        let object = root.object_value();
        let found = match ours(&object, self.kind, program) {
            Ok(found) if !found.is_empty() => found,
            // Settings of an unexpected shape have no hooks of ours.
            Ok(_) | Err(_) => return Ok(settings.to_owned()),
        };
        for ours in found {
            ours.hook.remove();
            if is_bare(&ours.group_hooks.children()) {
                ours.group.remove();
            }
            if is_bare(&ours.entries.children())
                && !says(before, &["hooks", &ours.event])
                && let Some(property) = ours.hooks.get(&ours.event)
            {
                property.remove();
            }
            if is_bare(&ours.hooks.children())
                && !says(before, &["hooks"])
                && let Some(property) = object.as_ref().and_then(|object| object.get("hooks"))
            {
                property.remove();
            }
        }
        Ok(root.to_string())
    }

    /// Returns the programs that our hooks in these settings run.
    pub(crate) fn programs(&self, settings: &str, program: &str) -> Vec<String> {
        let object = parse(settings).ok().and_then(|root| root.object_value());
        let found = ours(&object, self.kind, program).unwrap_or_default();
        found.iter().filter_map(|ours| program_of(&ours.command)).collect()
    }
}

/// One of our hooks, with the JSON nodes around it.
struct OurHook {
    event: String,
    command: String,
    hook: CstObject,
    group_hooks: CstArray,
    group: CstObject,
    entries: CstArray,
    hooks: CstObject,
}

impl OurHook {
    /// Returns the timeout that the settings give this hook, in the CLI's unit.
    fn timeout(&self) -> u32 {
        let timeout = self.hook.get("timeout").and_then(|timeout| timeout.value());
        let timeout = timeout.and_then(|timeout| timeout.as_number_lit()?.to_string().parse().ok());
        timeout.unwrap_or(u32::MAX)
    }
}

/// Finds every hook whose command is one of ours for this CLI. Entries of an unknown shape belong to others
/// and are skipped, unless our entries must go into them.
fn ours(object: &Option<CstObject>, kind: &str, program: &str) -> Result<Vec<OurHook>, SettingsError> {
    let Some(object) = object else {
        return Err(SettingsError::unexpected("the file's content", "an object"));
    };
    let Some(property) = object.get("hooks") else { return Ok(Vec::new()) };
    let hooks = property.object_value().ok_or_else(|| SettingsError::unexpected("`hooks`", "an object"))?;
    let mut found = Vec::new();
    for property in hooks.properties() {
        let Some(event) = property.name().and_then(|name| name.decoded_value().ok()) else { continue };
        let Some(entries) = property.array_value() else { continue };
        for group in entries.elements().iter().filter_map(CstNode::as_object) {
            let Some(group_hooks) = group.array_value("hooks") else { continue };
            for hook in group_hooks.elements().iter().filter_map(CstNode::as_object) {
                let command = hook
                    .get("command")
                    .and_then(|command| command.value()?.as_string_lit()?.decoded_value().ok());
                if let Some(command) = command.filter(|command| is_ours(command, kind, program)) {
                    found.push(OurHook {
                        event: event.clone(),
                        command,
                        hook,
                        group_hooks: group_hooks.clone(),
                        group: group.clone(),
                        entries: entries.clone(),
                        hooks: hooks.clone(),
                    });
                }
            }
        }
    }
    Ok(found)
}

/// Tells whether a command has the form of [`hook_command`], for this program or for any program called
/// consort.
fn is_ours(command: &str, kind: &str, program: &str) -> bool {
    let Some((found, call)) = call_in(command) else { return false };
    let name = found.trim_matches('\'').rsplit('/').next().unwrap_or_default();
    call.split(' ').next() == Some(kind) && (name.contains("consort") || found == quote(program))
}

/// Returns the program that a command line of ours runs.
pub(crate) fn program_of(command: &str) -> Option<String> {
    let (program, _) = call_in(command)?;
    let bare = program.strip_prefix('\'').and_then(|program| program.strip_suffix('\''));
    Some(bare.map_or_else(|| program.to_owned(), |bare| bare.replace(r"'\''", "'")))
}

/// Returns the program, quoted as it is written, and the arguments after `hook` in a command line of the form
/// of [`hook_command`], of this or an earlier version.
fn call_in(command: &str) -> Option<(&str, &str)> {
    let (guard, rest) = match command.strip_prefix("[ -x ") {
        Some(rest) => rest.split_once(" ] && ").or_else(|| rest.split_once(" ] || exit 0; "))?,
        None => command.split_once(" || exit 0; ")?,
    };
    let rest = rest.strip_prefix("{ ").unwrap_or(rest);
    let (found, call) = rest.strip_prefix("exec ").unwrap_or(rest).split_once(" hook ")?;
    let call = call.split([';', '}']).next()?.trim_end().trim_end_matches(" 2>/dev/null");
    let guards = [
        found.to_owned(),
        format!("command -v {found} >/dev/null 2>&1"),
        format!("[ \"$({found} hook --who </dev/null 2>/dev/null)\" = {WHO_ANSWER} ]"),
    ];
    guards.iter().any(|expected| expected == guard).then_some((found, call))
}

/// Quotes any text as one word for a POSIX shell.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
