//! The adapter for Claude Code. Behaviour as of 2.1.325.

mod headless;
pub(crate) mod hooks;
mod session_file;
mod shell;
mod wake;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::monitor::Permissions;
use consort_core::policy::AskAnswer;
use consort_core::presence::Activity;
use consort_core::presence::Agent;
use consort_core::presence::CliStatus;
use serde_json::json;

use crate::Ability;
use crate::AgentCli;
use crate::AliasFile;
use crate::Environment;
use crate::Headless;
use crate::HeadlessCommand;
use crate::HookEntries;
use crate::HookSwitch;
use crate::Insertion;
use crate::InsertionContent;
use crate::InsertionFormat;
use crate::JsonList;
use crate::JsonMember;
use crate::Level;
use crate::OutputReader;
use crate::RunSetup;
use crate::SettingsError;
use crate::ShellPrefix;
use crate::SingleRun;
use crate::allow;
use crate::hook_switch;
use crate::json_settings::parse;
use crate::permission;
use crate::plugin_file;
use crate::server;
use crate::shell_prefix;

/// The events that we register hooks for; the rest of Claude Code's thirty-odd events add nothing new.
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

const ENTRIES: HookEntries = HookEntries {
    kind: "claude",
    events: EVENTS,
    seconds: 1,
    patience: 630,
    is_strict: false,
    has_names: false,
    off_switch: Some("disableAllHooks"),
};

/// Writes the primer as a skill, because only a skill's description is in every session's context.
fn skill(_program: &str) -> String {
    format!(
        "---\nname: consort\ndescription: \"How to work with the other coding agents of this project: see them, \
         talk to them, reserve what you change.\"\n---\n<!-- {} -->\n\n{}",
        plugin_file::NOTICE,
        consort_core::primer::for_shells()
    )
}

/// The file name of the script that Claude Code's commands run through.
const SHELL: &str = "consort-shell";

/// The variable that names Claude Code's configuration directory.
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

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

    fn write_answer(&self, payload: &[u8], answer: &AskAnswer) -> Option<String> {
        permission::nested(payload, answer, true)
    }
}

