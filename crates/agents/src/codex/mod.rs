//! Codex. Seen with 0.166.0.
//!
//! Its hooks are Claude Code's in all but the names of its tools. It asks the
//! person to review them, and runs none that were not reviewed.

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;

use crate::Ability;
use crate::AgentCli;
use crate::Entries;
use crate::Level;
use crate::Wiring;
use crate::claude::hooks;
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

pub struct Codex;

impl Dialect for Codex {
    fn kind(&self) -> &'static str {
        "codex"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        hooks::read_with(event, payload, &TOOLS)
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

    fn wiring(&self) -> Wiring {
        Wiring::Shared(Entries { kind: self.kind(), events: EVENTS, seconds: 1, is_strict: false })
    }

    fn advice(&self) -> Option<&'static str> {
        Some("Codex runs hooks only once you have reviewed them: start `codex`, and agree when it asks.")
    }
}
