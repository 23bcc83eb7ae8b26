//! The adapter for Codex. Behaviour as of 0.166.0.
//!
//! Codex has Claude Code's hooks, with other names for its tools. It asks the person to review hooks, and
//! runs none that were not reviewed.

mod headless;
mod run_log;
mod trust;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::Dialog;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;
use consort_core::monitor::Permissions;
use consort_core::policy::AskAnswer;
use consort_core::presence::Agent;
use consort_core::presence::CliStatus;
use consort_core::presence::SessionId;
use serde_json::Value;

use crate::Ability;
use crate::AgentCli;
use crate::Environment;
use crate::Headless;
use crate::HeadlessCommand;
use crate::HookEntries;
use crate::HookSwitch;
use crate::Insertion;
use crate::InsertionContent;
use crate::InsertionFormat;
use crate::Level;
use crate::OutputReader;
use crate::RunSetup;
use crate::SettingsError;
use crate::SingleRun;
use crate::TomlTable;
use crate::allow;
use crate::claude::hooks;
use crate::hook_entries::NAME;
use crate::hook_switch;
use crate::payload::Tools;
use crate::permission;
use crate::primer;
use crate::providers;
use crate::reply;
use crate::session_log;

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

const ENTRIES: HookEntries = HookEntries {
    kind: "codex",
    events: EVENTS,
    seconds: 1,
    patience: 130,
    is_strict: false,
    has_names: false,
    off_switch: None,
};

/// Returns the settings of our MCP server. Codex passes almost none of its environment to a server, except
/// the variables that `env_vars` names.
fn server(program: &str) -> String {
    let program = Value::from(program);
    format!(
        "command = {program}\nargs = [\"mcp\"]\nenv_vars = [\"CONSORT_HOME\", \"XDG_DATA_HOME\", \"XDG_CONFIG_HOME\"]\n"
    )
}

/// Our MCP server in `config.toml`. By default Codex would ask before each of our tools, and refuse where
/// nobody can answer.
const SERVER: TomlTable = TomlTable { of: "mcp_servers", lines: server, tools: allow::codex_tools };

fn config(level: Level<'_>) -> PathBuf {
    level.file("config.toml", ".codex/config.toml")
}

/// Turns `SessionStart` into `session_start`.
fn snake_case(name: &str) -> String {
    let one = |(at, letter): (usize, char)| {
        let gap = if at > 0 && letter.is_uppercase() { "_" } else { "" };
        format!("{gap}{}", letter.to_ascii_lowercase())
    };
    name.chars().enumerate().map(one).collect()
}

/// Writes a JSON value as an inline TOML value.
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

/// Finds Codex's log of a session, `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, by the day on
/// which the session began. The session's id has that time in it.
fn rollout(config_dir: &Path, session: &str) -> Option<PathBuf> {
    let hex: String = session.chars().filter(|character| *character != '-').take(12).collect();
    let day = i64::from_str_radix(&hex, 16).ok()? / 86_400_000;
    let name = format!("-{session}.jsonl");
    // The id's time is in UTC, but the directory has the local date.
    [day, day - 1, day + 1].into_iter().find_map(|day| {
        let (year, month, day) = date(day);
        let dir = config_dir.join(format!("sessions/{year:04}/{month:02}/{day:02}"));
        let files = std::fs::read_dir(dir).ok()?.flatten();
        files.map(|file| file.path()).find(|path| path.to_string_lossy().ends_with(&name))
    })
}

/// Returns the year, month and day of a day that is counted from 1970. The calculation begins years with
/// March, so that a leap day comes last.
fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let is_next = month >= 10;
    let month_of_year = if is_next { month - 9 } else { month + 3 };
    (year + era * 400 + i64::from(is_next), month_of_year, of_year - (153 * month + 2) / 5 + 1)
}

pub struct Codex;

