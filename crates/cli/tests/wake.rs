//! Tests of sessions whose plugin listens for mail while they are idle: the listener
//! itself, and the real CLIs that it wakes.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Write as _;
use std::process::Child;
use std::process::ChildStdin;
use std::process::ChildStdout;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::RealAgent;
use consort_testkit::Resident;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use serde_json::Value;
use serde_json::json;

/// A running `consort hook pi wait`, as a plugin starts it; ended when dropped.
struct Listener {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Listener {
    fn start(world: &Sealed) -> Self {
        let mut command = world.consort(["hook", "pi", "wait"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{}", facts(world)).unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin: Some(stdin), stdout }
    }

    /// Reads the next line; empty if there is none.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    fn is_running(&mut self) -> bool {
        std::thread::sleep(Duration::from_millis(300));
        self.child.try_wait().unwrap().is_none()
    }

    /// Checks that the listener prints nothing more, and ends successfully before long.
    fn ends(mut self) {
        let since = Instant::now();
        assert_eq!(self.says(), "");
        assert!(self.child.wait().unwrap().success());
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn facts(world: &Sealed) -> Value {
    json!({ "session_id": "s1", "cwd": world.project() })
}

/// Runs a plugin's hook; returns its answer.
fn hook(world: &Sealed, event: &str) -> String {
    let mut command = world.consort(["hook", "pi", event]);
    let mut call = facts(world);
    call["prompt"] = json!("please begin");
    let ran = world.ran_with(&mut command, call.to_string().as_bytes());
    assert_eq!((ran.stderr.as_str(), ran.code), ("", 0), "{event}");
    ran.stdout
}

/// Makes a world with Falcon, a session of pi that was prompted and is idle.
fn with_idle_falcon() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("agent join --pid $OTHER --kind pi --session s1 --name Falcon").code, 0);
    hook(&world, "prompt");
    hook(&world, "idle");
    world
}

fn send(world: &Sealed, arguments: &[&str]) -> String {
    let sent = world.run_as(None, &[&["send", "Falcon"], arguments].concat());
    assert_eq!(sent.code, 0, "{sent}");
    sent.to_string()
}

const WAKE: &str = "{\"wake\":true}\n";

#[test]
fn what_listens_tells_of_mail_and_hands_nothing_over() {
    let world = with_idle_falcon();
    let mut listener = Listener::start(&world);
    assert_eq!(listener.says(), "{\"name\":\"Falcon\",\"others\":0,\"task\":null}\n");
    assert!(listener.is_running());
    let told = send(&world, &["hello"]);
    assert!(told.contains("Falcon was idle and is being woken."), "{told}");
    assert_eq!(listener.says(), WAKE);
    listener.ends();

    // The mail was not handed over, so the next listener wakes the session at once.
    let peeked = || world.run_as(Some("s1"), &["inbox", "--peek"]).stdout;
    assert!(peeked().contains("> hello"), "{}", peeked());
    let mut listener = Listener::start(&world);
    listener.says();
    assert_eq!(listener.says(), WAKE);
    assert!(peeked().contains("> hello"), "{}", peeked());

    // The `mail` hook hands the mail over once; then the listener is silent.
    let who = || world.run("who --json").stdout;
    assert!(who().contains("\"idle\""), "{}", who());
    assert!(hook(&world, "mail").contains("hello"));
    assert!(who().contains("\"working\""), "{}", who());
    assert_eq!(hook(&world, "mail"), "");
    let mut listener = Listener::start(&world);
    listener.says();
    assert!(listener.is_running());
    assert_eq!(world.run("journal verify").code, 0);
    assert!(!world.data().join("hook.log").exists());
}

/// A message that needs no answer wakes nobody; it comes with the next prompt.
#[test]
fn what_asks_for_nothing_wakes_nobody() {
    let world = with_idle_falcon();
    let mut listener = Listener::start(&world);
    listener.says();
    send(&world, &["--type", "ack", "thanks"]);
    send(&world, &["--priority", "low", "by the way"]);
    assert!(listener.is_running());
    let told = hook(&world, "prompt");
    assert!(told.contains("thanks") && told.contains("by the way"), "{told}");
}

#[test]
fn a_session_that_was_never_spoken_to_is_left_alone() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("agent join --pid $OTHER --kind pi --session s1 --name Falcon").code, 0);
    let mut listener = Listener::start(&world);
    listener.says();
    send(&world, &["hello"]);
    assert!(listener.is_running());
}