impl AgentCli for Claude {
    fn is_attended(&self, environment: Environment<'_>) -> bool {
        environment("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entrance| entrance == "cli")
    }

    fn alias_file(&self) -> Option<AliasFile> {
        Some(|variable, names| {
            let directory = variable(CONFIG_DIR).map(PathBuf::from);
            let directory = directory.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".claude")))?;
            let directory = directory.join("shell-snapshots");
            Some(directory.join(shell::newest_snapshot(names(&directory)?)?))
        })
    }

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

    fn prompt_arguments(&self, prompt: &str) -> Vec<String> {
        crate::after_dashes(prompt)
    }

    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]> {
        match permissions {
            Permissions::Plan => Some(&["--permission-mode", "plan"]),
            Permissions::Ask => Some(&["--permission-mode", "default"]),
            Permissions::Edit => Some(&["--permission-mode", "acceptEdits"]),
            Permissions::Full => Some(&["--permission-mode", "bypassPermissions"]),
        }
    }

    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand {
        headless::command(work)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(headless::Reader::default())
    }

    /// Includes the variables that select a cloud provider instead of Anthropic. Credentials for a whole
    /// cloud account are left out: a person has to name those.
    fn key_variables(&self) -> &'static [&'static str] {
        &[
            "ANTHROPIC_*",
            "CLAUDE_*",
            "DISABLE_*",
            "MAX_THINKING_TOKENS",
            "API_TIMEOUT_MS",
            "BASH_DEFAULT_TIMEOUT_MS",
            "BASH_MAX_TIMEOUT_MS",
            "MCP_TIMEOUT",
            "MCP_TOOL_TIMEOUT",
            "IS_SANDBOX",
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_PROFILE",
            "AWS_REGION",
            "CLOUD_ML_REGION",
            "VERTEX_REGION_*",
        ]
    }

    fn hidden_flags(&self) -> &'static [&'static str] {
        &["--max-turns", "--append-system-prompt-file", "--system-prompt-file", "--permission-prompt-tool"]
    }

    fn screen(&self) -> &'static str {
        include_str!("screen.toml")
    }

    fn missing_abilities(&self) -> &'static [Ability] {
        &[]
    }

    fn marker_variables(&self) -> &'static [&'static str] {
        &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"]
    }

    fn tried_with(&self) -> &'static str {
        "2.1.325"
    }

    fn hook_switches(&self, config_dir: &Path, worktree: &Path) -> Vec<HookSwitch> {
        let project = worktree.join(".claude");
        let files = [
            config_dir.join("settings.json"),
            project.join("settings.json"),
            project.join("settings.local.json"),
        ];
        let managed = hook_switch::of_system(
            "/etc/claude-code/managed-settings.json",
            "/Library/Application Support/ClaudeCode/managed-settings.json",
        );
        let mut all = hook_switch::switches(files, |text| hook_switch::flag_if_true(text, "disableAllHooks"));
        all.extend(hook_switch::switches([managed], |text| {
            ["disableAllHooks", "allowManagedHooksOnly"]
                .into_iter()
                .find_map(|name| hook_switch::flag_if_true(text, name))
        }));
        all
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        environment(CONFIG_DIR).map_or_else(|| home.join(".claude"), PathBuf::from)
    }

    fn hooks(&self, level: Level<'_>) -> Insertion {
        let file = level.file("settings.json", ".claude/settings.json");
        Insertion { purpose: InsertionContent::Hooks, file, format: InsertionFormat::Hooks(ENTRIES) }
    }

    /// Claude Code keeps `.claude.json` beside its configuration directory, but inside it if the person has
    /// set `CLAUDE_CONFIG_DIR`, even to the default directory.
    fn mcp(&self, level: Level<'_>, environment: Environment<'_>) -> Option<Insertion> {
        let file = match level {
            Level::User(dir) if environment(CONFIG_DIR).is_none() => dir.with_file_name(".claude.json"),
            level => level.file(".claude.json", ".mcp.json"),
        };
        let format = InsertionFormat::JsonMember(JsonMember { of: "mcpServers", value: server });
        Some(Insertion { purpose: InsertionContent::Mcp, file, format })
    }

    fn primer(&self, level: Level<'_>) -> Insertion {
        let file = level.file("skills/consort/SKILL.md", ".claude/skills/consort/SKILL.md");
        Insertion { purpose: InsertionContent::Primer, file, format: InsertionFormat::Own(skill) }
    }

    fn allow(&self, level: Level<'_>) -> Vec<Insertion> {
        let list = JsonList { of: "permissions", name: "allow", items: allow::claude };
        let file = level.file("settings.json", ".claude/settings.json");
        vec![Insertion { purpose: InsertionContent::Allow, file, format: InsertionFormat::JsonList(list) }]
    }

    /// Adds a script beside the settings, and the setting that names it.
    fn shield(&self, level: Level<'_>) -> Vec<Insertion> {
        let Level::User(dir) = level else { return Vec::new() };
        let program = dir.join(SHELL);
        // Claude Code treats everything after the last ` -` as arguments.
        if program.to_string_lossy().contains(" -") {
            return Vec::new();
        }
        let insertion = |file, format| Insertion { purpose: InsertionContent::Shield, file, format };
        vec![
            insertion(program.clone(), InsertionFormat::Own(shell::script)),
            insertion(dir.join("settings.json"), InsertionFormat::ShellPrefix(ShellPrefix { program })),
        ]
    }

    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError> {
        let mut run = RunSetup::default();
        if once.hooks {
            let settings = settings(once, &mut run.replaced)?;
            run.argue(["--settings".to_owned(), settings]);
        }
        if once.shield {
            let program = run.write(once, SHELL, shell::script(once.program));
            run.variables.extend(shell_prefix::variables(program, once.environment));
        }
        if once.mcp {
            // With the value as a separate word, Claude Code would read the words after it as further
            // configurations.
            let servers = json!({ "mcpServers": { "consort": server(once.program) } });
            run.argue([format!("--mcp-config={servers}")]);
        }
        Ok(run)
    }

    fn command_in(&self, script: &str) -> Option<String> {
        shell::command_in(script)
    }

    fn wake(&self, config_dir: &Path, agent: &Agent, activity: &Activity) -> bool {
        wake::wake(config_dir, agent, activity)
    }

    fn cli_status(&self, config_dir: &Path, agent: &Agent) -> Option<CliStatus> {
        session_file::SessionFile::read(config_dir, agent).and_then(session_file::SessionFile::state)
    }
}

/// Returns our hooks as settings for one run. Of several `--settings` Claude Code takes the last, so the
/// person's own become part of ours.
fn settings(once: &SingleRun<'_>, replaced: &mut Vec<usize>) -> Result<String, SettingsError> {
    const FLAG: &str = "--settings";
    let mut theirs = None;
    let options = once.arguments.iter().take_while(|word| *word != "--").enumerate();
    for (at, word) in options {
        if let Some(value) = word.strip_prefix(FLAG).and_then(|rest| rest.strip_prefix('=')) {
            theirs = Some(value);
            replaced.push(at);
        } else if word == FLAG {
            theirs = once.arguments.get(at + 1).map(String::as_str);
            replaced.extend([at, at + 1]);
        }
    }
    let Some(theirs) = theirs else { return Ok(ENTRIES.alone(once.program).to_string()) };
    let is_inline = theirs.trim_start().starts_with('{');
    let text = if is_inline { Some(theirs.to_owned()) } else { (once.read)(Path::new(theirs)) };
    // Claude Code itself reports a file that cannot be read.
    let Some(text) = text else { return Ok(theirs.to_owned()) };
    let both = InsertionFormat::Hooks(ENTRIES).connect(Some(&text), once.program)?;
    // Claude Code may accept comments in a file, but not in an argument.
    let plain = parse(both.trim_start_matches('\u{feff}'))?.to_serde_value();
    Ok(plain.map_or(both, |plain| plain.to_string()))
}
