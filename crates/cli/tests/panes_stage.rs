//! A real CLI in a real pane, with a scripted model: the helpers of all tests of real panes.

use std::time::Duration;
use std::time::Instant;

use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneLook;
use consort_host::Tmux;
use consort_testkit::Claude;
use consort_testkit::PaneWorld;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::until;
use serde_json::Value;
use serde_json::json;

/// Longest time that a state may take to come, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(100);

/// States in which an agent rests.
pub(crate) const IDLE: &[&str] = &["ready", "finished", "suggestion"];

/// One CLI in one pane.
pub(crate) struct Stage {
    pub(crate) world: PaneWorld,
    pub(crate) cli: &'static str,
    pub(crate) size: &'static str,
    pub(crate) model: StubModel,
    pub(crate) pane: String,
    /// The output of `open`.
    opened: String,
}

impl Stage {
    /// Opens a CLI in a mode in which it asks for permissions.
    pub(crate) fn open(cli: &'static str, size: (&'static str, &'static str)) -> Self {
        let own: &[&str] = match cli {
            "claude" => &["--permission-mode", "default"],
            "codex" => &["-c", "approval_policy=\"on-request\"", "-c", "sandbox_mode=\"read-only\""],
            _ => &[],
        };
        Self::open_with(cli, size, own)
    }

    /// Opens a CLI with these arguments of its own.
    pub(crate) fn open_with(cli: &'static str, size: (&'static str, &'static str), own: &[&str]) -> Self {
        let model = StubModel::start([]);
        Self::open_in(world_of(cli, &model), model, cli, size, own)
    }

    /// Opens a CLI in a given world.
    pub(crate) fn open_in(
        world: PaneWorld,
        model: StubModel,
        cli: &'static str,
        (columns, rows): (&'static str, &'static str),
        own: &[&str],
    ) -> Self {
        if cli == "opencode" {
            let file = RealAgent::OpenCode.config_dir(&world.world).join("opencode.json");
            let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            settings["permission"] = json!({ "bash": "ask" });
            std::fs::write(&file, settings.to_string()).unwrap();
        }
        let opened = world.run(&[&["open", cli, "--name", "Falcon", "--trust", "--"], own].concat());
        let panes = world.panes();
        let pane = panes.first().unwrap_or_else(|| panic!("{opened}"));
        let shown = || world.run(&["pane", "screen", "Falcon"]);
        assert!(!["dead", "exited"].contains(&pane["state"].as_str().unwrap()), "{opened}\n{}", shown());
        let pane = pane["pane"].as_str().unwrap().to_owned();
        let opened = opened.to_string();
        let stage = Self { world, cli, size: columns, model, pane, opened };
        if cli == "codex" {
            stage.world.decline_newer_model(&stage.pane);
        }
        stage.resize(columns, rows);
        // Redrawn, because Gemini draws in the normal screen, where a narrower size leaves pieces.
        if cli == "gemini" {
            stage.press(&["C-l"]);
        }
        stage
    }

    pub(crate) fn resize(&self, columns: &str, rows: &str) {
        self.world.tmux(&["resize-window", "-t", &self.pane, "-x", columns, "-y", rows]);
    }

    pub(crate) fn screen(&self) -> String {
        self.world.screen(&self.pane)
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        self.world.tmux(&[&["send-keys", "-t", &self.pane], keys].concat());
        std::thread::sleep(Duration::from_millis(400));
    }

    pub(crate) fn reading(&self) -> Value {
        let ran = self.world.run(&["pane", "explain", "Falcon", "--json"]);
        serde_json::from_str::<Value>(&ran.stdout).map_or(Value::Null, |json| json["pane"].clone())
    }

    /// Tells whether the CLI waits for a prompt, maybe after an error.
    fn rests(&self) -> bool {
        self.reading()["state"].as_str().is_some_and(|state| IDLE.contains(&state) || state == "error")
    }

