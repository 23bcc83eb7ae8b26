//! Claude Code. Seen with 2.1.325.

pub(crate) mod hooks;
mod live;
mod wake;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::presence::Agent;
use consort_core::presence::Heard;
use consort_core::presence::Status;

use crate::Ability;
use crate::AgentCli;
use crate::Connection;
use crate::Entries;
use crate::Level;
use crate::SettingsError;
use crate::Wiring;
use crate::settings;

/// The events we ask for; the rest of its thirty-odd say nothing new.
const EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "PermissionRequest",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

pub struct Claude;

impl Dialect for Claude {
    fn kind(&self) -> &'static str {
        "claude"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        hooks::read(event, payload)
    }

    fn write(&self, event: &str, reply: &HookReply) -> Option<String> {
        hooks::write(event, reply)
    }
}

impl AgentCli for Claude {
    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_CODE_SESSION_ID")
    }

    fn pid_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_PID")
    }

    fn lacks(&self) -> &'static [Ability] {
        &[]
    }

    fn config_dir(&self, home: &Path, environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        environment("CLAUDE_CONFIG_DIR").map_or_else(|| home.join(".claude"), PathBuf::from)
    }

    fn settings_file(&self, level: Level<'_>) -> PathBuf {
        match level {
            Level::User(config_dir) => config_dir.join("settings.json"),
            Level::Project(worktree) => worktree.join(".claude/settings.json"),
        }
    }

    fn wiring(&self) -> Wiring {
        Wiring::Shared(Entries { kind: self.kind(), events: EVENTS, seconds: 1, is_strict: false })
    }

    fn connection(&self, settings: &str, program: &str) -> Result<Connection, SettingsError> {
        let found = self.wiring().connection(settings, program)?;
        let off = settings::parse(settings)?.object_value().and_then(|object| object.get("disableAllHooks"));
        let off = off.and_then(|property| property.value()?.as_boolean_lit().map(|flag| flag.value()));
        Ok(match (found, off) {
            (Connection::Current, Some(true)) => Connection::SwitchedOff,
            _ => found,
        })
    }

    fn wake(&self, config_dir: &Path, agent: &Agent, heard: &Heard) -> bool {
        wake::wake(config_dir, agent, heard)
    }

    fn live_state(&self, config_dir: &Path, agent: &Agent) -> Option<(Status, Option<String>)> {
        live::SessionFile::read(config_dir, agent).and_then(live::SessionFile::state)
    }
}
