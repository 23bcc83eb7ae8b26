//! Codex. Seen with 0.166.0.
//!
//! Its hooks are Claude Code's in all but the names of its tools. It asks the
//! person to review them, and runs none that were not reviewed.

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;
use serde_json::Value;

use crate::Ability;
use crate::AgentCli;
use crate::Entries;
use crate::Environment;
use crate::Level;
use crate::Once;
use crate::Part;
use crate::Piece;
use crate::Run;
use crate::SettingsError;
use crate::Table;
use crate::Wiring;
use crate::claude::hooks;
use crate::payload::Tools;
use crate::primer;
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

const ENTRIES: Entries = Entries {
    kind: "codex",
    events: EVENTS,
    seconds: 1,
    is_strict: false,
    has_names: false,
    off_switch: None,
};

/// It hands on next to nothing of its environment, unless told to. Our tools are
/// approved: by default it would ask for each, and refuse where nobody can answer.
fn server(program: &str) -> String {
    let program = Value::from(program);
    format!(
        "command = {program}\nargs = [\"mcp\"]\ndefault_tools_approval_mode = \"approve\"\nenv_vars = [\"CONSORT_HOME\", \"XDG_DATA_HOME\", \"XDG_CONFIG_HOME\"]\n"
    )
}

/// JSON as an inline value of TOML.
fn inline(value: &Value) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Array(all) => format!("[{}]", join(all.iter().map(inline).collect())),
        Value::Object(all) => {
            let one = |(key, value): (&String, &Value)| format!("{key} = {}", inline(value));
            format!("{{{}}}", join(all.iter().map(one).collect()))
        }
        plain => plain.to_string(),
    }
}

pub struct Codex;

impl Dialect for Codex {
    fn kind(&self) -> &'static str {
        "codex"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        // `/new` begins a session like any other.
        hooks::read_with(event, payload, &TOOLS, Replaces::TheLastIfAlone)
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

    fn has_sandbox(&self) -> bool {
        true
    }

    /// Its server has many.
    fn has_one_session(&self, command_line: &str) -> bool {
        !command_line.contains("app-server")
    }

    fn lacks(&self) -> &'static [Ability] {
        &[Ability::IsWoken]
    }

    fn marker_variables(&self) -> &'static [&'static str] {
        &["CODEX_SANDBOX", "CODEX_THREAD_ID"]
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        environment("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from)
    }

    fn hooks(&self, level: Level<'_>) -> Piece {
        let file = level.file("hooks.json", ".codex/hooks.json");
        Piece { part: Part::Hooks, file, wiring: Wiring::Hooks(ENTRIES) }
    }

    fn mcp(&self, level: Level<'_>, _: Environment<'_>) -> Option<Piece> {
        let file = level.file("config.toml", ".codex/config.toml");
        let wiring = Wiring::Table(Table { of: "mcp_servers", lines: server });
        Some(Piece { part: Part::Mcp, file, wiring })
    }

    fn primer(&self, level: Level<'_>) -> Piece {
        primer(level.file("AGENTS.md", "AGENTS.md"))
    }

    fn once(&self, once: &Once<'_>) -> Result<Run, SettingsError> {
        let mut run = Run::default();
        if once.hooks {
            let hooks = ENTRIES.alone(once.program);
            for (event, entries) in hooks["hooks"].as_object().into_iter().flatten() {
                run.argue(["-c".to_owned(), format!("hooks.{event}={}", inline(entries))]);
            }
        }
        if once.mcp {
            for line in server(once.program).lines() {
                run.argue(["-c".to_owned(), format!("mcp_servers.consort.{line}")]);
            }
        }
        Ok(run)
    }

    fn advice(&self) -> Option<&'static str> {
        Some("Codex runs hooks only once you have reviewed them: start `codex`, and agree when it asks.")
    }
}
