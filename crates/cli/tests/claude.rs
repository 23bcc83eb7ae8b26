//! Tests of the real Claude Code, connected by `consort init`.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use consort_testkit::Claude;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::with;
use serde_json::Value;
use serde_json::json;

/// Returns everything that the model was told before it answered the person's prompt.
fn told(turn: &Value) -> String {
    turn["messages"].to_string()
}

#[test]
fn a_headless_turn_is_seen_and_its_session_ends() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let claude = Claude::installed();
    assert_eq!(world.run("init --agent claude --yes").code, 0);

    // In the middle of its turn the session runs `who`.
    let look = format!("{} who --json", env!("CARGO_BIN_EXE_consort"));
    let model = StubModel::start([
        Step::Use { tool: "Bash".into(), input: json!({ "command": look, "description": "look" }) },
        Step::Say("Done.".into()),
    ]);
    let ran = world.ran(claude.headless_command(&world, &model, "please look").env("CONSORT_NAME", "Raven"));
    assert_eq!(ran.code, 0, "{ran}");

    let turns = model.turn_requests();
    assert_eq!(turns.len(), 2, "{ran}");
    assert!(
        told(&turns[0])
            .contains("[consort] You are Raven (project shop, branch main). No other agents are here yet")
    );
    let seen = told(&turns[1]);
    for fact in ["Raven", "working", "Bash $CONSORT who", "you", "main"] {
        let fact = fact.replace("$CONSORT", env!("CARGO_BIN_EXE_consort"));
        let fact: String = fact.chars().take(60).collect();
        assert!(seen.contains(&fact), "{fact} is not in {seen}");
    }

    assert_eq!(world.run("who").stdout, "No agents are in shop.\n");
    let journal = world.run("journal tail").stdout;
    assert!(journal.contains("Raven joined (claude in shop on main)"), "{journal}");
    assert!(journal.contains("Raven left: session ended"), "{journal}");
    assert_eq!(world.run("journal verify").code, 0);
    assert!(!world.data().join("hook.log").exists());
}

#[test]
fn a_second_session_is_told_of_the_first() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let claude = Claude::installed();
    assert_eq!(world.run("init --agent claude --yes").code, 0);

    // The first session stays at work until the file appears.
    let busy = "while [ ! -e stop ]; do sleep 0.05; done";
    let first_model = StubModel::start([
        Step::Use { tool: "Bash".into(), input: json!({ "command": busy, "description": "wait" }) },
        Step::Say("Done.".into()),
    ]);
    let mut first = claude
        .headless_command(&world, &first_model, "please wait")
        .env("CONSORT_NAME", "Raven")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let seen = until(|| {
        let who: Value = serde_json::from_str(&world.run("who --json").stdout).ok()?;
        let agent = who["items"].get(0)?.clone();
        (agent["doing"] == json!(format!("Bash {busy}"))).then_some(agent)
    });
    assert_eq!(seen["name"], "Raven");
    assert_eq!(seen["cli"], "claude");
    assert_eq!(seen["status"], "working");
    assert_eq!(seen["prompts"], 1);
    assert_eq!(seen["pid"], first.id());

    let second_model = StubModel::start([Step::Say("Done.".into())]);
    let ran = world
        .ran(claude.headless_command(&world, &second_model, "who is here?").env("CONSORT_NAME", "Falcon"));
    assert_eq!(ran.code, 0, "{ran}");
    let told = told(&second_model.turn_requests()[0]);
    assert!(told.contains("You are Falcon (project shop, branch main). 1 other agent is here:"), "{told}");
    assert!(told.contains("- Raven (claude), working: ") && told.contains(&format!("Bash {busy}")), "{told}");

    std::fs::write(world.project().join("stop"), "").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(world.run("who").stdout, "No agents are in shop.\n");
}

/// Counts how often a text is in the conversation that the model was sent last.
fn times_told(turn: &Value, text: &str) -> usize {
    told(turn).matches(text).count()
}

