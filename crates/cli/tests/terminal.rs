//! Tests of the agent CLIs at a real terminal, with their own defaults: their questions are
//! answered by the first option.

use std::cell::Cell;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Claude;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::Tmux;
use serde_json::Value;
use serde_json::json;

/// The texts by which CLIs ask the person, each with the key that says yes.
const QUESTIONS: &[(&str, &str)] = &[
    ("› 2. Trust all", "Enter"),
    ("› 1. Use current Git worktree", "Enter"),
    ("› 1. Try new model", "Down"),
    ("› 2. Use existing", "Enter"),
    ("Do you trust", "Enter"),
    ("Do you want to", "Enter"),
    ("Would you like to", "Enter"),
    ("Allow execution", "Enter"),
    ("Hooks need review", "Down"),
    ("Press enter to continue", "Enter"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cli {
    Claude,
    Other(RealAgent),
}

impl Cli {
    fn kind(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Other(agent) => agent.kind(),
        }
    }

    fn shell(self, command: &str) -> Step {
        match self {
            Self::Claude => Step::bash(command),
            Self::Other(agent) => agent.shell_step(command),
        }
    }

    fn write(self, world: &Sealed, path: &str) -> Step {
        let place = world.project().canonicalize().unwrap().join(path);
        match self {
            Self::Claude => {
                Step::Use { tool: "Write".into(), input: json!({ "file_path": place, "content": "mine" }) }
            }
            Self::Other(agent) => agent.write_step(world, path, "mine"),
        }
    }

    /// Returns the program and its environment. The only settings are those that point the CLI to the
    /// model and answer its first questions.
    fn command(self, world: &Sealed, model: &StubModel) -> (String, Vec<(String, String)>) {
        match self {
            Self::Claude => Claude::installed().interactive(world, model),
            Self::Other(agent) => {
                let command = agent.command(world, model);
                let text = |text: &OsStr| text.to_str().unwrap().to_owned();
                let environment =
                    command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
                (text(command.get_program()), environment.collect())
            }
        }
    }

    fn settle(self, world: &Sealed, model: &StubModel) {
        let Self::Other(agent) = self else { return };
        agent.settle(world, model);
        if agent == RealAgent::Codex {
            let config = agent.config_dir(world).join("config.toml");
            let text = std::fs::read_to_string(&config).unwrap();
            let text = text.replace("approval_policy = \"never\"\n", "");
            std::fs::write(&config, text.replace("sandbox_mode = \"danger-full-access\"\n", "")).unwrap();
        }
    }

    /// Returns the text that the screen shows when the CLI waits for a prompt.
    fn prompt(self) -> &'static str {
        match self {
            Self::Claude => "? for shortcuts",
            Self::Other(RealAgent::Codex) => "Ask Codex",
            Self::Other(RealAgent::Gemini) => "Type your message",
            Self::Other(RealAgent::OpenCode) => "ctrl+p commands",
            Self::Other(RealAgent::Pi) => "stub-model",
            Self::Other(RealAgent::Copilot) => "/ commands",
        }
    }

    /// Returns the command that begins a new conversation.
    fn clear(self) -> &'static str {
        match self {
            Self::Other(RealAgent::OpenCode | RealAgent::Pi | RealAgent::Codex) => "/new",
            _ => "/clear",
        }
    }

    /// Returns the arguments that resume the last conversation.
    fn resume(self) -> &'static [&'static str] {
        match self {
            Self::Other(RealAgent::Codex) => &["resume", "--last"],
            Self::Other(RealAgent::Gemini) => &["--resume", "latest"],
            _ => &["--continue"],
        }
    }
}

/// A CLI in a terminal.
struct Session<'w> {
    cli: Cli,
    world: &'w Sealed,
    model: &'w StubModel,
    tmux: Tmux<'w>,
    answered: Cell<Option<Instant>>,
}