    /// Waits until two looks show one of these states; otherwise the test fails.
    pub(crate) fn is(&self, what: &str, states: &[&str]) -> Value {
        let since = Instant::now();
        let mut twice = 0;
        loop {
            let reading = self.reading();
            let is_it = states.contains(&reading["state"].as_str().unwrap_or_default());
            twice = if is_it { twice + 1 } else { 0 };
            if twice == 2 {
                self.keep(what);
                return reading;
            }
            if since.elapsed() > PATIENCE {
                self.keep(what);
                let (state, rule) = (&reading["state"], &reading["rule"]);
                let who = format!("{} at {}", self.cli, self.size);
                let (screen, opened) = (self.screen(), &self.opened);
                panic!("{who}: {what} is {state} by {rule}, not {states:?}:\n{screen}\nOpened:\n{opened}");
            }
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Saves the screen as a file, if a directory for that is set.
    fn keep(&self, what: &str) {
        let Some(dir) = std::env::var_os("CONSORT_TEST_SCREENS") else { return };
        let screen = self.world.tmux(&["capture-pane", "-p", "-e", "-t", &self.pane]);
        let title = self.world.tmux(&[
            "display-message",
            "-p",
            "-t",
            &self.pane,
            "#{pane_title}\t#{pane_current_command}",
        ]);
        let file = std::path::Path::new(&dir).join(format!("{}_{what}_{}", self.cli, self.size));
        std::fs::write(file.with_extension("ansi"), screen).unwrap();
        std::fs::write(file.with_extension("title"), title).unwrap();
    }

    /// Submits a prompt as a person would, who presses Enter again if nothing happens.
    pub(crate) fn say(&self, text: &str, steps: impl IntoIterator<Item = Step>) {
        // The rest of the script belongs to a turn that was interrupted.
        self.model.drop_script();
        steps.into_iter().for_each(|step| self.model.then(step));
        let before = self.model.turn_requests().len();
        self.press(&["-l", text]);
        self.press(&["Enter"]);
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            for _ in 0..15 {
                if self.model.turn_requests().len() > before {
                    return;
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            // Enter would answer a dialog.
            if self.rests() {
                self.press(&["Enter"]);
            }
        }
        panic!("{}: {text} was not taken:\n{}", self.cli, self.screen());
    }

    /// Makes a step of the model that needs a permission.
    pub(crate) fn permission_step(&self) -> Step {
        let agent = RealAgent::ALL.into_iter().find(|agent| agent.kind() == self.cli);
        match agent {
            None => Step::bash("touch made.txt"),
            Some(RealAgent::Codex) => {
                let input = json!({ "cmd": "touch made.txt", "justification": "a step",
                    "sandbox_permissions": "require_escalated" });
                Step::Use { tool: "exec_command".into(), input }
            }
            Some(agent) => agent.shell_step("touch made.txt"),
        }
    }

    /// Interrupts the CLI's work, and empties its composer.
    pub(crate) fn rest(&self) {
        let is_idle = || IDLE.contains(&self.reading()["state"].as_str().unwrap_or_default());
        let since = Instant::now();
        while !is_idle() && since.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(200));
        }
        if !is_idle() {
            self.interrupt();
        }
        // The CLI may read keys late.
        let empty = || {
            if !self.is_empty() {
                self.press(&["C-u"]);
            }
            self.is_empty() && is_idle() && self.is_empty()
        };
        until("an empty composer", empty, |is_empty| *is_empty);
    }

    /// Tells whether the composer is empty.
    fn is_empty(&self) -> bool {
        let signature = consort_agents::screen::signature(consort_agents::find(self.cli).unwrap().screen());
        let pane = PaneAddress { server: self.world.socket(), id: self.pane.clone() };
        let tmux = Tmux::new(&self.world.data());
        let look = PaneLook::take(&tmux, &pane, &signature.unwrap(), Duration::MAX);
        look.is_ok_and(|look| look.composer.is_some_and(|composer| composer.is_empty()))
    }

    /// Interrupts the CLI's work until it waits for a prompt.
    pub(crate) fn interrupt(&self) {
        let takes_two = matches!(self.cli, "opencode" | "copilot");
        // The pause between two presses that count as a double press depends on the machine's load.
        for gap in [100, 250, 50, 400, 150, 20] {
            if takes_two {
                self.world.tmux(&["send-keys", "-t", &self.pane, "Escape"]);
                std::thread::sleep(Duration::from_millis(gap));
            }
            self.press(&["Escape"]);
            let since = Instant::now();
            while !self.rests() && since.elapsed() < Duration::from_secs(4) {
                std::thread::sleep(Duration::from_millis(200));
            }
            if self.rests() {
                break;
            }
        }
        self.is("interrupted", &["ready", "finished", "suggestion", "error"]);
        // An unanswered prompt may be back in the composer as a draft.
        self.press(&["C-u"]);
    }
}

/// Makes a world whose commands find the CLI and point it to the model, with its first questions
/// answered.
pub(crate) fn world_of(cli: &str, model: &StubModel) -> PaneWorld {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let environment = match RealAgent::ALL.into_iter().find(|agent| agent.kind() == cli) {
        None => Claude::installed().interactive(&world, model).1,
        Some(agent) => {
            agent.settle(&world, model);
            let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
            let command = agent.command(&world, model);
            command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?)))).collect()
        }
    };
    PaneWorld::around(world, environment)
}
