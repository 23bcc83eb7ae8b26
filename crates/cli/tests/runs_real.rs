//! Tests of the real agent CLIs under `consort run`: their work is seen while they do it, they are
//! kept from what they may not do, and their results are reported as they were.

use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Claude;
use consort_testkit::Ran;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use serde_json::Value;
use serde_json::json;

#[test]
fn claude() {
    works("claude");
}

#[test]
fn codex() {
    works("codex");
}

#[test]
fn gemini() {
    works("gemini");
}

#[test]
fn opencode() {
    works("opencode");
}

#[test]
fn pi() {
    works("pi");
}

#[test]
fn copilot() {
    works("copilot");
}

#[test]
fn claude_is_kept_in_bounds() {
    keeps_within("claude");
}

#[test]
fn codex_is_kept_in_bounds() {
    keeps_within("codex");
}

#[test]
fn gemini_is_kept_in_bounds() {
    keeps_within("gemini");
}

#[test]
fn opencode_is_kept_in_bounds() {
    keeps_within("opencode");
}

#[test]
fn pi_is_kept_in_bounds() {
    keeps_within("pi");
}

#[test]
fn copilot_is_kept_in_bounds() {
    keeps_within("copilot");
}

/// Codex is connected for good, and nobody has reviewed its hooks: without a terminal it would skip
/// them, and do whatever it likes.
#[test]
fn codex_is_kept_in_bounds_by_hooks_that_nobody_has_reviewed() {
    let Some(stage) = Stage::open("codex") else { return };
    let connected = stage.world.run("init --agent codex --yes");
    assert_eq!(connected.code, 0, "{connected}");
    for step in [stage.write("held.txt"), stage.shell("true"), Step::say("I left it")] {
        stage.model.then(step);
    }
    let run = stage.ran(&["please write"]);
    assert_eq!(run["state"], "done", "{run}");
    let last = stage.model.turn_requests().last().unwrap().to_string();
    assert!(!stage.has("held.txt") && last.contains("is reserved by Falcon"), "{run}");
    // Each hook runs once.
    assert_eq!(last.matches("1 other agent is here").count(), 1);
    let journal = stage.world.run("journal tail -n 50").stdout;
    assert_eq!(journal.matches(" joined (").count(), 2, "{journal}");
    stage.is_left_as_it_was();
}

/// OpenCode waits for the end of a limit by itself, and says neither for how long nor that it waits; its
/// run is parked all the same.
#[test]
fn opencode_is_parked_at_a_limit() {
    let Some(stage) = Stage::open("opencode") else { return };
    (0..4).for_each(|_| stage.model.then(Step::Limit(3_600)));
    let run = stage.ran(&["--detach", "please"]);
    let number = run["number"].to_string();
    let show = || stage.json(&["runs", "show", &number]);
    let run = until_within(Duration::from_secs(200), show, |run| run["state"] != "running");
    assert!(run["state"] == "pending" && run["parked_until_at"].is_string(), "{run}");
    let stopped = stage.world.run(&format!("runs stop {number}"));
    assert_eq!(stopped.code, 0, "{stopped}");
    stage.is_left_as_it_was();
}

/// Checks that a CLI's run is seen at work, gets mail meanwhile, is kept from what another has reserved,
/// reports its result and cost, and can be resumed in its session.
fn works(kind: &'static str) {
    let Some(stage) = Stage::open(kind) else { return };
    let (teller, told) = (Arc::clone(&stage.world), Arc::new(Mutex::new(Vec::new())));
    let heard = Arc::clone(&told);
    stage.model.then(stage.shell("echo hi > made.txt"));
    stage.model.then(stage.write("held.txt").meanwhile(move || {
        let logs = teller.run("runs logs 1").stdout;
        let list = teller.run("runs list --json").stdout;
        let sent = teller.run_as(None, &["send", "Worker", "hello from the person"]);
        heard.lock().unwrap().extend([logs, list, sent.to_string()]);
    }));
    stage.model.then(stage.shell("echo more > more.txt"));
    stage.model.then(Step::say("first answer"));
    let run = stage.ran(&["--name", "Worker", "please look around"]);
    assert_eq!(
        (run["state"].as_str(), run["result"].as_str()),
        (Some("done"), Some("first answer")),
        "{run}"
    );
    assert!(stage.has("made.txt") && stage.has("more.txt"), "{run}");
    // The logs and the list were read while the run worked.
    let told = told.lock().unwrap().clone();
    assert!(told[0].contains("made.txt"), "{told:?}");
    let list: Value = serde_json::from_str(&told[1]).unwrap();
    assert_eq!(list["items"][0]["state"], "running", "{list}");
    // The message is in a later request.
    let turns: Vec<String> = stage.model.turn_requests().iter().map(Value::to_string).collect();
    assert_eq!(turns.len(), 4, "{run}");
    assert!(!turns[1].contains("hello from the person"), "{kind}");
    assert!(turns[3].contains("hello from the person"), "{kind}: {told:?}");
    // The run does not write what another has reserved, and is told why.
    assert!(!stage.has("held.txt"), "{run}");
    assert!(turns[2].contains("is reserved by Falcon"), "{kind}");
    // The figures of the run.
    assert_eq!((&run["tokens"]["input"], &run["tokens"]["output"]), (&json!(400), &json!(80)), "{run}");
    assert_eq!(run["turns"], 4, "{run}");
    assert!(run["tools"] == 3 && run["tools_failed"] == 1, "{run}");
    let is_known = !matches!(kind, "opencode" | "pi");
    assert_eq!(run["cost_usd"].as_f64().is_some(), is_known, "{run}");
    // OpenCode does not report which model has answered.
    assert_eq!(run["model"].is_string(), kind != "opencode", "{run}");

    stage.model.then(Step::say("second answer"));
    let again = stage.json(&["runs", "resume", "1", "please go on"]);
    assert_eq!((&again["state"], &again["result"]), (&json!("done"), &json!("second answer")), "{again}");
    assert_eq!(again["agent"]["session"], run["agent"]["session"], "{again}");
    assert_eq!(again["follows"], run["id"], "{again}");
    let turns = stage.model.turn_requests();
    let last = turns.last().unwrap().to_string();
    assert!(last.contains("first answer") && last.contains("please go on"), "{kind} has forgotten");
    stage.is_left_as_it_was();
}