impl Dialect for Codex {
    fn kind(&self) -> &'static str {
        "codex"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        // `/new` sends the same event as any other start of a session.
        hooks::read_with(event, payload, &TOOLS, Replaces::TheLastIfAlone, Dialog::IsHidden)
    }

    fn write(&self, event: &str, reply: &HookReply) -> Option<String> {
        match reply {
            HookReply::GoOn(text) => reply::decision("block", text),
            // A hook cannot make Codex ask first.
            HookReply::Ask(_) => None,
            reply => reply::nested(event, reply),
        }
    }

    fn write_answer(&self, payload: &[u8], answer: &AskAnswer) -> Option<String> {
        permission::nested(payload, answer, false)
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

    /// A process of Codex's app server has many sessions.
    fn has_one_session(&self, command_line: &str) -> bool {
        !command_line.contains("app-server")
    }

    fn prompt_arguments(&self, prompt: &str) -> Vec<String> {
        crate::after_dashes(prompt)
    }

    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]> {
        match permissions {
            Permissions::Plan | Permissions::Ask => {
                Some(&["--sandbox", "read-only", "--ask-for-approval", "on-request"])
            }
            Permissions::Edit => Some(&["--sandbox", "workspace-write", "--ask-for-approval", "on-request"]),
            Permissions::Full => Some(&["--dangerously-bypass-approvals-and-sandbox"]),
        }
    }

    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand {
        headless::command(work)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(headless::Reader::default())
    }

    fn named_variables(&self, config_dir: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
        read(&config_dir.join("config.toml")).map(|text| providers::in_codex(&text)).unwrap_or_default()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["OPENAI_*", "CODEX_*", "AZURE_OPENAI_API_KEY"]
    }

    fn help_arguments(&self) -> &'static [&'static str] {
        &["exec", "--help"]
    }

    fn screen(&self) -> &'static str {
        include_str!("screen.toml")
    }

    fn missing_abilities(&self) -> &'static [Ability] {
        &[Ability::IsShielded]
    }

    fn wake_arguments(&self, session: &SessionId, text: &str) -> Option<Vec<String>> {
        // The session's terminal takes the message within seconds, with and without Codex's daemon.
        Some(vec!["queue".into(), format!("--thread={session}"), format!("--message={text}")])
    }

    fn marker_variables(&self) -> &'static [&'static str] {
        &["CODEX_SANDBOX", "CODEX_THREAD_ID"]
    }

    fn tried_with(&self) -> &'static str {
        "0.166.0"
    }

    fn hook_switches(&self, config_dir: &Path, worktree: &Path) -> Vec<HookSwitch> {
        let files = [
            config_dir.join("config.toml"),
            worktree.join(".codex/config.toml"),
            PathBuf::from("/etc/codex/config.toml"),
        ];
        let mut all = hook_switch::switches(files, |text| {
            let is_off = |name: &&str| hook_switch::toml_flag(text, Some("features"), name) == Some(false);
            ["hooks", "codex_hooks"].iter().find(|name| is_off(name)).map(|_| "features.hooks")
        });
        let required = ["/etc/codex/requirements.toml", "/etc/codex/managed_config.toml"].map(PathBuf::from);
        all.extend(hook_switch::switches(required, |text| {
            let only = "allow_managed_hooks_only";
            hook_switch::toml_flag(text, None, only)?.then_some(only)
        }));
        all
    }

    /// Codex records the review of a hook under the hook's place in the file: `<file>:session_start:0:0`.
    fn unreviewed(&self, level: Level<'_>, read: &dyn Fn(&Path) -> Option<String>) -> Option<usize> {
        let Level::User(dir) = level else { return None };
        let hooks = self.hooks(level).file;
        let config = read(&dir.join("config.toml")).unwrap_or_default();
        let config = toml_edit::Document::parse(config.as_str()).ok()?;
        let reviewed = config.get("hooks").and_then(|hooks| hooks.get("state"));
        let reviewed = reviewed.and_then(|state| state.as_table_like());
        let is_reviewed = |event: &&&str| {
            let place = format!("{}:{}:", hooks.display(), snake_case(event));
            let is_it = |(key, state): (&str, &toml_edit::Item)| {
                key.starts_with(&place) && state.get("trusted_hash").is_some()
            };
            reviewed.is_some_and(|reviewed| reviewed.iter().any(is_it))
        };
        Some(EVENTS.iter().filter(|event| !is_reviewed(event)).count())
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        environment("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from)
    }

    fn hooks(&self, level: Level<'_>) -> Insertion {
        let file = level.file("hooks.json", ".codex/hooks.json");
        Insertion { purpose: InsertionContent::Hooks, file, format: InsertionFormat::Hooks(ENTRIES) }
    }

    fn mcp(&self, level: Level<'_>, _: Environment<'_>) -> Option<Insertion> {
        let format = InsertionFormat::TomlTable(SERVER);
        Some(Insertion { purpose: InsertionContent::Mcp, file: config(level), format })
    }

    /// Commands that a rule allows run outside Codex's sandbox, so they can write the store.
    fn allow(&self, level: Level<'_>) -> Vec<Insertion> {
        let rules = level.file("rules/consort.rules", ".codex/rules/consort.rules");
        let insertion = |file, format| Insertion { purpose: InsertionContent::Allow, file, format };
        vec![
            insertion(rules, InsertionFormat::Own(allow::codex)),
            insertion(config(level), InsertionFormat::TomlTools(SERVER)),
        ]
    }

    fn primer(&self, level: Level<'_>) -> Insertion {
        primer(level.file("AGENTS.md", "AGENTS.md"))
    }

    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError> {
        let mut run = RunSetup::default();
        // Without a terminal, Codex asks nobody to review hooks, and runs none that were not reviewed.
        let is_alone = once.arguments.first().is_some_and(|word| word == "exec");
        let events = match once.hooks {
            true => EVENTS.to_vec(),
            false if is_alone => {
                let files = [Level::User(once.config_dir), Level::Project(once.worktree)];
                let config = (once.read)(&config(files[0])).unwrap_or_default();
                let files = files.map(|level| self.hooks(level).file);
                trust::unreviewed(&files, &[once.program, NAME], &config)
            }
            false => Vec::new(),
        };
        let hooks = ENTRIES.alone(once.program);
        for event in &events {
            run.argue(["-c".to_owned(), format!("hooks.{event}={}", inline(&hooks["hooks"][event]))]);
        }
        if is_alone && !events.is_empty() {
            run.argue(["-c".to_owned(), trust::reviewed_argument(once.program, &events)]);
        }
        if once.mcp {
            let tools = format!("tools = {}\n", allow::codex_tools());
            for line in (server(once.program) + &tools).lines() {
                run.argue(["-c".to_owned(), format!("mcp_servers.consort.{line}")]);
            }
        }
        Ok(run)
    }

    /// Read from Codex's log, because no hook fires when a turn is interrupted or fails.
    fn cli_status(&self, config_dir: &Path, agent: &Agent) -> Option<CliStatus> {
        session_log::idle(&rollout(config_dir, agent.session.as_str())?, |event| {
            match event["payload"]["type"].as_str()? {
                "turn_aborted" | "task_complete" => Some(true),
                "task_started" => Some(false),
                _ => None,
            }
        })
    }

    fn advice(&self) -> Option<&'static str> {
        Some("Codex runs hooks only once you have reviewed them: start `codex`, and agree when it asks.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_date() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_773), (2026, 11, 16));
        assert_eq!(date(20_819), (2027, 1, 1));
    }

    #[test]
    fn a_session_is_found_by_its_id() {
        let home = tempfile::tempdir().unwrap();
        let id = "01a1e3ac-c6cf-74d0-8de0-e0759162b581";
        assert_eq!(rollout(home.path(), id), None);
        let dir = home.path().join("sessions/2026/11/16");
        std::fs::create_dir_all(&dir).unwrap();
        let log = dir.join(format!("rollout-2026-11-16T09-25-13-{id}.jsonl"));
        std::fs::write(&log, "").unwrap();
        assert_eq!(rollout(home.path(), id), Some(log));
        assert_eq!(rollout(home.path(), "../../x"), None);
    }
}