#[test]
fn what_listens_ends_with_its_session_and_with_its_parent() {
    let world = with_idle_falcon();
    let mut listener = Listener::start(&world);
    listener.says();
    listener.stdin.take();
    listener.ends();

    let mut listener = Listener::start(&world);
    listener.says();
    hook(&world, "session-end");
    listener.ends();

    // Without an agent there is nothing to listen for.
    Listener::start(&world).ends();

    let mut host = world.command("sleep").arg("600").spawn().unwrap();
    let join = format!("agent join --pid {} --kind pi --session s1 --name Falcon", host.id());
    assert_eq!(world.run(&join).code, 0);
    let mut listener = Listener::start(&world);
    listener.says();
    host.kill().unwrap();
    host.wait().unwrap();
    listener.ends();
    assert!(!world.data().join("hook.log").exists());
}

/// A message that comes while a listener starts is never missed.
#[test]
fn nothing_falls_between_two_listeners() {
    let world = with_idle_falcon();
    for round in 0..20 {
        let text = format!("message {round}.");
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| send(&world, &[&text]));
            let mut listener = Listener::start(&world);
            listener.says();
            assert_eq!(listener.says(), WAKE, "{round}");
            sender.join().unwrap();
        });
        assert_eq!(hook(&world, "mail").matches(&text).count(), 1);
        hook(&world, "idle");
    }
}

#[test]
fn pi_is_woken() {
    is_woken(RealAgent::Pi);
}

#[test]
fn opencode_is_woken() {
    is_woken(RealAgent::OpenCode);
}

/// Checks that an idle session gets a message at once, each message once, and that its
/// listener ends with it.
fn is_woken(agent: RealAgent) {
    if agent.is_out_of_reach() {
        return;
    }
    let world = std::sync::Arc::new(Sealed::new(env!("CARGO_BIN_EXE_consort")));
    world.git_init();
    let sender = std::sync::Arc::clone(&world);
    let model = StubModel::start([
        Step::say("Begun."),
        Step::say("Woken."),
        // A message comes at the end of the turn that another message began.
        Step::say("Woken again.").meanwhile(move || drop(send(&sender, &["letter-third"]))),
    ]);
    agent.settle(&world, &model);
    assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
    let mut session = Resident::start(agent, &world, &model, "Falcon");
    session.send_prompt("please begin");
    let rest = |turns: usize| {
        until(
            || (model.turn_requests().len() == turns).then_some(()),
            || format!("{:#?}", model.turn_requests()),
        );
        until(|| (status(&world) == "idle").then_some(()), || status(&world));
    };
    rest(1);
    listener(&session, agent);
    if agent == RealAgent::Pi {
        session.wait_for_line(|line| line.contains("consort: Falcon").then_some(()));
    }

    send(&world, &["letter-first"]);
    rest(2);
    // After a listener dies, another starts, and finds the mail that came meanwhile.
    let killed = world.ran(world.command("kill").args(["-KILL", &listener(&session, agent)]));
    assert_eq!(killed.code, 0, "{killed}");
    send(&world, &["letter-second"]);
    rest(4);
    // A message that wakes nobody comes with the next prompt.
    send(&world, &["--type", "ack", "letter-fourth"]);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(model.turn_requests().len(), 4);
    session.send_prompt("please go on");
    rest(5);
    let heard = |text: &str| -> Vec<usize> {
        model.turn_requests().iter().map(|turn| turn.to_string().matches(text).count()).collect()
    };
    assert_eq!(heard("letter-first"), [0, 1, 1, 1, 1]);
    assert_eq!(heard("letter-second"), [0, 0, 1, 1, 1]);
    assert_eq!(heard("letter-third"), [0, 0, 0, 1, 1]);
    assert_eq!(heard("letter-fourth"), [0, 0, 0, 0, 1]);
    // Being woken does not change the session's mode, such as planning.
    assert_eq!(heard("mode has changed"), [0; 5]);
    assert_eq!(seen(&world)["prompts"], 2);

    let listener = listener(&session, agent);
    session.end();
    let is_there = || world.ran(world.command("kill").args(["-0", &listener])).code == 0;
    until(|| (!is_there()).then_some(()), || listener.clone());
    until(
        || (world.run("who").stdout == "No agents are in shop.\n").then_some(()),
        || world.run("who").stdout,
    );
    assert_eq!(world.run("journal verify").code, 0);
    let log = std::fs::read_to_string(world.data().join("hook.log")).unwrap_or_default();
    assert_eq!(log, "");
}

/// Finds the process that listens for a session.
fn listener(session: &Resident, agent: RealAgent) -> String {
    let all = || session.helpers(&format!("hook {} wait", agent.kind()));
    until(
        || match all().as_slice() {
            [one] => Some(one.to_string()),
            _ => None,
        },
        || format!("{:?}", all()),
    )
}

