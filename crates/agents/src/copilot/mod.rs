//! The adapter for Copilot CLI. Behaviour as of 1.0.102.
//!
//! Copilot reads every file in its directory of hooks, so our hooks have a file of their own. A hook that
//! fails blocks every tool in Copilot: so our hooks' command line always succeeds.

mod headless;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::Dialog;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;
use consort_core::monitor::Permissions;
use consort_core::policy::AskAnswer;
use consort_core::presence::Agent;
use consort_core::presence::CliStatus;
use serde_json::Value;
use serde_json::json;

use crate::Ability;
use crate::AgentCli;
use crate::Environment;
use crate::Headless;
use crate::HeadlessCommand;
use crate::HookSwitch;
use crate::Insertion;
use crate::InsertionContent;
use crate::InsertionFormat;
use crate::JsonMember;
use crate::Level;
use crate::OutputReader;
use crate::RunSetup;
use crate::SettingsError;
use crate::SingleRun;
use crate::hook_entries::TIMEOUT;
use crate::hook_entries::hook_command;
use crate::hook_switch;
use crate::payload::Payload;
use crate::payload::Tools;
use crate::payload::met_read_only;
use crate::permission;
use crate::plugin_file;
use crate::primer;
use crate::reply;
use crate::session_log;

const EVENTS: &[&str] = &[
    "sessionStart",
    "userPromptSubmitted",
    "preToolUse",
    "permissionRequest",
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

    fn read(&self, event: &str, bytes: &[u8]) -> Option<HookCall> {
        let (met_read_only, mut repaired) = (met_read_only(bytes), Vec::new());
        let mut payload = Payload::parse(bytes, &mut repaired)?;
        let event = match event {
            "sessionStart" => payload.session_start(Replaces::TheLastIfAlone),
            "userPromptSubmitted" => HookEvent::Prompt(payload.prompt.0.take().unwrap_or_default()),
            "preToolUse" => HookEvent::ToolBefore(payload.tool(&TOOLS)?),
            "postToolUse" => HookEvent::ToolAfter {
                failed: payload.has_failed(),
                met_read_only,
                tool: payload.tool(&TOOLS).unwrap_or_default(),
            },
            // Fires for every tool; the notification fires only when the person is asked.
            "permissionRequest" => permission::asked(payload.tool(&TOOLS)?, bytes, Dialog::MayNotCome),
            "notification" if payload.notification_type.is("permission_prompt") => payload.permission(),
            "agentStop" => payload.turn_end(),
            "errorOccurred" if !payload.recoverable.is("true") => HookEvent::TurnFailed("an error".into()),
            // Copilot sends the same event after `/clear`. When the session really ends, so does its process.
            "sessionEnd" => HookEvent::SessionEnd { is_replaced: true },
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

    fn write_answer(&self, payload: &[u8], answer: &AskAnswer) -> Option<String> {
        permission::decision(payload, answer, false).map(|decision| decision.to_string())
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

    fn prompt_arguments(&self, prompt: &str) -> Vec<String> {
        vec![format!("--interactive={prompt}")]
    }

    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]> {
        match permissions {
            Permissions::Plan => Some(&["--mode", "plan"]),
            Permissions::Ask => Some(&[]),
            Permissions::Edit => Some(&["--allow-tool=write"]),
            Permissions::Full => Some(&["--yolo"]),
        }
    }

    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand {
        headless::command(work)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(headless::Reader::default())
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["COPILOT_*", "GITHUB_TOKEN", "GH_TOKEN", "GH_HOST"]
    }

    fn screen(&self) -> &'static str {
        include_str!("screen.toml")
    }

    fn missing_abilities(&self) -> &'static [Ability] {
        &[Ability::TellsItsModel, Ability::IsWoken, Ability::IsShielded]
    }

    fn marker_variables(&self) -> &'static [&'static str] {
        &["COPILOT_AGENT_SESSION_ID", "COPILOT_CLI"]
    }

    fn tried_with(&self) -> &'static str {
        "1.0.102"
    }

    fn hook_switches(&self, config_dir: &Path, worktree: &Path) -> Vec<HookSwitch> {
        let project = worktree.join(".github/copilot");
        let files = [
            config_dir.join("settings.json"),
            project.join("settings.json"),
            project.join("settings.local.json"),
        ];
        hook_switch::switches(files, |text| hook_switch::flag_if_true(text, "disableAllHooks"))
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        environment("COPILOT_HOME").map_or_else(|| home.join(".copilot"), PathBuf::from)
    }

    /// Read from Copilot's log, because no hook fires when a turn is interrupted.
    fn cli_status(&self, config_dir: &Path, agent: &Agent) -> Option<CliStatus> {
        let log = format!("session-state/{}/events.jsonl", agent.session.path_part());
        session_log::idle(&config_dir.join(log), |event| match event["type"].as_str()? {
            "abort" | "session.error" => Some(true),
            // The prompt was withdrawn before there was an answer.
            "session.usage_checkpoint" if event["data"].to_string().contains("\"rewind\"") => Some(true),
            "user.message" | "assistant.turn_start" | "tool.execution_start" => Some(false),
            _ => None,
        })
    }

    fn hooks(&self, level: Level<'_>) -> Insertion {
        let file = level.file("hooks/consort.json", ".github/hooks/consort.json");
        Insertion { purpose: InsertionContent::Hooks, file, format: InsertionFormat::Own(file_of_hooks) }
    }

    fn mcp(&self, level: Level<'_>, _: Environment<'_>) -> Option<Insertion> {
        let Level::User(config_dir) = level else { return None };
        let format = InsertionFormat::JsonMember(JsonMember { of: "mcpServers", value: server });
        Some(Insertion { purpose: InsertionContent::Mcp, file: config_dir.join("mcp-config.json"), format })
    }

    fn primer(&self, level: Level<'_>) -> Insertion {
        primer(level.file("copilot-instructions.md", "AGENTS.md"))
    }

    /// For one run, hooks are passed as a plugin, which is a directory.
    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError> {
        let mut run = RunSetup::default();
        if once.hooks {
            let about = json!({ "name": "consort", "version": "1.0.0", "hooks": "hooks.json" });
            run.write(once, "copilot/plugin.json", about.to_string());
            run.write(once, "copilot/hooks.json", file_of_hooks(once.program));
            let dir = once.dir.join("copilot").to_string_lossy().into_owned();
            run.argue(["--plugin-dir".to_owned(), dir]);
        }
        if once.mcp {
            let servers = json!({ "mcpServers": { "consort": server(once.program) } });
            run.argue(["--additional-mcp-config".to_owned(), servers.to_string()]);
        }
        Ok(run)
    }
}

fn server(program: &str) -> Value {
    json!({ "type": "local", "command": program, "args": ["mcp"], "tools": ["*"] })
}

fn file_of_hooks(program: &str) -> String {
    let hook = |event: &&str| {
        let command = hook_command(program, "copilot", event, true);
        // The third hook for every tool: a shorter limit, so that all three together delay no tool for long.
        let timeout = if *event == "permissionRequest" { 3 } else { TIMEOUT };
        ((*event).to_owned(), json!([{ "type": "command", "bash": command, "timeoutSec": timeout }]))
    };
    let hooks: serde_json::Map<String, Value> = EVENTS.iter().map(hook).collect();
    let file = json!({ "version": 1, "comment": plugin_file::NOTICE, "hooks": hooks });
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}
