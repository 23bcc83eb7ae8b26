//! A sealed world for tests of panes, with its own tmux server and a fake CLI.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::FakeCli;
use crate::Ran;
use crate::Sealed;
use crate::until;

/// A sealed world with a tmux server, which ends when this is dropped.
pub struct PaneWorld {
    pub world: Sealed,
    pub cli: FakeCli,
    environment: Vec<(String, String)>,
}

impl PaneWorld {
    /// Makes a world; `program` is the `consort` under test, and every command has the variables `ways`.
    pub fn new(program: &str, ways: &[(&str, &str)]) -> Self {
        let world = Sealed::new(program);
        world.git_init();
        let environment = FakeCli::install(&world).environment(ways);
        Self::around(world, environment)
    }

    /// Adds a tmux server to a world whose commands have this environment.
    pub fn around(world: Sealed, mut environment: Vec<(String, String)>) -> Self {
        let cli = FakeCli::install(&world);
        environment.push(("TMUX_TMPDIR".into(), world.path().display().to_string()));
        environment.push(("LANG".into(), "C.UTF-8".into()));
        Self { world, cli, environment }
    }

    /// Adds a variable, or gives it another value.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Returns the variables that every command has.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    pub fn data(&self) -> PathBuf {
        self.world.data()
    }

    pub fn project(&self) -> PathBuf {
        self.world.project()
    }

    /// Makes a command of `consort` with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.consort(arguments.iter().copied());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.world.ran(&mut self.command(arguments))
    }

    /// Runs `consort` with these arguments as the agent `s1`.
    pub fn run_as_agent(&self, arguments: &[&str]) -> Ran {
        self.world.ran(self.command(arguments).env("CONSORT_SESSION", "s1"))
    }

    /// Returns the items of `pane list --json`.
    pub fn panes(&self) -> Vec<Value> {
        let listed = self.run(&["pane", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{listed}"));
        listed["items"].as_array().unwrap().clone()
    }

    /// Sends a command to the tmux server of the panes.
    pub fn tmux(&self, words: &[&str]) -> String {
        let mut tmux = self.world.command("tmux");
        tmux.arg("-u").arg("-S").arg(self.socket()).args(words);
        String::from_utf8(tmux.output().unwrap().stdout).unwrap()
    }

    /// Returns the text that a pane shows.
    pub fn screen(&self, pane: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", pane])
    }

    /// Keeps the model that Codex was told to use, if it offers a newer one; returns whether it did.
    pub fn decline_newer_model(&self, pane: &str) -> bool {
        let is_offered = |screen: &str| screen.contains(". Try new model");
        let was_offered = is_offered(&self.screen(pane));
        if was_offered {
            self.tmux(&["send-keys", "-t", pane, "Down"]);
            until("the other entry", || self.screen(pane), |screen| screen.contains("› 2. Use existing"));
            self.tmux(&["send-keys", "-t", pane, "Enter"]);
            until("the next screen", || self.screen(pane), |screen| !is_offered(screen));
        }
        was_offered
    }

    pub fn socket(&self) -> PathBuf {
        let user =
            std::fs::metadata("/proc/self").map(|proc| std::os::unix::fs::MetadataExt::uid(&proc)).unwrap();
        self.world.path().join(format!("tmux-{user}/consort"))
    }

    /// Returns the environment of the program in a pane, a variable per line.
    pub fn environment_of_pane(&self, pane: &Value) -> String {
        let pid = self.tmux(&["display-message", "-p", "-t", pane["pane"].as_str().unwrap(), "#{pane_pid}"]);
        std::fs::read_to_string(format!("/proc/{}/environ", pid.trim())).unwrap().replace('\0', "\n")
    }
}

impl Drop for PaneWorld {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