/// A session that asks the person through another extension of pi counts as waiting.
#[test]
fn pi_is_seen_to_wait_for_the_person() {
    let agent = RealAgent::Pi;
    if agent.is_out_of_reach() {
        return;
    }
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let model =
        StubModel::start([agent.shell_step("until [ -e go ]; do sleep 0.05; done"), Step::say("Done.")]);
    agent.settle(&world, &model);
    assert_eq!(world.run("init --agent pi --yes").code, 0);
    let gate = r#"export default (pi: any) => {
      pi.on("tool_call", async (_: any, ctx: any) => { await ctx.ui.confirm("May it run?", "really") })
    }"#;
    std::fs::write(agent.config_dir(&world).join("extensions/gate.ts"), gate).unwrap();
    let mut session = Resident::start(agent, &world, &model, "Falcon");
    session.send_prompt("please begin");
    let question = session.wait_for_line(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        (line["method"] == "confirm").then(|| line["id"].clone())
    });
    let waits_for = || seen(&world)["waiting_for"].clone();
    until(|| (waits_for() == "May it run?").then_some(()), || seen(&world).to_string());
    assert_eq!(status(&world), "waiting");
    session.send_line(&json!({ "type": "extension_ui_response", "id": question, "confirmed": true }));
    until(|| (status(&world) == "working").then_some(()), || seen(&world).to_string());
    assert_eq!(waits_for(), Value::Null);
    std::fs::write(world.project().join("go"), "").unwrap();
    until(|| (status(&world) == "idle").then_some(()), || seen(&world).to_string());
    session.end();
}

#[test]
fn opencode_is_seen_to_wait_until_the_person_has_answered() {
    let agent = RealAgent::OpenCode;
    if agent.is_out_of_reach() {
        return;
    }
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let model =
        StubModel::start([agent.shell_step("until [ -e go ]; do sleep 0.05; done"), Step::say("Done.")]);
    agent.settle(&world, &model);
    let settings = agent.config_dir(&world).join("opencode.json");
    let mut asking: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    asking["permission"] = json!({ "bash": "ask" });
    std::fs::write(&settings, asking.to_string()).unwrap();
    assert_eq!(world.run("init --agent opencode --yes").code, 0);
    let mut session = Resident::start(agent, &world, &model, "Falcon");
    session.send_prompt("please begin");
    until(|| (status(&world) == "waiting").then_some(()), || seen(&world).to_string());
    let asked = session.send_request("/permission", None);
    let answer = format!("/permission/{}/reply", asked[0]["id"].as_str().unwrap());
    session.send_request(&answer, Some(&json!({ "reply": "once" })));
    until(|| (status(&world) == "working").then_some(()), || seen(&world).to_string());
    std::fs::write(world.project().join("go"), "").unwrap();
    until(|| (status(&world) == "idle").then_some(()), || seen(&world).to_string());
    session.end();
}

/// With our program gone, a long session still does all its turns, and does not try to start
/// listeners for ever.
#[test]
fn a_session_that_stays_does_without_us() {
    for agent in [RealAgent::Pi, RealAgent::OpenCode] {
        if agent.is_out_of_reach() {
            continue;
        }
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        let model = StubModel::start([]);
        agent.settle(&world, &model);
        let program = world.path().join("consort");
        std::fs::copy(env!("CARGO_BIN_EXE_consort"), &program).unwrap();
        let mut init = world.command(&program);
        let connected = world.ran(init.args(["init", "--yes", "--agent", agent.kind()]));
        assert_eq!(connected.code, 0, "{connected}");
        let mut session = Resident::start(agent, &world, &model, "Falcon");
        for turns in 1..=3 {
            if turns == 2 {
                until(|| (status(&world) == "idle").then_some(()), || seen(&world).to_string());
                std::fs::remove_file(&program).unwrap();
            }
            session.send_prompt("please go on");
            until(|| (model.turn_requests().len() == turns).then_some(()), || format!("{agent:?}: {turns}"));
            std::thread::sleep(Duration::from_secs(1));
        }
        session.end();
    }
}

fn seen(world: &Sealed) -> Value {
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    who["items"].get(0).cloned().unwrap_or_default()
}

fn status(world: &Sealed) -> String {
    seen(world)["status"].as_str().unwrap_or_default().to_owned()
}

/// Calls `look` until it returns something.
fn until<T>(mut look: impl FnMut() -> Option<T>, found: impl Fn() -> String) -> T {
    for _ in 0..600 {
        if let Some(seen) = look() {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not seen in thirty seconds: {}", found());
}