impl<'w> Session<'w> {
    fn start(cli: Cli, world: &'w Sealed, model: &'w StubModel, arguments: &[&str]) -> Self {
        let (program, mut environment) = cli.command(world, model);
        environment.push(("CONSORT_NAME".to_owned(), "Newcomer".to_owned()));
        let mut line = vec![program.as_str()];
        line.extend(arguments);
        if cli == Cli::Other(RealAgent::Pi) {
            line.extend(["--model", "stub/stub-model"]);
        }
        if cli == Cli::Claude {
            // Claude Code's own default asks a server for a judgement, and there is none here.
            line.extend(["--permission-mode", "default"]);
        }
        // Passed by `env`, because tmux overrides this variable for programs in its panes.
        let path =
            environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| format!("PATH={path}"));
        let path = path.unwrap();
        let line = [&["env", path.as_str()], line.as_slice()].concat();
        let tmux = Tmux::start(world, &environment, &line);
        let session = Self { cli, world, model, tmux, answered: Cell::new(None) };
        session.until("a prompt", || session.tmux.screen().contains(cli.prompt()));
        std::thread::sleep(Duration::from_millis(1_500));
        session
    }

    /// Waits for a condition, and says yes to every question meanwhile.
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let since = Instant::now();
        while !is_so() {
            let screen = self.tmux.screen();
            let is_late = since.elapsed() > Duration::from_secs(120);
            assert!(!is_late, "{:?}: never came about: {what}\n{screen}\n{:?}", self.cli, self.agents());
            let question = QUESTIONS.iter().find(|(text, _)| screen.contains(text));
            if let Some((_, key)) = question
                && self.answered.get().is_none_or(|at| at.elapsed() > Duration::from_millis(900))
            {
                self.tmux.run(&["send-keys", key]);
                self.answered.set(Some(Instant::now()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn agents(&self) -> Vec<Value> {
        let who: Value = serde_json::from_str(&self.world.run("who --json").stdout).unwrap();
        let all = who["items"].as_array().unwrap().iter();
        all.filter(|agent| agent["cli"] == self.cli.kind()).cloned().collect()
    }

    fn is(&self, status: &str) -> bool {
        matches!(&self.agents()[..], [agent] if agent["status"] == status)
    }

    fn type_in(&self, text: &str) {
        // Typed again after a while, because keys are lost before the CLI is ready.
        let typed = Cell::new(None::<Instant>);
        self.until(text, || {
            if typed.get().is_none_or(|at| at.elapsed() > Duration::from_secs(8)) {
                self.tmux.run(&["send-keys", "-l", text]);
                typed.set(Some(Instant::now()));
            }
            self.tmux.screen().contains(text)
        });
        std::thread::sleep(Duration::from_millis(700));
        self.tmux.run(&["send-keys", "Enter"]);
    }

    /// Submits a prompt, and waits until the CLI shows the scripted answer and is idle.
    fn turn(&self, prompt: &str, end: &str) {
        self.model.then(Step::say(end));
        self.type_in(prompt);
        self.until(end, || self.tmux.screen().contains(end) && self.is("idle"));
    }

    /// Tells whether any request to the model had this text.
    fn was_notified(&self, text: &str) -> bool {
        self.model.turn_requests().iter().any(|turn| turn.to_string().contains(text))
    }

    /// Ends the CLI as a person does.
    fn leave(self) {
        for _ in 0..4 {
            self.tmux.run_quietly(&["send-keys", "C-c"]);
            std::thread::sleep(Duration::from_millis(250));
        }
        if self.cli == Cli::Other(RealAgent::Pi) || self.cli == Cli::Other(RealAgent::Codex) {
            self.tmux.run_quietly(&["send-keys", "C-d"]);
        }
        let since = Instant::now();
        while !self.agents().is_empty() {
            assert!(since.elapsed() < Duration::from_secs(40), "{:?} does not leave", self.cli);
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Checks one CLI: presence, mail, a message, a reservation, a refusal, a new conversation,
/// a resumed one, and the end.
fn round(cli: Cli) {
    if let Cli::Other(agent) = cli
        && agent.is_out_of_reach()
    {
        return;
    }
    // Not in /tmp, because Codex's sandbox lets everything write there.
    let world = Sealed::new_in(Path::new("/var/tmp"), env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("agent join --pid $OTHER --kind test --session s1 --name Falcon").code, 0);
    assert_eq!(world.run_as(Some("s1"), &["reserve", "held/"]).code, 0);
    let consort = env!("CARGO_BIN_EXE_consort");
    // Copilot asks its model to repeat the first commands, with or without our program.
    let tries = if cli == Cli::Other(RealAgent::Copilot) { 3 } else { 1 };
    let commands =
        ["send Falcon 'from the newcomer'", "reserve mine/"].map(|line| format!("{consort} {line}"));
    let model = StubModel::start([]);
    for command in commands {
        (0..tries).for_each(|_| model.then(cli.shell(&command)));
    }
    model.then(cli.write(&world, "held/file.rs"));
    cli.settle(&world, &model);
    assert_eq!(world.run(&format!("init --agent {} --yes", cli.kind())).code, 0);

    let session = Session::start(cli, &world, &model, &[]);
    session.turn("please begin", "The first is done.");
    let name = session.agents()[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(name, "Newcomer");
    assert!(session.was_notified("You are Newcomer"), "{cli:?} does not know its name");
    let heard = world.run_as(Some("s1"), &["inbox"]).stdout;
    assert!(
        heard.contains("> from the newcomer"),
        "{cli:?} cannot speak: {heard}\n{}",
        session.tmux.screen()
    );
    let held = || world.run("holds list").stdout;
    assert!(held().contains("mine/"), "{cli:?} cannot reserve: {}", held());
    assert!(!world.project().join("held/file.rs").exists(), "{cli:?} wrote what is reserved");
    assert!(session.was_notified("reserved by Falcon"), "{cli:?} was not told why");

    let sent = world.run_as(Some("s1"), &["send", "Newcomer", "for the newcomer"]);
    assert_eq!(sent.code, 0, "{sent}");
    session.turn("please go on", "The second is done.");
    assert!(session.was_notified("for the newcomer"), "{cli:?} cannot hear");

    let before = session.agents()[0]["session"].clone();
    session.type_in(cli.clear());
    std::thread::sleep(Duration::from_secs(5));
    session.turn("who are you", "The third is done.");
    let after = session.agents();
    assert_eq!((after.len(), &after[0]["name"]), (1, &json!("Newcomer")), "{cli:?}: {after:?}");
    assert_ne!(after[0]["session"], before, "{cli:?}");
    assert!(held().contains("Newcomer"), "{cli:?} has lost what it reserved: {}", held());
    session.leave();
    assert!(!held().contains("mine/"), "{}", held());

    let session = Session::start(cli, &world, &model, cli.resume());
    session.turn("where were we", "The fourth is done.");
    assert_eq!(session.agents()[0]["name"], "Newcomer", "{cli:?}");
    session.leave();
}

#[test]
fn claude_with_its_own_defaults() {
    round(Cli::Claude);
}

#[test]
fn codex_with_its_own_defaults() {
    round(Cli::Other(RealAgent::Codex));
}

#[test]
fn gemini_with_its_own_defaults() {
    round(Cli::Other(RealAgent::Gemini));
}

#[test]
fn opencode_with_its_own_defaults() {
    round(Cli::Other(RealAgent::OpenCode));
}

#[test]
fn pi_with_its_own_defaults() {
    round(Cli::Other(RealAgent::Pi));
}

#[test]
fn copilot_with_its_own_defaults() {
    round(Cli::Other(RealAgent::Copilot));
}

/// Neither CLI runs a hook at this end of a turn; the files that they write about themselves tell it.
#[test]
fn an_interrupted_or_failed_turn_is_seen_to_be_over() {
    for agent in [RealAgent::Codex, RealAgent::Copilot] {
        if agent.is_out_of_reach() {
            continue;
        }
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        let model = StubModel::start([Step::Stall]);
        agent.settle(&world, &model);
        assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
        let session = Session::start(Cli::Other(agent), &world, &model, &[]);
        session.type_in("please think");
        session.until("the request", || session.is("working") && !model.turn_requests().is_empty());
        let pressed = Cell::new(None::<Instant>);
        session.until("idleness after an interruption", || {
            // On a busy machine a key may be lost, so it is pressed again, as a person would.
            if pressed.get().is_none_or(|at| at.elapsed() > Duration::from_secs(15)) {
                session.tmux.run(&["send-keys", "Escape"]);
                if agent == RealAgent::Copilot {
                    std::thread::sleep(Duration::from_millis(150));
                    session.tmux.run(&["send-keys", "Escape"]);
                }
                pressed.set(Some(Instant::now()));
            }
            session.is("idle")
        });

        (0..20).for_each(|_| model.then(Step::Refuse));
        session.type_in("once more");
        session.until("the error", || model.turn_requests().len() > 1);
        session.until("idleness after an error", || session.is("idle"));
    }
}
