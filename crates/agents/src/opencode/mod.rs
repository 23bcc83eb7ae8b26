//! The adapter for OpenCode. Behaviour as of 1.18.33.
//!
//! OpenCode has plugins instead of hooks: ours is a small file in its directory of plugins (`plugin.js`). It
//! has no hook that keeps a session going at the end of a turn; mail that comes then wakes the session as
//! soon as it is idle.

mod headless;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::monitor::Permissions;
use consort_core::policy::AskAnswer;
use consort_core::presence::Activity;
use consort_core::presence::Agent;
use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstNode;
use serde_json::Value;
use serde_json::json;

use crate::Ability;
use crate::AgentCli;
use crate::Environment;
use crate::Headless;
use crate::HeadlessCommand;
use crate::Insertion;
use crate::InsertionContent;
use crate::InsertionFormat;
use crate::JsonMember;
use crate::Level;
use crate::OutputReader;
use crate::RunSetup;
use crate::SettingsError;
use crate::SingleRun;
use crate::json_settings::parse;
use crate::payload::Tools;
use crate::plugin_dialect;
use crate::primer;
use crate::providers;
use crate::quote;

const TOOLS: Tools = Tools {
    write: &["write", "edit", "multiedit"],
    read: &["read"],
    shell: &["bash"],
    patch: &["apply_patch", "patch"],
};

/// The variable with OpenCode's configuration for one run.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

const SERVER: JsonMember = JsonMember { of: "mcp", value: server };

pub struct OpenCode;

impl Dialect for OpenCode {
    fn kind(&self) -> &'static str {
        "opencode"
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

    fn write_answer(&self, _payload: &[u8], answer: &AskAnswer) -> Option<String> {
        Some(plugin_dialect::write_answer(answer))
    }
}

impl AgentCli for OpenCode {
    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn program(&self) -> &'static str {
        "opencode"
    }

    fn prompt_arguments(&self, prompt: &str) -> Vec<String> {
        vec![format!("--prompt={prompt}")]
    }

    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]> {
        match permissions {
            Permissions::Plan => Some(&["--agent", "plan"]),
            Permissions::Ask => Some(&[]),
            Permissions::Full => Some(&["--auto"]),
            Permissions::Edit => None,
        }
    }

    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand {
        headless::command(work)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(headless::Reader::default())
    }

    fn named_variables(&self, config_dir: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
        let files = ["opencode.json", "opencode.jsonc", "config.json"];
        let texts = files.iter().filter_map(|name| read(&config_dir.join(name)));
        texts.flat_map(|text| providers::in_opencode(&text)).collect()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        providers::KEYS
    }

    fn help_arguments(&self) -> &'static [&'static str] {
        &["run", "--help"]
    }

    fn screen(&self) -> &'static str {
        include_str!("screen.toml")
    }

    fn missing_abilities(&self) -> &'static [Ability] {
        &[Ability::HearsAtTheEnd, Ability::IsShielded]
    }

    fn marker_variables(&self) -> &'static [&'static str] {
        &["OPENCODE", "OPENCODE_PID"]
    }

    fn tried_with(&self) -> &'static str {
        "1.18.33"
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        let config = environment("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        config.join("opencode")
    }

    fn hooks(&self, level: Level<'_>) -> Insertion {
        let file = level.file("plugin/consort.js", ".opencode/plugin/consort.js");
        Insertion { purpose: InsertionContent::Hooks, file, format: InsertionFormat::Own(plugin) }
    }

    fn mcp(&self, level: Level<'_>, _: Environment<'_>) -> Option<Insertion> {
        let file = level.file("opencode.json", "opencode.json");
        Some(Insertion { purpose: InsertionContent::Mcp, file, format: InsertionFormat::JsonMember(SERVER) })
    }

    fn allow(&self, level: Level<'_>) -> Vec<Insertion> {
        let file = level.file("opencode.json", "opencode.json");
        vec![Insertion { purpose: InsertionContent::Allow, file, format: InsertionFormat::JsonPermissions }]
    }

    fn primer(&self, level: Level<'_>) -> Insertion {
        primer(level.file("AGENTS.md", "AGENTS.md"))
    }

    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError> {
        let mut run = RunSetup::default();
        let mut config = (once.environment)(CONTENT);
        if once.hooks {
            let file = run.write(once, "opencode.js", plugin(once.program));
            config = Some(with_plugin(config.as_deref(), &format!("file://{file}"))?);
        }
        if once.mcp {
            config = Some(SERVER.connect(config.as_deref(), once.program)?);
        }
        run.variables.extend(config.map(|config| (CONTENT, config)));
        if once.shield {
            let shell = run.write(once, "shell/bash", shell(once));
            run.variables.push((SHELL, shell));
        }
        Ok(run)
    }

    fn wake(&self, _config_dir: &Path, _agent: &Agent, activity: &Activity) -> bool {
        plugin_dialect::is_woken(activity)
    }
}

/// The variable with the program that OpenCode runs commands with, as `-c` and the command.
const SHELL: &str = "SHELL";

/// Writes a shell script that runs commands behind the shield. The commands see the person's own shell in
/// `SHELL`.
fn shell(once: &SingleRun<'_>) -> String {
    let theirs = (once.environment)(SHELL).filter(|shell| !shell.ends_with("/with/shell/bash"));
    let real = theirs.as_deref().filter(|shell| shell.ends_with("/bash") || shell.ends_with("/zsh"));
    let (real, program) = (quote(real.unwrap_or("/bin/bash")), quote(once.program));
    let own = theirs.map_or_else(|| "unset SHELL".to_owned(), |own| format!("SHELL={}", quote(&own)));
    format!(
        "#!/bin/sh\n{own}\n[ -x {program} ] && exec {program} shield -- {real} \"$@\"\nexec {real} \"$@\"\n"
    )
}

/// Adds a plugin to a configuration, unless it has the plugin already.
fn with_plugin(config: Option<&str>, plugin: &str) -> Result<String, SettingsError> {
    let config = config.filter(|config| !config.trim().is_empty()).unwrap_or("{}");
    let root = parse(config)?;
    let unexpected = || SettingsError::unexpected("the content", "an object");
    let object = root.object_value().ok_or_else(unexpected)?;
    let unexpected = || SettingsError::unexpected("`plugin`", "an array");
    let plugins = object.array_value_or_create("plugin").ok_or_else(unexpected)?;
    // A run that was started inside such a run has the plugin already.
    let is_plugin = |one: CstNode| one.to_serde_value().is_some_and(|one| one == plugin);
    if !plugins.elements().into_iter().any(is_plugin) {
        plugins.append(CstInputValue::String(plugin.to_owned()));
    }
    Ok(root.to_string())
}

fn server(program: &str) -> Value {
    json!({ "type": "local", "command": [program, "mcp"], "enabled": true })
}

fn plugin(program: &str) -> String {
    plugin_dialect::plugin_text(include_str!("plugin.js"), "opencode", program)
}
