//! The adapter for pi. Behaviour as of 0.87.1.
//!
//! pi has extensions instead of hooks, and no client for MCP servers: our extension is a small file in pi's
//! directory of extensions (`extension.ts`).

mod headless;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::monitor::Permissions;
use consort_core::presence::Activity;
use consort_core::presence::Agent;

use crate::Ability;
use crate::AgentCli;
use crate::Environment;
use crate::Headless;
use crate::HeadlessCommand;
use crate::Insertion;
use crate::InsertionContent;
use crate::InsertionFormat;
use crate::Level;
use crate::OutputReader;
use crate::RunSetup;
use crate::SettingsError;
use crate::SingleRun;
use crate::payload::Tools;
use crate::plugin_dialect;
use crate::primer;
use crate::providers;

const TOOLS: Tools = Tools { write: &["write", "edit"], read: &["read"], shell: &["bash"], patch: &[] };

/// The subcommands of pi: as the first argument, they run instead of a session.
const COMMANDS: &[&str] = &["install", "remove", "uninstall", "update", "list", "config", "auth"];

pub struct Pi;

impl Dialect for Pi {
    fn kind(&self) -> &'static str {
        "pi"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        plugin_dialect::read(event, payload, &TOOLS)
    }

    fn hears_before_tools(&self) -> bool {
        false
    }

    fn write(&self, _event: &str, reply: &HookReply) -> Option<String> {
        plugin_dialect::write(reply)
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

    /// pi has no permissions, so no rule is bypassed.
    fn may_rewrite(&self) -> bool {
        true
    }

    fn prompt_arguments(&self, prompt: &str) -> Vec<String> {
        crate::after_dashes(prompt)
    }

    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]> {
        match permissions {
            Permissions::Full => Some(&[]),
            Permissions::Plan | Permissions::Ask | Permissions::Edit => None,
        }
    }

    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand {
        headless::command(work)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(headless::Reader::default())
    }

    fn named_variables(&self, config_dir: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
        read(&config_dir.join("models.json")).map(|text| providers::in_pi(&text)).unwrap_or_default()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        providers::KEYS
    }

    fn screen(&self) -> &'static str {
        include_str!("screen.toml")
    }

    fn missing_abilities(&self) -> &'static [Ability] {
        &[Ability::SpeaksMcp, Ability::IsShielded]
    }

    fn marker_variables(&self) -> &'static [&'static str] {
        &["PI_SESSION_ID"]
    }

    fn tried_with(&self) -> &'static str {
        "0.87.1"
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        environment("PI_CODING_AGENT_DIR").map_or_else(|| home.join(".pi/agent"), PathBuf::from)
    }

    fn hooks(&self, level: Level<'_>) -> Insertion {
        let file = level.file("extensions/consort.ts", ".pi/extensions/consort.ts");
        Insertion { purpose: InsertionContent::Hooks, file, format: InsertionFormat::Own(plugin) }
    }

    fn primer(&self, level: Level<'_>) -> Insertion {
        primer(level.file("AGENTS.md", "AGENTS.md"))
    }

    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError> {
        let mut run = RunSetup::default();
        let is_command = once.arguments.first().is_some_and(|word| COMMANDS.contains(&word.as_str()));
        if once.hooks && !is_command {
            let file = run.write(once, "pi.ts", plugin(once.program));
            run.argue(["--extension".to_owned(), file]);
        }
        Ok(run)
    }

    fn wake(&self, _config_dir: &Path, _agent: &Agent, activity: &Activity) -> bool {
        plugin_dialect::is_woken(activity)
    }
}

fn plugin(program: &str) -> String {
    plugin_dialect::plugin_text(include_str!("extension.ts"), "pi", program)
}
