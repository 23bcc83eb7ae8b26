//! Tests in a real terminal: panes, the live view, and the real Claude Code's screen.

use std::time::Duration;

use consort_testkit::Claude;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::Tmux;
use consort_testkit::until;
use serde_json::Value;
use serde_json::json;

fn agents(world: &Sealed) -> Vec<Value> {
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    who["items"].as_array().unwrap().clone()
}

#[test]
fn an_agent_in_a_pane_is_found_on_the_screen() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    // Each pane's shell is an agent, as long as it waits for input.
    let pane = |name: &str| {
        format!(
            "{} agent join --pid $$ --kind test --name {name} >/dev/null; read wait",
            env!("CARGO_BIN_EXE_consort")
        )
    };
    let tmux = Tmux::start(&world, &[], &["sh", "-c", &pane("Left")]);
    let alone = until("one agent", || agents(&world), |agents| agents.len() == 1);
    assert_eq!(alone[0]["quadrant"], Value::Null, "a pane that fills its window is in no part of it");

    tmux.run(&["split-window", "-h", "-t", "0", "sh", "-c", &pane("TopRight")]);
    tmux.run(&["split-window", "-v", "-t", "1", "sh", "-c", &pane("BottomRight")]);
    let seen = until("three agents", || agents(&world), |agents| agents.len() == 3);
    let quadrants: Vec<_> =
        seen.iter().map(|agent| (agent["name"].clone(), agent["quadrant"].clone())).collect();
    for (name, quadrant) in [("BottomRight", "bottom-right"), ("Left", "left"), ("TopRight", "top-right")] {
        assert!(quadrants.contains(&(json!(name), json!(quadrant))), "{quadrants:?}");
    }
    assert!(
        seen.iter().all(|agent| { agent["tty"].as_str().is_some_and(|tty| tty.starts_with("/dev/pts/")) })
    );
    // The agents count as alive although a shell is in each pane.
    let panes: Value = serde_json::from_str(&world.run("pane list --json").stdout).unwrap();
    let states: Vec<_> =
        panes["items"].as_array().unwrap().iter().map(|pane| pane["state"].clone()).collect();
    assert_eq!(states.len(), 3, "{panes}");
    assert!(!states.contains(&json!("exited")), "{states:?}");
}

#[test]
fn up_shows_who_comes_and_goes() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let tmux =
        Tmux::start(&world, &[], &["sh", "-c", &format!("{} up; read wait", env!("CARGO_BIN_EXE_consort"))]);
    tmux.wait_for_text("No agents are here.");
    let mut agent = world.command("sleep").arg("60").spawn().unwrap();
    world.run(&format!("agent join --pid {} --kind test --session s --name Raven", agent.id()));
    tmux.wait_for_text("Raven");
    tmux.wait_for_text("○ 1 idle");
    agent.kill().unwrap();
    agent.wait().unwrap();
    tmux.wait_for_text("No agents are here.");
    tmux.run(&["send-keys", "q"]);
    // The terminal shows its earlier contents again, and the shell reads keys.
    tmux.wait_for_text("Not installed: Claude Code, Codex");
    until("the end", || tmux.screen(), |screen| !screen.contains("q quit"));
}

#[test]
fn up_offers_to_connect_and_takes_no_for_an_answer() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let claude = world.home().join("claude");
    std::fs::write(&claude, "#!/bin/sh\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&claude, mode).unwrap();
    let path = format!("PATH={}:/usr/bin:/bin", world.home().display());
    let settings = world.home().join(".claude/settings.json");

    let up = || Tmux::start(&world, &[], &["env", &path, env!("CARGO_BIN_EXE_consort"), "up"]);
    // With the setting off, the person is not asked.
    assert_eq!(world.run("config set init.offer false").code, 0);
    up().wait_for_text("q quit");
    assert_eq!(world.run("config unset init.offer").code, 0);
    for (answer, connected) in [("n", false), ("y", true)] {
        let tmux = up();
        tmux.wait_for_text("[Y/n/d/m/p/a/s]");
        tmux.run(&["send-keys", answer, "Enter"]);
        tmux.wait_for_text("q quit");
        assert_eq!(settings.exists(), connected);
    }
}

/// A turn that the person interrupts runs no hook: only the file that Claude Code
/// writes about itself tells that it is idle.
#[test]
fn an_interrupted_session_is_seen_to_be_idle() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let claude = Claude::installed();
    assert_eq!(world.run("init --agent claude --yes").code, 0);
    let model = StubModel::start([Step::Stall]);
    let (program, environment) = claude.interactive(&world, &model);
    let tmux = Tmux::start(&world, &environment, &[&program]);
    tmux.wait_for_text("mode on");
    let idle = until("a session", || agents(&world), |agents| agents.len() == 1);
    assert_eq!(idle[0]["status"], "idle");

    tmux.run(&["send-keys", "-l", "please think"]);
    tmux.wait_for_text("please think");
    std::thread::sleep(Duration::from_millis(700));
    tmux.run(&["send-keys", "Enter"]);
    let is =
        |status: &'static str| move |agents: &Vec<Value>| agents.len() == 1 && agents[0]["status"] == status;
    until("work", || agents(&world), is("working"));
    until("the request", || model.turn_requests().len(), |turns| *turns > 0);
    tmux.run(&["send-keys", "Escape"]);
    until("idleness", || agents(&world), is("idle"));
    // By its hooks alone, the session would still count as working.
    let sessions = std::fs::read_dir(world.data().join("sessions")).unwrap().flatten();
    let state = sessions.map(|session| session.path().join("state")).find(|path| path.exists()).unwrap();
    assert!(std::fs::read_to_string(state).unwrap().contains("\"working\""));
}

