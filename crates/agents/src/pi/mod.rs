//! pi. Seen with 0.87.1.
//!
//! It has extensions instead of hooks, and no client for MCP servers: ours is a
//! small file in its directory of extensions (`extension.ts`).

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::presence::Agent;
use consort_core::presence::Heard;

use crate::Ability;
use crate::AgentCli;
use crate::Level;
use crate::Wiring;
use crate::payload::Tools;
use crate::plain;

const TOOLS: Tools = Tools { write: &["write", "edit"], read: &["read"], shell: &["bash"], patch: &[] };

pub struct Pi;

impl Dialect for Pi {
    fn kind(&self) -> &'static str {
        "pi"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        plain::read(event, payload, &TOOLS)
    }

    fn hears_before_tools(&self) -> bool {
        false
    }

    fn write(&self, _event: &str, reply: &HookReply) -> Option<String> {
        plain::write(reply)
    }
}

impl AgentCli for Pi {
    fn title(&self) -> &'static str {
        "pi"
    }

    fn program(&self) -> &'static str {
        "pi"
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("PI_SESSION_ID")
    }

    fn lacks(&self) -> &'static [Ability] {
        &[Ability::SpeaksMcp]
    }

    fn config_dir(&self, home: &Path, environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        environment("PI_CODING_AGENT_DIR").map_or_else(|| home.join(".pi/agent"), PathBuf::from)
    }

    fn settings_file(&self, level: Level<'_>) -> PathBuf {
        match level {
            Level::User(config_dir) => config_dir.join("extensions/consort.ts"),
            Level::Project(worktree) => worktree.join(".pi/extensions/consort.ts"),
        }
    }

    fn wiring(&self) -> Wiring {
        Wiring::Own(plugin)
    }

    fn wake(&self, _config_dir: &Path, _agent: &Agent, heard: &Heard) -> bool {
        plain::is_woken(heard)
    }
}

fn plugin(program: &str) -> String {
    plain::plugin(include_str!("extension.ts"), "pi", program)
}
