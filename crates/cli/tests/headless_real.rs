//! Tests of the real agent CLIs at work without a terminal: their arguments do what they
//! say, and we understand their output.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::time::Duration;
use std::time::SystemTime;

use consort_agents::AgentCli;
use consort_agents::Headless;
use consort_agents::flags::Flags;
use consort_agents::prices;
use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;
use consort_testkit::Claude;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use serde_json::json;

#[test]
fn claude_works() {
    works("claude");
}

#[test]
fn codex_works() {
    works("codex");
}

#[test]
fn gemini_works() {
    works("gemini");
}

#[test]
fn opencode_works() {
    works("opencode");
}

#[test]
fn pi_works() {
    works("pi");
}

#[test]
fn copilot_works() {
    works("copilot");
}

#[test]
fn claude_fails() {
    fails("claude");
}

#[test]
fn codex_fails() {
    fails("codex");
}

#[test]
fn gemini_fails() {
    fails("gemini");
}

#[test]
fn opencode_fails() {
    fails("opencode");
}

#[test]
fn pi_fails() {
    fails("pi");
}

#[test]
fn copilot_fails() {
    fails("copilot");
}

/// Checks that a CLI does its work, resumes its session, and is kept from what it may not do.
fn works(kind: &str) {
    let Some(stage) = Stage::open(kind) else { return };
    let long = format!("-begin{}end", " of a long prompt".repeat(6_000));
    stage.model.then(stage.shell("echo hi > made.txt"));
    stage.model.then(Step::say("first answer"));
    let told = stage.work(&long, Safety::AutoEdit, None);
    told.has_succeeded("first answer");
    assert!(stage.world.project().join("made.txt").exists(), "{told:?}");
    assert!(told.tools().any(|(about, is_ok)| about.contains("made.txt") && is_ok), "{told:?}");
    let asked = stage.model.turn_requests()[0].to_string();
    assert!(asked.contains("-begin of a long prompt") && asked.contains("promptend"), "{kind}");
    let usage = told.usage();
    assert_eq!((usage.input, usage.output, usage.turns), (Some(200), Some(40), Some(2)), "{told:?}");
    // Only Claude Code reports a cost; for the others we compute it, or it is unknown.
    let model = told.model.clone().unwrap_or_default();
    let cost = usage.cost.or_else(|| prices::usage_cost(&model, &usage));
    assert_eq!(usage.cost.is_some(), kind == "claude", "{told:?}");
    assert_eq!(cost.is_none(), model == "stub-model" || model.is_empty(), "{model} {cost:?}");

    let session = told.session.clone().unwrap();
    stage.model.then(Step::say("second answer"));
    let again = stage.work("please go on", Safety::AutoEdit, Some(&session));
    again.has_succeeded("second answer");
    assert_eq!(again.session.as_ref(), Some(&session), "{again:?}");
    assert!(
        stage.model.turn_requests().last().unwrap().to_string().contains("first answer"),
        "{kind} has forgotten"
    );
    let usage = again.usage();
    assert_eq!((usage.input, usage.output), (Some(100), Some(20)), "{again:?}");

    stage.model.then(stage.write("refused.txt"));
    stage.model.then(stage.shell("echo hi > refused.txt"));
    stage.model.then(Step::say("I left it"));
    let refused = stage.work("please write", Safety::Suggest, None);
    refused.has_succeeded("I left it");
    assert!(!stage.world.project().join("refused.txt").exists(), "{refused:?}");
    assert!(refused.tools().any(|(_, is_ok)| !is_ok), "{refused:?}");
}

