//! The adapter for Gemini CLI. Behaviour as of 0.61.0.
//!
//! A hook whose program is missing blocks every tool in Gemini CLI, so our hooks' command line looks for the
//! program first.

mod headless;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;
use consort_core::monitor::Permissions;
use consort_core::text;

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
use crate::JsonMember;
use crate::Level;
use crate::OutputReader;
use crate::RunSetup;
use crate::SettingsError;
use crate::SingleRun;
use crate::allow;
use crate::hook_switch;
use crate::payload::Payload;
use crate::payload::Tools;
use crate::payload::met_read_only;
use crate::primer;
use crate::reply;
use crate::server;

/// The events that we register hooks for, without those that fire with every piece of an answer.
const EVENTS: &[&str] =
    &["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "Notification", "SessionEnd"];

const TOOLS: Tools = Tools {
    write: &["write_file", "replace", "edit"],
    read: &["read_file"],
    shell: &["run_shell_command"],
    patch: &[],
};

/// Our hooks in Gemini's settings, which give timeouts in milliseconds.
const ENTRIES: HookEntries = HookEntries {
    kind: "gemini",
    events: EVENTS,
    seconds: 1_000,
    patience: crate::hook_entries::TIMEOUT,
    is_strict: false,
    has_names: true,
    off_switch: None,
};

const SERVER: JsonMember = JsonMember { of: "mcpServers", value: server };

const SETTINGS: &str = "settings.json";

/// The name of Gemini's configuration directory, below a home.
const OWN: &str = ".gemini";

/// The variable that names the home above Gemini's configuration directory.
const HOME: &str = "GEMINI_CLI_HOME";

pub struct Gemini;

impl Dialect for Gemini {
    fn kind(&self) -> &'static str {
        "gemini"
    }

    fn read(&self, event: &str, payload: &[u8]) -> Option<HookCall> {
        let (met_read_only, mut repaired) = (met_read_only(payload), Vec::new());
        let mut payload = Payload::parse(payload, &mut repaired)?;
        let event = match event {
            "SessionStart" => {
                // An answer to the session start after `/clear` or `--resume` does not reach the model.
                let is_heard = payload.is_fresh_start();
                match payload.session_start(Replaces::Nobody) {
                    HookEvent::SessionStart { replaces, .. } => {
                        HookEvent::SessionStart { replaces, is_heard }
                    }
                    other => other,
                }
            }
            "BeforeAgent" => HookEvent::Prompt(prompt(&payload.prompt.0.take().unwrap_or_default())),
            "BeforeTool" => HookEvent::ToolBefore(payload.tool(&TOOLS)?),
            "AfterTool" => HookEvent::ToolAfter {
                failed: payload.has_failed(),
                met_read_only,
                tool: payload.tool(&TOOLS).unwrap_or_default(),
            },
            "Notification" => {
                HookEvent::Waiting(payload.message.0.take().unwrap_or_else(|| "your attention".into()))
            }
            "AfterAgent" => payload.turn_end(),
            "SessionEnd" => payload.session_end(),
            _ => return None,
        };
        payload.call(event)
    }

    fn hears_before_tools(&self) -> bool {
        false
    }

    fn write(&self, event: &str, reply: &HookReply) -> Option<String> {
        match reply {
            HookReply::Deny(reason) | HookReply::GoOn(reason) => reply::decision("deny", reason),
            HookReply::Ask(reason) => reply::decision("ask", reason),
            reply => reply::nested(event, reply),
        }
    }
}

/// Returns the prompt as the person wrote it: Gemini puts our own context from the start of the session in
/// front of it.
fn prompt(prompt: &str) -> String {
    const END: &str = "</hook_context>";
    let own = prompt.find(END).filter(|_| prompt.starts_with("<hook_context>"));
    own.map_or(prompt, |at| prompt[at + END.len()..].trim_start()).to_owned()
}

/// Returns the home, below our own directory, for runs that link to `config_dir`: one for each `config_dir`,
/// so that files saved there belong to it alone.
fn home(dir: &Path, config_dir: &Path) -> PathBuf {
    dir.join(format!("gemini-{:016x}", text::stable_hash(config_dir.as_os_str().as_encoded_bytes())))
}

fn settings(level: Level<'_>) -> PathBuf {
    level.file(SETTINGS, ".gemini/settings.json")
}

