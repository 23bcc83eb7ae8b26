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

use crate::Ability;
use crate::AgentCli;
use crate::Level;
use crate::Wiring;
use crate::payload::Tools;
use crate::plain;

const TOOLS: Tools = Tools {
    write: &["write", "edit", "multiedit"],
    read: &["read"],
    shell: &["bash"],
    patch: &["apply_patch", "patch"],
};

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

    fn config_dir(&self, home: &Path, environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        let config = environment("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        config.join("opencode")
    }

    fn settings_file(&self, level: Level<'_>) -> PathBuf {
        match level {
            Level::User(config_dir) => config_dir.join("plugin/consort.js"),
            Level::Project(worktree) => worktree.join(".opencode/plugin/consort.js"),
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
    plain::plugin(include_str!("plugin.js"), "opencode", program)
}