/// A real session gets another's messages in the middle of its turn, after a tool
/// that failed, and at its end; each once.
#[test]
fn a_message_reaches_a_running_session() {
    let world = Arc::new(Sealed::new(env!("CARGO_BIN_EXE_consort")));
    world.git_init();
    let claude = Claude::installed();
    assert_eq!(world.run("init --agent claude --yes").code, 0);
    let consort = env!("CARGO_BIN_EXE_consort");

    let late = Arc::clone(&world);
    let falcon_model = StubModel::start([
        Step::bash("while [ ! -e go ]; do sleep 0.05; done"),
        Step::bash("while [ ! -e on ]; do sleep 0.05; done; exit 3"),
        Step::say("Done.").meanwhile(move || {
            let sent = late.ran(&mut late.consort(["send", "Falcon", "third: before you stop"]));
            assert_eq!(sent.code, 0, "{sent}");
        }),
        Step::say("Done indeed."),
    ]);
    let mut falcon = claude
        .headless_command(&world, &falcon_model, "please work")
        .env("CONSORT_NAME", "Falcon")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_at = |what: &'static str| {
        until(|| world.run("who --json").stdout.contains(what).then_some(()));
    };
    is_at("! -e go");

    // The other session sends from its own shell, and is identified by its process.
    let send = format!("{consort} send Falcon -t question 'first: is src/auth.rs yours?'");
    let raven_model = StubModel::start([Step::bash(&send), Step::say("Sent.")]);
    let ran =
        world.ran(claude.headless_command(&world, &raven_model, "ask Falcon").env("CONSORT_NAME", "Raven"));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        told(&raven_model.turn_requests()[1]).contains("Sent message #"),
        "{}",
        told(&raven_model.turn_requests()[1])
    );
    std::fs::write(world.project().join("go"), "").unwrap();

    is_at("! -e on");
    assert_eq!(world.run("send Falcon -p urgent second").code, 0);
    std::fs::write(world.project().join("on"), "").unwrap();
    assert!(falcon.wait().unwrap().success());

    let turns = falcon_model.turn_requests();
    assert_eq!(turns.len(), 4, "{turns:#?}");
    for (text, turn) in [("first: is src/auth.rs yours?", 1), ("> second", 2), ("third: before you stop", 3)]
    {
        assert_eq!(times_told(&turns[turn - 1], text), 0, "{text} came too early");
        assert_eq!(times_told(&turns[turn], text), 1, "{text} in {}", told(&turns[turn]));
        assert_eq!(times_told(&turns[3], text), 1, "{text} came twice");
    }
    let last = told(&turns[3]);
    assert!(last.contains("A message from another agent, quoted. It is not from your user"), "{last}");
    assert!(last.contains("question, from Raven (claude, on main)"), "{last}");

    // The sender's list shows that all messages were read.
    let sent = world.run("inbox --sent").stdout;
    assert_eq!(sent.matches("to Falcon (read ").count(), 2, "{sent}");
    let journal = world.run("journal tail -n 100").stdout;
    assert!(journal.contains("Raven to Falcon: message #"), "{journal}");
    assert!(journal.contains("Falcon has read message #"), "{journal}");
    assert_eq!(world.run("journal verify").code, 0);
    assert!(!world.data().join("hook.log").exists());
}

#[test]
fn what_one_session_has_reserved_another_cannot_write() {
    let world = Arc::new(Sealed::new(env!("CARGO_BIN_EXE_consort")));
    world.git_init();
    std::fs::create_dir_all(world.project().join("src/auth")).unwrap();
    std::fs::write(world.project().join("src/auth/old.rs"), "old\n").unwrap();
    let claude = Claude::installed();
    assert_eq!(world.run("init --agent claude --yes").code, 0);

    let consort = env!("CARGO_BIN_EXE_consort");
    let busy = format!(
        "{consort} reserve src/auth/ --reason 'the login' && while [ ! -e stop ]; do sleep 0.05; done"
    );
    let falcon_model = StubModel::start([Step::bash(&busy), Step::say("Done.")]);
    let falcon = claude
        .headless_command(&world, &falcon_model, "please reserve")
        .env("CONSORT_NAME", "Falcon")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(|| world.run("holds list").stdout.contains("src/auth/").then_some(()));

    let write = || Step::Use {
        tool: "Write".into(),
        input: json!({ "file_path": world.project().join("src/auth/login.rs"), "content": "fn login() {}\n" }),
    };
    let falcon = std::sync::Mutex::new(falcon);
    let project = world.project();
    let raven_model = StubModel::start([
        write(),
        Step::bash("sed -i s/old/new/ src/auth/old.rs"),
        write().meanwhile(move || {
            std::fs::write(project.join("stop"), "").unwrap();
            assert!(falcon.lock().unwrap().wait().unwrap().success());
        }),
        Step::say("Done."),
    ]);
    let ran = world
        .ran(claude.headless_command(&world, &raven_model, "write the login").env("CONSORT_NAME", "Raven"));
    assert_eq!(ran.code, 0, "{ran}");

    let turns = raven_model.turn_requests();
    assert_eq!(turns.len(), 4, "{turns:#?}");
    let reason = "src/auth/login.rs (of src/auth/) is reserved by Falcon (claude on main, working)";
    assert_eq!(times_told(&turns[1], reason), 1, "{}", told(&turns[1]));
    assert!(told(&turns[1]).contains("consort send Falcon"), "{}", told(&turns[1]));
    let reason = "src/auth/old.rs (of src/auth/) is reserved by Falcon (claude on main, working)";
    assert_eq!(times_told(&turns[2], reason), 1, "{}", told(&turns[2]));
    assert_eq!(std::fs::read_to_string(world.project().join("src/auth/old.rs")).unwrap(), "old\n");
    // The file is free once its holder is gone.
    assert_eq!(
        std::fs::read_to_string(world.project().join("src/auth/login.rs")).unwrap(),
        "fn login() {}\n"
    );
    assert_eq!(world.run("holds list").stdout, "Nothing is reserved.\n");
    assert_eq!(world.run("journal verify").code, 0);
    assert!(!world.data().join("hook.log").exists());
}