/// Checks a CLI that meets a limit, a provider that fails, and a sudden end.
fn fails(kind: &str) {
    let Some(mut stage) = Stage::open(kind) else { return };
    if kind == "claude" {
        // Claude Code tells only subscribers when a limit ends.
        stage.variables = vec![("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-fake")];
    }
    (0..4).for_each(|_| stage.model.then(Step::Limit(3_600)));
    if kind == "opencode" {
        // OpenCode waits until the limit ends, however long.
        let told = stage.work_until("please", |event| matches!(event, WorkerEvent::Retries { .. }));
        assert!(told.failure.is_none() && told.exit.signal == Some(9), "{told:?}");
    } else {
        let told = stage.work("please", Safety::AutoEdit, None);
        let failure = told.failure.clone().unwrap_or_else(|| panic!("{told:?}"));
        assert_eq!(failure.kind, FailureKind::Limit, "{told:?}");
        let left = failure.until.unwrap_or_else(|| panic!("{told:?}")).since(now()) / Timestamp::SECOND;
        assert!((3_400..=3_600).contains(&left), "{left}: {told:?}");
    }
    stage.model.drop_script();

    stage.model.then(Step::Fail(500));
    let told = stage.work("please", Safety::AutoEdit, None);
    if matches!(kind, "claude" | "codex") {
        // These CLIs were told not to try again.
        let kind = told.failure.as_ref().map(|failure| failure.kind);
        assert_eq!(kind, Some(FailureKind::Provider), "{told:?}");
    } else {
        told.has_succeeded("Done.");
        assert!(told.events.iter().any(|event| matches!(event, WorkerEvent::Retries { .. })), "{told:?}");
    }
    stage.model.drop_script();

    stage.model.then(stage.shell("echo hi > made.txt"));
    stage.model.then(Step::Stall);
    let told = stage.work_until("please", |event| matches!(event, WorkerEvent::ToolEnds { .. }));
    assert!(told.failure.is_none() && told.exit.code.is_none(), "{told:?}");
    assert!(told.exit.signal == Some(9) && told.session.is_some(), "{told:?}");
}

#[expect(clippy::disallowed_methods, reason = "CLIs go by the real clock")]
fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp(now.as_millis() as i64)
}

/// A real CLI with its own scripted model.
struct Stage {
    cli: &'static dyn AgentCli,
    agent: Option<RealAgent>,
    world: Sealed,
    model: StubModel,
    flags: Flags,
    variables: Vec<(&'static str, &'static str)>,
}