/// A message begins a turn in an idle session, and nothing is typed
/// into its terminal: the person's draft stays as it was.
#[test]
fn an_idle_session_is_woken_by_a_message() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let claude = Claude::installed();
    assert_eq!(world.run("init --agent claude --yes").code, 0);
    let model = StubModel::start([Step::say("Hello."), Step::say("I will look at it.")]);
    let (program, mut environment) = claude.interactive(&world, &model);
    environment.push(("CONSORT_NAME".into(), "Falcon".into()));
    let tmux = Tmux::start(&world, &environment, &[&program]);
    tmux.wait_for_text("mode on");
    until("a session", || agents(&world), |agents| agents.len() == 1);
    // A session that was never prompted is not woken.
    let ran = world.run("send Falcon early");
    assert!(ran.stdout.starts_with("Sent message #") && ran.stdout.lines().count() == 1, "{ran}");

    tmux.run(&["send-keys", "-l", "please wait"]);
    tmux.wait_for_text("please wait");
    std::thread::sleep(Duration::from_millis(700));
    tmux.run(&["send-keys", "Enter"]);
    until("a turn", || model.turn_requests().len(), |turns| *turns == 1);
    tmux.wait_for_text("Hello.");
    until("idleness", || agents(&world), |agents| agents[0]["status"] == "idle");
    tmux.run(&["send-keys", "-l", "my draft"]);
    tmux.wait_for_text("my draft");

    let ran = world.run("send Falcon -t question late");
    assert!(ran.stdout.contains("Falcon was idle and is being woken."), "{ran}");
    until("another turn", || model.turn_requests().len(), |turns| *turns == 2);
    let told = model.turn_requests()[1]["messages"].to_string();
    assert!(told.contains("New Consort message, quoted below."), "{told}");
    for text in ["> early", "> late"] {
        assert_eq!(told.matches(text).count(), 1, "{text} in {told}");
    }
    tmux.wait_for_text("my draft");
    until("a receipt", || world.run("inbox --sent").stdout, |sent| sent.matches("Falcon (read").count() == 2);
}

/// `init` asks one question for all CLIs: it shows what each would get, the diff on request, and
/// keys that choose the parts.
#[test]
fn init_asks_once() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let home = [("HOME".to_owned(), world.home().display().to_string())];
    let line = format!("{} init --agent claude --agent pi; sleep 60", env!("CARGO_BIN_EXE_consort"));
    let tmux = Tmux::start(&world, &home, &["sh", "-c", &line]);
    let rules = consort_agents::allow::RULE_COUNT;
    tmux.wait_for_text(&format!("Claude Code: 13 hooks, MCP server, primer, {rules} allow rules"));
    tmux.wait_for_text("pi: a plugin, primer");
    tmux.wait_for_text("Connect these 2? [Y/n/d/m/p/a/s]");
    tmux.run(&["send-keys", "d", "Enter"]);
    tmux.wait_for_text("+++ ");
    // An unknown key does not count as an answer.
    tmux.run(&["send-keys", "x", "Enter"]);
    tmux.wait_for_text("y: yes; n: no; d: show the diff");
    tmux.run(&["send-keys", "m", "Enter"]);
    tmux.wait_for_text(&format!("Claude Code: 13 hooks, primer, {rules} allow rules"));
    tmux.run(&["send-keys", "a", "Enter"]);
    tmux.wait_for_text("Claude Code: 13 hooks, primer\n");
    assert!(!world.home().join(".claude").exists());
    tmux.run(&["send-keys", "y", "Enter"]);
    tmux.wait_for_text("takes it back");
    let settings = std::fs::read_to_string(world.home().join(".claude/settings.json")).unwrap();
    assert!(settings.contains("hook claude") && !settings.contains("permissions"), "{settings}");
    assert!(world.home().join(".pi/agent/extensions/consort.ts").exists());
    assert!(!world.home().join(".claude.json").exists());
}

/// Changes that others make to the files while the person decides are kept.
#[test]
fn what_changes_before_the_person_agrees_is_kept() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let dir = world.home().join(".gemini");
    std::fs::create_dir(&dir).unwrap();
    let (settings, text) = (dir.join("settings.json"), dir.join("GEMINI.md"));
    std::fs::write(&settings, "{}\n").unwrap();
    std::fs::write(&text, "before\n").unwrap();
    let home = [("HOME".to_owned(), world.home().display().to_string())];
    let line = format!("{} init --agent gemini --primer; sleep 60", env!("CARGO_BIN_EXE_consort"));
    let tmux = Tmux::start(&world, &home, &["sh", "-c", &line]);
    tmux.wait_for_text("Connect Gemini CLI? [Y/n/d/m/p/a/s]");
    std::fs::write(&text, "meanwhile\n").unwrap();
    tmux.run(&["send-keys", "Enter"]);
    tmux.wait_for_text("takes it back");
    assert!(std::fs::read_to_string(&settings).unwrap().contains("hook gemini"), "{}", tmux.screen());
    let text = std::fs::read_to_string(&text).unwrap();
    assert!(text.starts_with("meanwhile\n") && text.contains("consort: end"), "{text}");
}
