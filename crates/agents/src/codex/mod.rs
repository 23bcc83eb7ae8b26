//! Codex. Seen with 0.166.0.
//!
//! Its hooks are Claude Code's in all but the names of its tools. It asks the
//! person to review them, and runs none that were not reviewed.

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;

use crate::Ability;
use crate::AgentCli;
use crate::Connection;
use crate::Level;
use crate::SettingsError;
use crate::connect::Entries;
use crate::payload::Payload;
use crate::payload::Tools;
use crate::reply;

const EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

const TOOLS: Tools = Tools { write: &[], read: &[], shell: &["Bash"], patch: &["apply_patch"] };

const HOOKS: Entries = Entries { kind: "codex", events: EVENTS, seconds: 1, is_strict: false };

pub struct Codex;

impl Dialect for Codex {
    fn kind(&self) -> &'static str {
        HOOKS.kind
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        let mut payload = Payload::parse(payload)?;
        let event = match event {
            "SessionStart" => HookEvent::SessionStart,
            "UserPromptSubmit" => HookEvent::Prompt(payload.prompt.0.take().unwrap_or_default()),
            "PreToolUse" => HookEvent::ToolBefore(payload.tool(&TOOLS)?),
            "PostToolUse" => {
                HookEvent::ToolAfter { failed: false, tool: payload.tool(&TOOLS).unwrap_or_default() }
            }
            "PermissionRequest" => payload.permission(),
            "Stop" => HookEvent::TurnEnd { may_go_on: !payload.stop_hook_active.is("true") },
            "SubagentStart" => HookEvent::SubagentStart {
                id: payload.agent_id.0.clone()?,
                kind: payload.agent_type.0.take().unwrap_or_else(|| "subagent".into()),
            },
            "SubagentStop" => HookEvent::SubagentStop { id: payload.agent_id.0.clone()? },
            "PreCompact" => HookEvent::Compacting,
            "SessionEnd" => HookEvent::SessionEnd,
            _ => return None,
        };
        payload.call(event)
    }

    fn write(&self, event: &str, reply: &HookReply) -> Option<String> {
        match reply {
            HookReply::GoOn(text) => reply::decision("block", text),
            reply => reply::nested(event, reply),
        }
    }
}

impl AgentCli for Codex {
    fn title(&self) -> &'static str {
        "Codex"
    }

    fn program(&self) -> &'static str {
        "codex"
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("CODEX_THREAD_ID")
    }

    fn lacks(&self) -> &'static [Ability] {
        &[Ability::IsWoken]
    }

    fn config_dir(&self, home: &Path, environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        environment("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from)
    }

    fn settings_file(&self, level: Level<'_>) -> PathBuf {
        match level {
            Level::User(config_dir) => config_dir.join("hooks.json"),
            Level::Project(worktree) => worktree.join(".codex/hooks.json"),
        }
    }

    fn connection(&self, settings: &str, program: &str) -> Result<Connection, SettingsError> {
        HOOKS.connection(settings, program)
    }

    fn connect(&self, settings: Option<&str>, program: &str) -> Result<String, SettingsError> {
        HOOKS.connect(settings, program)
    }

    fn disconnect(&self, settings: &str, program: &str) -> Result<Option<String>, SettingsError> {
        HOOKS.disconnect(settings, program).map(Some)
    }

    fn advice(&self) -> Option<&'static str> {
        Some("Codex runs hooks only once you have reviewed them: start `codex`, and agree when it asks.")
    }
}