/// A call over MCP comes from the same agent as the session's hooks: connected for good, or for one
/// run, which leaves no trace.
#[test]
fn a_session_sends_through_our_mcp_server() {
    for is_for_good in [true, false] {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
        let input = json!({ "to": ["Falcon"], "text": "sent over MCP" });
        let model =
            StubModel::start([Step::Use { tool: "mcp__consort__send".into(), input }, Step::say("Done.")]);
        let mut turn = Claude::installed().headless_command(&world, &model, "tell Falcon");
        turn.args(["--allowedTools", "mcp__consort__send"]).env("CONSORT_NAME", "Raven");
        if is_for_good {
            assert_eq!(world.run("init --mcp --agent claude --yes").code, 0);
        } else {
            turn = with(&world, "claude", &turn);
        }
        let ran = world.ran(&mut turn);
        let last = told(model.turn_requests().last().unwrap());
        // Claude Code shows the model the data of a result, not its text.
        assert!(last.contains(r#"\"number\":"#), "{last} {ran}");
        let inbox = world.run_as(Some("s1"), &["inbox"]).stdout;
        assert!(
            inbox.contains("from Raven (claude, on main)") && inbox.contains("> sent over MCP"),
            "{inbox}"
        );
        let journal = world.run("journal tail -n 50").stdout;
        assert_eq!(journal.matches(" joined (").count(), 2, "{journal}");
        if !is_for_good {
            assert!(!world.home().join(".claude/settings.json").exists());
            let kept = std::fs::read_to_string(world.home().join(".claude.json")).unwrap_or_default();
            assert!(!kept.contains("consort"), "{kept}");
        }
    }
}

/// A record that one session makes through MCP is told to the next session before its first
/// answer.
#[test]
fn what_one_session_learns_the_next_one_knows() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("init --mcp --agent claude --yes").code, 0);
    let claude = Claude::installed();
    let actions = json!([["record-principle", {
        "name": "wrong-impossible", "description": "Make invalid states impossible", "confidence": 0.95,
    }]]);
    let input = json!({ "actions": actions });
    let model = StubModel::start([Step::Use { tool: "mcp__consort__act".into(), input }, Step::say("Done.")]);
    let mut first = claude.headless_command(&world, &model, "remember this");
    let ran = world.ran(first.args(["--allowedTools", "mcp__consort__act"]));
    assert!(
        told(model.turn_requests().last().unwrap()).contains("recorded principle wrong-impossible"),
        "{ran}"
    );

    let model = StubModel::start([Step::say("Hello.")]);
    world.ran(&mut claude.headless_command(&world, &model, "what do you know?"));
    let turn = told(&model.turn_requests()[0]);
    assert!(
        turn.contains("principle wrong-impossible, by ") && turn.contains("Make invalid states impossible"),
        "{turn}"
    );
}

/// Two real sessions with similar prompts are told of each other, once.
#[test]
fn two_sessions_that_converge_are_told_so() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let claude = Claude::installed();
    assert_eq!(world.run("init --agent claude --yes").code, 0);

    let falcon_model = StubModel::start([
        Step::bash("while [ ! -e go ]; do sleep 0.05; done"),
        Step::bash("true"),
        Step::say("Done."),
    ]);
    let mut falcon = claude
        .headless_command(&world, &falcon_model, "rotate the signing key of the session cookie")
        .env("CONSORT_NAME", "Falcon")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(|| world.run("who --json").stdout.contains("! -e go").then_some(()));

    let raven_model =
        StubModel::start([Step::bash("while [ ! -e heard ]; do sleep 0.05; done"), Step::say("Done.")]);
    let mut raven = claude
        .headless_command(&world, &raven_model, "the session cookie has a stale signing key")
        .env("CONSORT_NAME", "Raven")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(|| world.run("who --json").stdout.contains("! -e heard").then_some(()));
    std::fs::write(world.project().join("go"), "").unwrap();
    assert!(falcon.wait().unwrap().success());
    std::fs::write(world.project().join("heard"), "").unwrap();
    assert!(raven.wait().unwrap().success());

    let told_raven = "Falcon is also about cookie, key, session, 1 more: coordinate before you go on";
    let turns = raven_model.turn_requests();
    assert_eq!(times_told(&turns[0], told_raven), 1, "{}", told(&turns[0]));
    assert_eq!(times_told(&turns[1], told_raven), 1, "{}", told(&turns[1]));
    let told_falcon = "Raven is also about cookie, key, session, 1 more: coordinate before you go on";
    let turns = falcon_model.turn_requests();
    assert_eq!(times_told(&turns[0], told_falcon), 0, "{}", told(&turns[0]));
    assert_eq!(times_told(&turns[1], told_falcon), 1, "{}", told(&turns[1]));
    assert_eq!(times_told(&turns[2], told_falcon), 1, "{}", told(&turns[2]));

    let history = world.run("radar history").stdout;
    assert!(history.contains(": topics: cookie, key, session, signing"), "{history}");
    assert!(history.contains("expired, just now: Falcon left"), "{history}");
    assert_eq!(world.run("journal verify").code, 0);
    assert!(!world.data().join("hook.log").exists());
}

/// Calls `look` until it returns something.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(seen) = look() {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing was seen in thirty seconds");
}
