//! Runs the real agent CLIs (except Claude Code) in tests, as `scripts/test-tools` installs them,
//! each in a sealed world with a scripted model.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use serde_json::json;

use crate::Sealed;
use crate::Step;
use crate::StubModel;

/// A real agent CLI other than Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealAgent {
    Codex,
    Gemini,
    OpenCode,
    Pi,
    Copilot,
}

impl RealAgent {
    pub const ALL: [Self; 5] = [Self::Codex, Self::Gemini, Self::OpenCode, Self::Pi, Self::Copilot];

    pub fn kind(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
            Self::Copilot => "copilot",
        }
    }

    /// Returns the model that the real CLI under test is told to use.
    pub fn model(self) -> &'static str {
        match self {
            Self::Codex => "gpt-5.5",
            Self::Gemini => "gemini-2.5-pro",
            Self::OpenCode | Self::Pi => "stub-model",
            Self::Copilot => "claude-sonnet-4.5",
        }
    }

    /// Tells whether the CLI could not be installed here, and prints that loudly.
    pub fn is_out_of_reach(self) -> bool {
        let is_out = tools().join(self.kind()).join("unreachable").exists();
        if is_out {
            let mut stderr = std::io::stderr();
            let _ = std::io::Write::write_all(
                &mut stderr,
                format!("!!! SKIPPED: {} could not be installed !!!\n", self.kind()).as_bytes(),
            );
        }
        is_out
    }

    /// Returns the directories of its programs. If they are missing, the test fails and says
    /// how to install them.
    fn bins(self) -> Vec<PathBuf> {
        let tools = tools();
        let bins = [self.kind(), "claude"].map(|kind| tools.join(kind).join("node_modules/.bin"));
        let program = bins[0].join(self.kind());
        assert!(program.exists(), "{} is not there: run `scripts/test-tools`", program.display());
        bins.to_vec()
    }

    /// Makes a step in which the model runs a command.
    pub fn shell_step(self, command: &str) -> Step {
        let (tool, input) = match self {
            Self::Codex => ("exec_command", json!({ "cmd": command })),
            Self::Gemini => ("run_shell_command", json!({ "command": command, "description": "a step" })),
            Self::OpenCode => ("bash", json!({ "command": command, "description": "a step" })),
            Self::Pi => ("bash", json!({ "command": command })),
            Self::Copilot => ("bash", json!({ "command": command, "description": "a step" })),
        };
        Step::Use { tool: tool.into(), input }
    }

    /// Makes a step in which the model writes a file of the project.
    pub fn write_step(self, world: &Sealed, path: &str, text: &str) -> Step {
        let place = world.project().canonicalize().unwrap().join(path);
        let (tool, input) = match self {
            Self::Codex => {
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n");
                ("apply_patch", json!({ "input": patch }))
            }
            Self::Gemini => ("write_file", json!({ "file_path": place, "content": text })),
            Self::OpenCode => ("write", json!({ "filePath": place, "content": text })),
            Self::Pi => ("write", json!({ "path": place, "content": text })),
            Self::Copilot => ("create", json!({ "path": place, "file_text": text })),
        };
        Step::Use { tool: tool.into(), input }
    }

    /// Makes a step in which the model calls one of our MCP tools.
    pub fn our_tool_step(self, tool: &str, input: serde_json::Value) -> Step {
        let tool = match self {
            // A namespace, and the name in it.
            Self::Codex => format!("mcp__consort/{tool}"),
            Self::Gemini => format!("mcp_consort_{tool}"),
            Self::OpenCode => format!("consort_{tool}"),
            Self::Pi => tool.to_owned(),
            Self::Copilot => format!("consort-{tool}"),
        };
        Step::Use { tool, input }
    }

    /// Returns the directory in which the CLI keeps its settings and state.
    pub fn config_dir(self, world: &Sealed) -> PathBuf {
        world.home().join(match self {
            Self::Codex => ".codex",
            Self::Gemini => ".gemini",
            Self::OpenCode => ".config/opencode",
            Self::Pi => ".pi/agent",
            Self::Copilot => ".copilot",
        })
    }

    /// Writes settings that point the CLI to the scripted model and answer its first-run questions.
    pub fn settle(self, world: &Sealed, model: &StubModel) {
        let (dir, url) = (self.config_dir(world), model.url());
        fs::create_dir_all(&dir).unwrap();
        let project = world.project().canonicalize().unwrap();
        let write = |name: &str, text: String| fs::write(dir.join(name), text).unwrap();
        match self {
            Self::Codex => write(
                "config.toml",
                format!(
                    r#"model = "gpt-5.5"
model_provider = "stub"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.stub]
name = "Stub"
base_url = "{url}/v1"
env_key = "STUB_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[features]
daemon_auto_start = false
apps = false
plugins = false
[projects."{}"]
trust_level = "trusted"
"#,
                    project.display(),
                ),
            ),
            Self::Gemini => {
                write("trustedFolders.json", json!({ project.display().to_string(): "TRUST_FOLDER" }).to_string());
                write(
                    "settings.json",
                    json!({
                        "security": { "auth": { "selectedType": "gemini-api-key" } },
                        "general": { "enableAutoUpdate": false },
                        "privacy": { "usageStatisticsEnabled": false },
                        "ide": { "hasSeenNudge": true },
                        "model": { "name": self.model() },
                    })
                    .to_string(),
                );
            }
            Self::OpenCode => write(
                "opencode.json",
                // OpenCode would add `$schema` by itself.
                json!({
                    "$schema": "https://opencode.ai/config.json",
                    "model": "stub/stub-model", "small_model": "stub/stub-model", "enabled_providers": ["stub"],
                    "autoupdate": false, "share": "disabled",
                    "provider": { "stub": {
                        "npm": "@ai-sdk/openai-compatible",
                        "options": { "baseURL": format!("{url}/v1"), "apiKey": "sk-fake" },
                        "models": { "stub-model": { "limit": { "context": 200_000, "output": 8_000 } } },
                    } },
                })
                .to_string(),
            ),
            Self::Pi => {
                write("trust.json", json!({ project.display().to_string(): true }).to_string());
                write(
                    "models.json",
                    json!({ "providers": { "stub": {
                        "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "sk-fake",
                        "models": [{ "id": "stub-model", "contextWindow": 200_000, "maxTokens": 8_000 }],
                    } } })
                    .to_string(),
                );
            }
            Self::Copilot => {
                write("settings.json", json!({ "banner": "never", "trustedFolders": [project] }).to_string());
            }
        }
    }

    /// Makes the command of a headless turn in the sealed world's project.
    pub fn headless_command(self, world: &Sealed, model: &StubModel, prompt: &str) -> Command {
        let arguments: &[&str] = match self {
            Self::Codex => &["exec", "--json", "--dangerously-bypass-hook-trust", prompt],
            Self::Gemini => &["-p", prompt, "--output-format", "stream-json", "--approval-mode", "yolo"],
            Self::OpenCode => &["run", "--format", "json", "--auto", prompt],
            Self::Pi => &["-p", "--mode", "json", "--model", "stub/stub-model", prompt],
            Self::Copilot => &[
                "-p",
                prompt,
                "--output-format",
                "json",
                "--allow-all-tools",
                "--allow-all-paths",
                "--no-color",
            ],
        };
        let mut agent = self.command(world, model);
        agent.args(arguments).stdin(Stdio::null());
        agent
    }

    /// Makes the command of a headless turn in the default mode; what the CLI would ask about is
    /// refused.
    pub fn asking_command(self, world: &Sealed, model: &StubModel, prompt: &str) -> Command {
        let arguments: &[&str] = match self {
            Self::Codex => &[
                "exec",
                "--json",
                "--dangerously-bypass-hook-trust",
                "-c",
                "approval_policy=\"on-request\"",
                "-c",
                "sandbox_mode=\"workspace-write\"",
                prompt,
            ],
            Self::Gemini => &["-p", prompt, "--output-format", "stream-json", "--approval-mode", "default"],
            Self::OpenCode => &["run", "--format", "json", prompt],
            Self::Pi => &["-p", "--mode", "json", "--model", "stub/stub-model", prompt],
            Self::Copilot => &["-p", prompt, "--output-format", "json", "--no-color"],
        };
        let mut agent = self.command(world, model);
        agent.args(arguments).stdin(Stdio::null());
        agent
    }

    /// Makes a command of the CLI's program in the sealed world's project, without arguments.
    pub fn command(self, world: &Sealed, model: &StubModel) -> Command {
        let bins = self.bins();
        let scratch = world.path().join("tmp");
        fs::create_dir_all(&scratch).unwrap();
        let path: Vec<String> = bins.iter().map(|bin| bin.display().to_string()).collect();
        let mut agent = world.command(bins[0].join(self.kind()));
        agent.env("PATH", path.join(":") + ":/usr/local/bin:/usr/bin:/bin").env("TERM", "xterm-256color");
        // `TMPDIR` is beside the home: Codex objects to a home below the scratch directory.
        match self {
            Self::Codex => agent.env("STUB_API_KEY", "sk-fake").env("TMPDIR", &scratch),
            Self::Gemini => agent
                .env("GEMINI_API_KEY", "fake-key")
                .env("GOOGLE_GEMINI_BASE_URL", model.url())
                .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
                .env("GEMINI_TELEMETRY_ENABLED", "false"),
            Self::OpenCode => agent
                .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1")
                .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
                .env("OPENCODE_DISABLE_SHARE", "1"),
            Self::Pi => {
                agent.env("PI_OFFLINE", "1").env("PI_TELEMETRY", "0").env("PI_SKIP_VERSION_CHECK", "1")
            }
            Self::Copilot => agent
                .env("COPILOT_OFFLINE", "true")
                .env("COPILOT_AUTO_UPDATE", "false")
                .env("XDG_CACHE_HOME", self.cache())
                .env("COPILOT_PROVIDER_TYPE", "anthropic")
                .env("COPILOT_PROVIDER_BASE_URL", model.url())
                .env("COPILOT_PROVIDER_API_KEY", "sk-fake")
                .env("COPILOT_MODEL", self.model()),
        };
        agent
    }

    /// Returns the cache into which the CLI unpacks itself at its first run, once for all worlds.
    fn cache(self) -> PathBuf {
        tools().join(self.kind()).join("cache")
    }
}

/// Makes the command that runs the turn `alone` through `consort with`.
pub fn with(world: &Sealed, kind: &str, alone: &Command) -> Command {
    let mut with = world.consort(["with", kind]);
    with.args(alone.get_args()).stdin(Stdio::null());
    for (name, value) in alone.get_envs() {
        with.env(name, value.unwrap_or_default());
    }
    with
}

fn tools() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools")
}
