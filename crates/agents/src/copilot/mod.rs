//! Copilot CLI. Seen with 1.0.102.
//!
//! It reads every file in a directory of hooks, so ours is one of our own. A
//! hook that fails blocks every tool here: the command line that is written
//! succeeds whatever happens.

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use serde_json::json;

use crate::Ability;
use crate::AgentCli;
use crate::Level;
use crate::Wiring;
use crate::connect::TIMEOUT;
use crate::connect::hook_command;
use crate::owned;
use crate::payload::Payload;
use crate::payload::Tools;
use crate::reply;

const EVENTS: &[&str] = &[
    "sessionStart",
    "userPromptSubmitted",
    "preToolUse",
    "postToolUse",
    "notification",
    "agentStop",
    "errorOccurred",
    "sessionEnd",
];

const TOOLS: Tools =
    Tools { write: &["create", "edit"], read: &["view"], shell: &["bash"], patch: &["apply_patch"] };

pub struct Copilot;

impl Dialect for Copilot {
    fn kind(&self) -> &'static str {
        "copilot"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        let mut payload = Payload::parse(payload)?;
        let event = match event {
            "sessionStart" => HookEvent::SessionStart,
            "userPromptSubmitted" => HookEvent::Prompt(payload.prompt.0.take().unwrap_or_default()),
            "preToolUse" => HookEvent::ToolBefore(payload.tool(&TOOLS)?),
            "postToolUse" => HookEvent::ToolAfter {
                failed: payload.has_failed(),
                tool: payload.tool(&TOOLS).unwrap_or_default(),
            },
            // Asked for every tool; this one only where the person is asked.
            "notification" if payload.notification_type.is("permission_prompt") => payload.permission(),
            "agentStop" => HookEvent::TurnEnd { may_go_on: !payload.stop_hook_active.is("true") },
            "errorOccurred" if !payload.recoverable.is("true") => HookEvent::TurnFailed("an error".into()),
            "sessionEnd" => HookEvent::SessionEnd,
            _ => return None,
        };
        payload.call(event)
    }

    fn write(&self, _event: &str, reply: &HookReply) -> Option<String> {
        match reply {
            HookReply::GoOn(text) => reply::decision("block", text),
            reply => reply::flat(reply),
        }
    }
}

impl AgentCli for Copilot {
    fn title(&self) -> &'static str {
        "Copilot CLI"
    }

    fn program(&self) -> &'static str {
        "copilot"
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("COPILOT_AGENT_SESSION_ID")
    }

    fn lacks(&self) -> &'static [Ability] {
        &[Ability::TellsItsModel, Ability::IsWoken]
    }

    fn config_dir(&self, home: &Path, environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        environment("COPILOT_HOME").map_or_else(|| home.join(".copilot"), PathBuf::from)
    }

    fn settings_file(&self, level: Level<'_>) -> PathBuf {
        match level {
            Level::User(config_dir) => config_dir.join("hooks/consort.json"),
            Level::Project(worktree) => worktree.join(".github/hooks/consort.json"),
        }
    }

    fn wiring(&self) -> Wiring {
        Wiring::Own(file)
    }
}

fn file(program: &str) -> String {
    let hook = |event: &&str| {
        let command = hook_command(program, "copilot", event, true);
        ((*event).to_owned(), json!([{ "type": "command", "bash": command, "timeoutSec": TIMEOUT }]))
    };
    let hooks: serde_json::Map<String, serde_json::Value> = EVENTS.iter().map(hook).collect();
    let file = json!({ "version": 1, "comment": owned::NOTICE, "hooks": hooks });
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}