impl AgentCli for Gemini {
    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn program(&self) -> &'static str {
        "gemini"
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("GEMINI_SESSION_ID")
    }

    fn prompt_arguments(&self, prompt: &str) -> Vec<String> {
        vec![format!("--prompt-interactive={prompt}")]
    }

    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]> {
        match permissions {
            Permissions::Plan => Some(&["--approval-mode", "plan"]),
            Permissions::Ask => Some(&["--approval-mode", "default"]),
            Permissions::Edit => Some(&["--approval-mode", "auto_edit"]),
            Permissions::Full => Some(&["--approval-mode", "yolo"]),
        }
    }

    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand {
        headless::command(work)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(headless::Reader::default())
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &[
            "GEMINI_*",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_LOCATION",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_CLOUD_PROJECT_ID",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_GENAI_USE_GCA",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_VERTEX_BASE_URL",
        ]
    }

    fn screen(&self) -> &'static str {
        include_str!("screen.toml")
    }

    fn missing_abilities(&self) -> &'static [Ability] {
        &[Ability::TellsItsModel, Ability::IsWoken, Ability::IsShielded]
    }

    fn marker_variables(&self) -> &'static [&'static str] {
        &["GEMINI_CLI", "GEMINI_SESSION_ID"]
    }

    fn tried_with(&self) -> &'static str {
        "0.61.0"
    }

    fn hook_switches(&self, config_dir: &Path, worktree: &Path) -> Vec<HookSwitch> {
        let system = hook_switch::of_system(
            "/etc/gemini-cli/settings.json",
            "/Library/Application Support/GeminiCli/settings.json",
        );
        let files = [config_dir.join(SETTINGS), worktree.join(OWN).join(SETTINGS), system];
        hook_switch::switches(files, |text| {
            if hook_switch::json_at(text, &["hooksConfig", "enabled"]).is_some_and(|on| on == false) {
                return Some("hooksConfig.enabled");
            }
            // Single hooks are switched off by their names.
            let off = hook_switch::json_at(text, &["hooksConfig", "disabled"])?;
            off.as_array()?.iter().any(|name| name == "consort").then_some("hooksConfig.disabled")
        })
    }

    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf {
        let home = environment(HOME).map_or_else(|| home.to_owned(), PathBuf::from);
        home.join(OWN)
    }

    fn hooks(&self, level: Level<'_>) -> Insertion {
        Insertion {
            purpose: InsertionContent::Hooks,
            file: settings(level),
            format: InsertionFormat::Hooks(ENTRIES),
        }
    }

    fn mcp(&self, level: Level<'_>, _: Environment<'_>) -> Option<Insertion> {
        Some(Insertion {
            purpose: InsertionContent::Mcp,
            file: settings(level),
            format: InsertionFormat::JsonMember(SERVER),
        })
    }

    /// Only for the user: Gemini reads no policies of a project.
    fn allow(&self, level: Level<'_>) -> Vec<Insertion> {
        let Level::User(dir) = level else { return Vec::new() };
        let file = dir.join("policies/consort.toml");
        vec![Insertion {
            purpose: InsertionContent::Allow,
            file,
            format: InsertionFormat::Own(allow::gemini),
        }]
    }

    fn primer(&self, level: Level<'_>) -> Insertion {
        primer(level.file("GEMINI.md", "GEMINI.md"))
    }

    /// Makes a home of ours in which everything links to Gemini's own files, except the settings. System
    /// settings could be given for one run, but have to belong to root.
    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError> {
        let mut settings = (once.read)(&once.config_dir.join(SETTINGS));
        if once.hooks {
            settings = Some(InsertionFormat::Hooks(ENTRIES).connect(settings.as_deref(), once.program)?);
        }
        if once.mcp {
            settings = Some(InsertionFormat::JsonMember(SERVER).connect(settings.as_deref(), once.program)?);
        }
        let mut run = RunSetup::default();
        // A run that was started inside such a run has our home already.
        let is_at_home = once.config_dir.starts_with(once.dir);
        if is_at_home && !once.hooks && !once.mcp {
            return Ok(run);
        }
        let ours = match is_at_home {
            true => once.config_dir.to_owned(),
            false => home(once.dir, once.config_dir).join(OWN),
        };
        if !is_at_home {
            let link = |path: PathBuf| Some((ours.join(path.file_name()?), path));
            let others = (once.list)(once.config_dir).into_iter().filter(|path| !path.ends_with(SETTINGS));
            run.links.extend(others.filter_map(link));
        }
        run.files.push((ours.join(SETTINGS), settings.unwrap_or_else(|| "{}".into())));
        let home = ours.parent().unwrap_or(once.dir);
        run.variables.push((HOME, home.to_string_lossy().into_owned()));
        Ok(run)
    }

    /// Gemini saves some files by replacing them, so the new files stay in our home instead of its own.
    fn saved(&self, dir: &Path, config_dir: &Path) -> Option<(PathBuf, &'static str)> {
        Some((home(dir, config_dir).join(OWN), SETTINGS))
    }
}
