//! OpenCode. Seen with 1.18.33.
//!
//! It has plugins instead of hooks: ours is a small file in its directory of
//! plugins (`plugin.js`). It has no hook at the end of a turn; mail that
//! comes then wakes the session as soon as it is idle.

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::presence::Agent;
use consort_core::presence::Heard;
use serde_json::Value;
use serde_json::json;

use crate::Ability;
use crate::AgentCli;
use crate::Environment;
use crate::Level;
use crate::Member;
use crate::Once;
use crate::Part;
use crate::Piece;
use crate::Run;
use crate::SettingsError;
use crate::Wiring;
use crate::payload::Tools;
use crate::plain;
use crate::primer;

const TOOLS: Tools = Tools {
    write: &["write", "edit", "multiedit"],
    read: &["read"],
    shell: &["bash"],
    patch: &["apply_patch", "patch"],
};

/// Configuration for one run.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

pub struct OpenCode;

impl Dialect for OpenCode {
    fn kind(&self) -> &'static str {
        "opencode"
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

impl AgentCli for OpenCode {
    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn program(&self) -> &'static str {
        "opencode"
    }

    fn lacks(&self) -> &'static [Ability] {
        &[Ability::HearsAtTheEnd]
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        let config = environment("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        config.join("opencode")
    }

    fn hooks(&self, level: Level<'_>) -> Piece {
        let file = level.file("plugin/consort.js", ".opencode/plugin/consort.js");
        Piece { part: Part::Hooks, file, wiring: Wiring::Own(plugin) }
    }

    fn mcp(&self, level: Level<'_>, _: Environment<'_>) -> Option<Piece> {
        let wiring = Wiring::Member(Member { of: "mcp", value: server });
        Some(Piece { part: Part::Mcp, file: level.file("opencode.json", "opencode.json"), wiring })
    }

    fn primer(&self, level: Level<'_>) -> Piece {
        primer(level.file("AGENTS.md", "AGENTS.md"))
    }

    fn once(&self, once: &Once<'_>) -> Result<Run, SettingsError> {
        let mut run = Run::default();
        let theirs = (once.environment)(CONTENT).and_then(|text| serde_json::from_str(&text).ok());
        let mut config = theirs.unwrap_or_else(|| json!({}));
        if once.hooks {
            let file = run.write(once, "opencode.js", plugin(once.program));
            let mut plugins = config["plugin"].as_array().cloned().unwrap_or_default();
            plugins.push(format!("file://{file}").into());
            config["plugin"] = plugins.into();
        }
        if once.mcp {
            config["mcp"]["consort"] = server(once.program);
        }
        run.variables.push((CONTENT, config.to_string()));
        Ok(run)
    }

    fn wake(&self, _config_dir: &Path, _agent: &Agent, heard: &Heard) -> bool {
        plain::is_woken(heard)
    }
}

fn server(program: &str) -> Value {
    json!({ "type": "local", "command": [program, "mcp"], "enabled": true })
}

fn plugin(program: &str) -> String {
    plain::plugin(include_str!("plugin.js"), "opencode", program)
}