impl Stage {
    /// `None` if it could not be installed here.
    fn open(kind: &str) -> Option<Self> {
        let agent = RealAgent::ALL.into_iter().find(|agent| agent.kind() == kind);
        if agent.is_some_and(RealAgent::is_out_of_reach) {
            return None;
        }
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        let model = StubModel::start([]);
        if let Some(agent) = agent {
            agent.settle(&world, &model);
        }
        let cli = consort_agents::find(kind).unwrap();
        let mut stage = Self { cli, agent, world, model, flags: Flags::default(), variables: Vec::new() };
        let help = stage.command().args(cli.help_arguments()).stdin(Stdio::null()).output().unwrap();
        let text = [help.stdout, help.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        stage.flags = Flags::from_help(cli, &text.concat());
        assert!(stage.flags.names().count() > 10, "{kind}: {text:?}");
        Some(stage)
    }

    fn command(&self) -> Command {
        match self.agent {
            Some(agent) => agent.command(&self.world, &self.model),
            None => {
                let (program, variables) = Claude::installed().interactive(&self.world, &self.model);
                let mut command = self.world.command(program);
                command.envs(variables);
                command
            }
        }
    }

    fn shell(&self, command: &str) -> Step {
        self.agent.map_or_else(|| Step::bash(command), |agent| agent.shell_step(command))
    }

    fn write(&self, path: &str) -> Step {
        let place = self.world.project().canonicalize().unwrap().join(path);
        let claude =
            || Step::Use { tool: "Write".into(), input: json!({ "file_path": place, "content": "hi" }) };
        self.agent.map_or_else(claude, |agent| agent.write_step(&self.world, path, "hi"))
    }

    fn work(&self, prompt: &str, safety: Safety, resume: Option<&str>) -> Told {
        self.start(prompt, safety, resume, &|_| false)
    }

    /// Runs the CLI until a matching event, then kills its processes.
    fn work_until(&self, prompt: &str, is_it: impl Fn(&WorkerEvent) -> bool) -> Told {
        self.start(prompt, Safety::AutoEdit, None, &is_it)
    }

    fn start(
        &self,
        prompt: &str,
        safety: Safety,
        resume: Option<&str>,
        is_last: &dyn Fn(&WorkerEvent) -> bool,
    ) -> Told {
        let dir = self.world.path().join("runs").join(now().0.to_string());
        let headless = self.cli.headless(&Headless {
            prompt,
            system: Some("You are a tester."),
            model: (self.cli.kind() == "pi").then_some("stub/stub-model"),
            reasoning: None,
            safety,
            is_root: false,
            max_turns: Some(9),
            budget: Some(Cost::from_dollars(1.0)),
            resume,
            dir: &dir,
            knows: &|flag| self.flags.knows(flag),
            environment: &|_| None,
        });
        for (path, text) in &headless.files {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut command = self.command();
        command.envs(self.variables.iter().copied()).envs(headless.variables).args(headless.arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut told = Told { session: headless.session, ..Told::default() };
        let mut reader = self.cli.reader();
        let (sender, heard) = mpsc::channel();
        listen(child.stdout.take().unwrap(), false, sender.clone());
        listen(child.stderr.take().unwrap(), true, sender);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(headless.stdin.unwrap().as_bytes()).unwrap();
        drop(stdin);
        let group = format!("-{}", child.id());
        let kill = || Command::new("kill").args(["-9", "--", &group]).output().unwrap();
        let has_ended = loop {
            let (is_error, line) = match heard.recv_timeout(Duration::from_secs(150)) {
                Ok(heard) => heard,
                Err(error) => break error == RecvTimeoutError::Disconnected,
            };
            let events = if is_error { reader.error_line(&line, now()) } else { reader.line(&line, now()) };
            told.exit.stderr += &if is_error { line + "\n" } else { String::new() };
            let is_over = events.iter().any(is_last);
            events.into_iter().for_each(|event| told.hear(event));
            if is_over {
                break false;
            }
        };
        if !has_ended {
            kill();
        }
        let status = child.wait().unwrap();
        // Kills the processes that the CLI has left running.
        kill();
        (told.exit.code, told.exit.signal) = (status.code(), status.signal());
        let config_dir = self.cli.config_dir(&self.world.home(), &|_| None);
        let read = |path: &std::path::Path| std::fs::read_to_string(path).ok();
        let last = reader.end(&told.exit, now(), &config_dir, &read);
        last.into_iter().for_each(|event| told.hear(event));
        told
    }
}

/// Sends the lines of a stream until it ends.
fn listen(stream: impl Read + Send + 'static, is_error: bool, sender: Sender<(bool, String)>) {
    std::thread::spawn(move || {
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        lines.for_each(|line| {
            let _ = sender.send((is_error, line));
        });
    });
}

/// The events and figures that a worker has reported.
#[derive(Debug, Default)]
struct Told {
    session: Option<String>,
    model: Option<String>,
    said: String,
    failure: Option<Failure>,
    steps: Usage,
    in_all: Option<Usage>,
    turns: u32,
    events: Vec<WorkerEvent>,
    exit: WorkerExit,
}

impl Told {
    fn hear(&mut self, event: WorkerEvent) {
        match event.clone() {
            WorkerEvent::Session(session) => self.session = Some(session),
            WorkerEvent::Model(model) => self.model = Some(model),
            WorkerEvent::Said(said) | WorkerEvent::Result(said) => self.said = said,
            WorkerEvent::Failed(failure) => self.failure = Some(failure),
            WorkerEvent::Used(usage) => self.steps = self.steps.with(&usage),
            WorkerEvent::UsedInAll(usage) => self.in_all = Some(usage),
            WorkerEvent::Turn => self.turns += 1,
            _ => {}
        }
        self.events.push(event);
    }

    fn has_succeeded(&self, text: &str) {
        assert!(self.failure.is_none() && self.exit.code == Some(0), "{self:?}");
        assert_eq!(self.said, text, "{self:?}");
    }

    fn usage(&self) -> Usage {
        let told = self.in_all.unwrap_or(self.steps);
        Usage { turns: told.turns.or(Some(self.turns)), ..told }
    }

    /// Lists the description of each finished tool call, and whether the call went well.
    fn tools(&self) -> impl Iterator<Item = (&str, bool)> {
        self.events.iter().filter_map(|event| {
            let WorkerEvent::ToolBegins { id, about, .. } = event else { return None };
            let is_end =
                |event: &&WorkerEvent| matches!(event, WorkerEvent::ToolEnds { id: of, .. } if of == id);
            let Some(WorkerEvent::ToolEnds { is_ok, .. }) = self.events.iter().find(is_end) else {
                return None;
            };
            Some((about.as_str(), *is_ok))
        })
    }
}
