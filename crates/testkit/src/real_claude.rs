//! Runs the real Claude Code in tests, pinned, against a scripted model.
//!
//! `scripts/test` installs it from npm into `.test-tools/claude`, with the
//! Node it needs. Each run gets a scratch home, a cleared environment and a
//! fake key; telemetry and updates are off.

use std::path::PathBuf;
use std::process::Command;

use crate::Sealed;
use crate::StubModel;

/// The version whose behaviour the tests expect.
const VERSION: &str = "2.1.325";

pub struct Claude {
    bin: PathBuf,
}

impl Claude {
    /// Finds the installed Claude Code. If it is missing, the test fails and says how to install it.
    pub fn installed() -> Self {
        let root =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools/claude/node_modules/.bin");
        let version = Command::new(root.join("claude")).env("PATH", path(&root)).arg("--version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        assert!(
            version.as_ref().is_ok_and(|version| version.starts_with(VERSION)),
            "Claude Code {VERSION} is not in .test-tools: run `scripts/test-tools` ({version:?})"
        );
        Self { bin: root }
    }

    /// Makes the command of a headless turn in the sealed world's project.
    pub fn headless_command(&self, world: &Sealed, model: &StubModel, prompt: &str) -> Command {
        let mut claude = world.command(self.bin.join("claude"));
        claude
            .envs(self.environment(world, model))
            .args(["-p", prompt, "--output-format", "stream-json", "--verbose"])
            .args(["--permission-mode", "acceptEdits", "--allowedTools", "Bash"])
            .stdin(std::process::Stdio::null());
        claude
    }

    /// Makes the command of a headless turn in the mode that asks the person; what it would ask about
    /// is refused.
    pub fn asking_command(&self, world: &Sealed, model: &StubModel, prompt: &str) -> Command {
        let mut claude = world.command(self.bin.join("claude"));
        claude
            .envs(self.environment(world, model))
            .args(["-p", prompt, "--output-format", "stream-json", "--verbose"])
            .args(["--permission-mode", "default"])
            .stdin(std::process::Stdio::null());
        claude
    }

    /// Returns the program and its environment for an interactive session that asks
    /// none of its first-run questions.
    pub fn interactive(&self, world: &Sealed, model: &StubModel) -> (String, Vec<(String, String)>) {
        let project = world.project().canonicalize().unwrap();
        let state = serde_json::json!({
            "hasCompletedOnboarding": true, "lastOnboardingVersion": VERSION, "theme": "dark", "numStartups": 5,
            "hasSeenAutoDefaultNudge": true, "hasSeenAutoModeEntryWarning": true,
            "customApiKeyResponses": { "approved": ["sk-fake"], "rejected": [] },
            "projects": { project.display().to_string(): {
                "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
            } },
        });
        std::fs::write(world.home().join(".claude.json"), state.to_string()).unwrap();
        (self.bin.join("claude").display().to_string(), self.environment(world, model))
    }

    fn environment(&self, world: &Sealed, model: &StubModel) -> Vec<(String, String)> {
        let scratch = world.path().join("tmp");
        std::fs::create_dir_all(&scratch).unwrap();
        [
            ("PATH", path(&self.bin)),
            ("TMPDIR", scratch.display().to_string()),
            ("TERM", "xterm-256color".into()),
            ("ANTHROPIC_BASE_URL", model.url()),
            ("ANTHROPIC_API_KEY", "sk-fake".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("DISABLE_ERROR_REPORTING", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1".into()),
            ("CLAUDE_CODE_MAX_RETRIES", "0".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

fn path(bin: &std::path::Path) -> String {
    format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display())
}