/// Checks that a run does only what its safety level allows, whatever it tries.
fn keeps_within(kind: &'static str) {
    let Some(stage) = Stage::open(kind) else { return };
    std::fs::write(stage.world.project().join("kept.txt"), "mine").unwrap();
    for step in [stage.write("refused.txt"), stage.shell("echo hi > refused.txt"), Step::say("I left it")] {
        stage.model.then(step);
    }
    let run = stage.ran(&["--safety", "suggest", "please write"]);
    assert_eq!((&run["state"], &run["result"]), (&json!("done"), &json!("I left it")), "{run}");
    assert!(!stage.has("refused.txt") && run["tools_failed"].as_u64() >= Some(1), "{run}");

    // No CLI would refuse this deletion: our hook does.
    stage.model.drop_script();
    for step in [stage.shell("rm kept.txt"), Step::say("I left it")] {
        stage.model.then(step);
    }
    let run = stage.ran(&["--safety", "auto-edit", "please delete"]);
    assert_eq!(run["state"], "done", "{run}");
    assert!(stage.has("kept.txt"), "{run}");
    let logs = stage.world.run("runs logs 2").stdout;
    let is_told = |turn: &Value| turn.to_string().contains("your run's safety is auto-edit");
    assert!(stage.model.turn_requests().iter().any(is_told), "{run} {logs}");

    for step in [stage.shell("rm kept.txt"), Step::say("It is gone")] {
        stage.model.then(step);
    }
    let run = stage.ran(&["--safety", "full-auto", "please delete"]);
    assert_eq!((&run["state"], &run["result"]), (&json!("done"), &json!("It is gone")), "{run}");
    assert!(!stage.has("kept.txt"), "{run}");
    stage.is_left_as_it_was();
}

/// Calls `look` until `is_it` holds for the result, for `longest` at most.
fn until_within(longest: Duration, look: impl Fn() -> Value, is_it: impl Fn(&Value) -> bool) -> Value {
    let since = Instant::now();
    loop {
        let seen = look();
        if is_it(&seen) {
            return seen;
        }
        assert!(since.elapsed() < longest, "{seen}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// A world with a real CLI, and another agent that has reserved a file.
struct Stage {
    kind: &'static str,
    agent: Option<RealAgent>,
    world: Arc<Sealed>,
    model: StubModel,
}

impl Stage {
    /// `None` if it could not be installed here.
    fn open(kind: &'static str) -> Option<Self> {
        let agent = RealAgent::ALL.into_iter().find(|agent| agent.kind() == kind);
        if agent.is_some_and(RealAgent::is_out_of_reach) {
            return None;
        }
        let world = Arc::new(Sealed::new(env!("CARGO_BIN_EXE_consort")));
        world.git_init();
        let joined = world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon");
        assert_eq!(joined.code, 0, "{joined}");
        assert_eq!(world.run_as(Some("s1"), &["reserve", "held.txt", "--reason", "mine today"]).code, 0);
        let model = StubModel::start([]);
        if let Some(agent) = agent {
            agent.settle(&world, &model);
        }
        Some(Self { kind, agent, world, model })
    }

    fn consort(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.consort(arguments.iter().copied());
        let environment = match self.agent {
            Some(agent) => {
                let alone = agent.command(&self.world, &self.model);
                let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
                let all = alone.get_envs().map(|(name, value)| (text(name), text(value.unwrap_or_default())));
                all.collect()
            }
            None => Claude::installed().interactive(&self.world, &self.model).1,
        };
        command.envs(environment);
        command
    }

    /// Runs a command with `--json`, and returns its output.
    fn json(&self, arguments: &[&str]) -> Value {
        let ran: Ran = self.world.ran(&mut self.consort(&[arguments, &["--json"]].concat()));
        let told: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
        told["run"].clone()
    }

    /// Runs this CLI to its end, and returns the run.
    fn ran(&self, arguments: &[&str]) -> Value {
        let model: &[&str] = if self.kind == "pi" { &["--model", "stub/stub-model"] } else { &[] };
        self.json(&[&["run", "--cli", self.kind], model, arguments].concat())
    }

    fn has(&self, path: &str) -> bool {
        self.world.project().join(path).exists()
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

    /// Checks that the runs' agents are gone, and that everything is in order.
    fn is_left_as_it_was(&self) {
        let who: Value = serde_json::from_str(&self.world.run("who --json").stdout).unwrap();
        assert_eq!(who["items"].as_array().map(Vec::len), Some(1), "{who}");
        for command in ["journal verify", "runs audit"] {
            let ran = self.world.run(command);
            assert_eq!(ran.code, 0, "{ran}");
        }
        let log = std::fs::read_to_string(self.world.data().join("hook.log")).unwrap_or_default();
        assert_eq!(log, "", "{}", self.kind);
    }
}
