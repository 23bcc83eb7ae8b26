//! Tests of the real agent CLIs besides Claude Code, connected by `consort init`: each is
//! seen, gets mail, is kept from what another holds, leaves, and is given back its
//! files.

#![expect(clippy::expect_used, reason = "the same, in words")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use consort_agents::Ability;
use consort_testkit::Claude;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::with;
use serde_json::Value;
use serde_json::json;

#[test]
fn codex_takes_part() {
    takes_part(RealAgent::Codex);
}

#[test]
fn gemini_takes_part() {
    takes_part(RealAgent::Gemini);
}

#[test]
fn opencode_takes_part() {
    takes_part(RealAgent::OpenCode);
}

#[test]
fn pi_takes_part() {
    takes_part(RealAgent::Pi);
}

#[test]
fn copilot_takes_part() {
    takes_part(RealAgent::Copilot);
}

fn takes_part(agent: RealAgent) {
    if agent.is_out_of_reach() {
        return;
    }
    let world = std::sync::Arc::new(Sealed::new(env!("CARGO_BIN_EXE_consort")));
    world.git_init();
    let kind = agent.kind();
    let joined = world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon");
    assert_eq!(joined.code, 0, "{joined}");
    assert_eq!(world.run_as(Some("s1"), &["reserve", "held.txt", "--reason", "mine today"]).code, 0);

    let (sender, consort) = (std::sync::Arc::clone(&world), env!("CARGO_BIN_EXE_consort"));
    let model = StubModel::start([
        agent.shell_step(&format!("{consort} who --json > who.json")),
        agent.write_step(&world, "held.txt", "not yours").meanwhile(move || {
            // The person writes to the newcomer, by the name it was given.
            let who: Value = serde_json::from_str(&sender.run("who --json").stdout).unwrap();
            let agents = who["items"].as_array().unwrap();
            let other = agents.iter().find(|agent| agent["name"] != "Falcon").expect("it has joined");
            let name = other["name"].as_str().unwrap().to_owned();
            let sent = sender.run_as(None, &["send", &name, "hello from the person"]);
            assert_eq!(sent.code, 0, "{sent}");
        }),
        agent.write_step(&world, "free.txt", "ours"),
        Step::say("Done."),
    ]);
    agent.settle(&world, &model);
    let before = files(&agent.config_dir(&world));
    let connected = world.run(&format!("init --agent {kind} --yes"));
    assert_eq!(connected.code, 0, "{connected}");
    assert_ne!(files(&agent.config_dir(&world)), before);

    let ran = world.ran(&mut agent.headless_command(&world, &model, "please look around"));
    let turns: Vec<String> = model.turn_requests().iter().map(Value::to_string).collect();
    assert!(turns.len() >= 4, "{} turns; {ran}", turns.len());

    // Before its first answer, the agent is told who it is and who else is here.
    assert!(turns[0].contains("1 other agent is here"), "{kind}: {}", turns[0]);
    // The agent sees itself in `who`, with its kind and model.
    let seen = std::fs::read_to_string(world.project().join("who.json"));
    assert!(seen.is_ok(), "{ran}\n{}", turns.join("\n"));
    let seen: Value =
        serde_json::from_str(&std::fs::read_to_string(world.project().join("who.json")).unwrap()).unwrap();
    let me = seen["items"].as_array().unwrap().iter().find(|agent| agent["cli"] == kind);
    let me = me.unwrap_or_else(|| panic!("{kind} is not in {seen}"));
    assert_eq!(me["you"], true, "{me}");
    let lacks = consort_agents::find(kind).unwrap().missing_abilities();
    let model_name = (!lacks.contains(&Ability::TellsItsModel)).then(|| agent.model());
    assert_eq!(me["model"].as_str(), model_name, "{me}");
    assert_eq!(me["prompts"], 1, "{me}");
    // The message is in a later request, once.
    let heard: Vec<usize> = turns.iter().map(|turn| turn.matches("hello from the person").count()).collect();
    assert_eq!(&heard[..2], [0, 0], "{kind}");
    assert_eq!(heard[3], 1, "{kind}: {heard:?}");
    // The agent does not write what another holds, and is told why; other files it writes.
    assert!(!world.project().join("held.txt").exists());
    assert!(turns[2].contains("is reserved by Falcon"), "{kind}: {}", turns[2]);
    assert!(world.project().join("free.txt").exists(), "{ran}");

    // The agent leaves when its session ends.
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    assert_eq!(who["items"].as_array().unwrap().len(), 1, "{who}");
    assert_eq!(world.run("journal verify").code, 0);
    let log = std::fs::read_to_string(world.data().join("hook.log")).unwrap_or_default();
    assert_eq!(log, "");

    // `uninit` restores the files as they were.
    let parted = world.run(&format!("uninit --agent {kind} --yes"));
    assert_eq!(parted.code, 0, "{parted}");
    is_as_before(&before, &files(&agent.config_dir(&world)));
}

/// If a CLI's turn can be kept going, mail that comes at the end of a turn is delivered
/// in that turn, once, and then the turn ends.
#[test]
fn mail_at_the_end_of_a_turn_keeps_it_going_once() {
    let agents = RealAgent::ALL.into_iter().filter(|agent| !agent.is_out_of_reach());
    for agent in agents.filter(|agent| *agent != RealAgent::OpenCode) {
        let world = std::sync::Arc::new(Sealed::new(env!("CARGO_BIN_EXE_consort")));
        world.git_init();
        let sender = std::sync::Arc::clone(&world);
        let model = StubModel::start([
            agent.shell_step("true"),
            Step::say("Done.").meanwhile(move || {
                let sent = sender.run_as(None, &["send", "Newcomer", "before you stop"]);
                assert_eq!(sent.code, 0, "{sent}");
            }),
            Step::say("Done indeed."),
        ]);
        agent.settle(&world, &model);
        assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
        let mut turn = agent.headless_command(&world, &model, "please go on");
        let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
        let heard: Vec<usize> = model
            .turn_requests()
            .iter()
            .map(|turn| turn.to_string().matches("before you stop").count())
            .collect();
        assert_eq!(heard, [0, 0, 1], "{agent:?}: {ran}");
        // Our own words do not count as the person's prompt.
        let handoff = world.run("agent handoff Newcomer").stdout;
        assert!(handoff.contains("Asked last: \"please go on\""), "{agent:?}: {handoff}");
    }
}

/// A call over MCP comes from the same agent as the session's hooks.
#[test]
fn they_send_through_our_mcp_server() {
    let agents =
        RealAgent::ALL.into_iter().filter(|agent| *agent != RealAgent::Pi && !agent.is_out_of_reach());
    for agent in agents {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
        let call = json!({ "to": ["Falcon"], "text": "sent over MCP" });
        let model = StubModel::start([agent.our_tool_step("send", call), Step::say("Done.")]);
        agent.settle(&world, &model);
        let before = files(&agent.config_dir(&world));
        assert_eq!(world.run(&format!("init --mcp --agent {} --yes", agent.kind())).code, 0);
        let mut turn = agent.headless_command(&world, &model, "tell Falcon");
        let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
        let told = model.turn_requests().last().map(Value::to_string).unwrap_or_default();
        // Some CLIs show the model the text of the result, some the data.
        let is_answered = told.contains("Sent message #") || told.contains(r#"\"number\":"#);
        assert!(is_answered, "{agent:?}: {told} {ran}");
        let inbox = world.run_as(Some("s1"), &["inbox", "--json"]).stdout;
        let letters: Value = serde_json::from_str(&inbox).unwrap();
        assert_eq!(letters["items"][0]["text"], "sent over MCP", "{agent:?}: {inbox}");
        assert_eq!(letters["items"][0]["from"]["cli"], agent.kind(), "{inbox}");
        assert_eq!(
            letters["items"][0]["from"]["name"],
            "Newcomer",
            "{inbox} {}",
            world.run("journal tail -n 50").stdout
        );
        // Hooks and MCP tools are one agent, not two.
        let journal = world.run("journal tail -n 50").stdout;
        assert_eq!(journal.matches(" joined (").count(), 2, "{journal}");
        assert_eq!(world.run(&format!("uninit --agent {} --yes", agent.kind())).code, 0);
        is_as_before(&before, &files(&agent.config_dir(&world)));
    }
}

/// Asserts that all files are as before, and that none of ours is left.
fn is_as_before(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    for (path, text) in before {
        let shown = after.get(path).map(|text| String::from_utf8_lossy(text));
        assert_eq!(shown, Some(String::from_utf8_lossy(text)), "{path}");
    }
    assert!(!after.keys().any(|path| path.contains("consort")), "{:?}", after.keys());
}

/// An agent that is connected for one run is seen and calls us, and its settings are never
/// changed.
#[test]
fn a_run_can_be_connected_without_a_trace() {
    for agent in RealAgent::ALL.into_iter().filter(|agent| !agent.is_out_of_reach()) {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        let kind = agent.kind();
        assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
        assert_eq!(world.run_as(Some("s1"), &["reserve", "held.txt"]).code, 0);
        let send = match agent {
            RealAgent::Pi => {
                agent.shell_step(&format!("{} send Falcon 'for once'", env!("CARGO_BIN_EXE_consort")))
            }
            _ => agent.our_tool_step("send", json!({ "to": ["Falcon"], "text": "for once" })),
        };
        let model =
            StubModel::start([agent.write_step(&world, "held.txt", "not yours"), send, Step::say("Done.")]);
        agent.settle(&world, &model);
        let before = files(&agent.config_dir(&world));
        let alone = agent.headless_command(&world, &model, "please go on");
        let ran = world.ran(&mut with(&world, kind, &alone));
        assert!(!world.project().join("held.txt").exists(), "{kind}: {ran}");
        let letters: Value =
            serde_json::from_str(&world.run_as(Some("s1"), &["inbox", "--json"]).stdout).unwrap();
        assert_eq!(
            (&letters["items"][0]["text"], &letters["items"][0]["from"]["cli"]),
            (&json!("for once"), &json!(kind)),
            "{ran}"
        );
        let after = files(&agent.config_dir(&world));
        is_as_before(&before, &after);
        let is_told = |text: &Vec<u8>| String::from_utf8_lossy(text).contains(" hook ");
        let settings = before.keys().filter(|path| is_told(&after[*path]));
        assert_eq!(settings.count(), 0, "{kind}");
    }
}

/// Three vendors in one project: each gets the message of the one before it, and none writes
/// what another holds.
#[test]
fn three_vendors_talk_and_keep_out_of_each_others_way() {
    if RealAgent::Codex.is_out_of_reach() || RealAgent::Gemini.is_out_of_reach() {
        return;
    }
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let (claude, consort) = (Claude::installed(), env!("CARGO_BIN_EXE_consort"));
    let until = |file: &str| format!("while [ ! -e {file} ]; do sleep 0.05; done");
    let busy = |name: &str, next: &str| {
        format!("{consort} reserve {name}.txt && touch {name}.here && {}", until(&format!("{next}.here")))
    };
    let write = |agent: RealAgent, path: &str| agent.write_step(&world, path, "mine");

    // Each reserves a file, waits for the next, tries its file, writes to it, and waits for the end.
    let place = world.project().canonicalize().unwrap().join("codex.txt");
    let claude_model = StubModel::start([
        Step::bash(&busy("claude", "gemini")),
        Step::Use { tool: "Write".into(), input: json!({ "file_path": place, "content": "mine" }) },
        Step::bash(&format!(
            "{consort} send Codie 'from claude to codex' && touch claude.said && {}",
            until("gemini.said")
        )),
        Step::bash(&until("end")),
        Step::say("Done."),
    ]);
    let codex_model = StubModel::start([
        RealAgent::Codex.shell_step(&busy("codex", "gemini")),
        write(RealAgent::Codex, "gemini.txt"),
        RealAgent::Codex.shell_step(&until("claude.said")),
        RealAgent::Codex.shell_step(&format!(
            "{consort} send Gem 'from codex to gemini' && touch codex.said && {}",
            until("end")
        )),
        Step::say("Done."),
    ]);
    let gemini_model = StubModel::start([
        RealAgent::Gemini.shell_step(&busy("gemini", "claude")),
        write(RealAgent::Gemini, "claude.txt"),
        RealAgent::Gemini.shell_step(&until("codex.said")),
        RealAgent::Gemini
            .shell_step(&format!("{consort} send Claudia 'from gemini to claude' && touch gemini.said")),
        RealAgent::Gemini.shell_step(&until("end")),
        Step::say("Done."),
    ]);
    for (agent, model) in [(RealAgent::Codex, &codex_model), (RealAgent::Gemini, &gemini_model)] {
        agent.settle(&world, model);
        assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
    }
    assert_eq!(world.run("init --agent claude --yes").code, 0);
    let quietly = |mut command: Command, name: &str| {
        command.env("CONSORT_NAME", name).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut all = [
        quietly(claude.headless_command(&world, &claude_model, "first"), "Claudia"),
        quietly(RealAgent::Codex.headless_command(&world, &codex_model, "second"), "Codie"),
        quietly(RealAgent::Gemini.headless_command(&world, &gemini_model, "third"), "Gem"),
    ];
    let mut is_said = false;
    for _ in 0..600 {
        is_said = world.project().join("gemini.said").exists() && claude_model.turn_requests().len() >= 4;
        if is_said {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::fs::write(world.project().join("end"), "").unwrap();
    let ended = all.each_mut().map(|child| child.wait().unwrap().success());
    assert!(is_said, "{ended:?}\n{}", world.run("journal tail -n 60"));

    let last = |model: &StubModel| model.turn_requests().last().map(Value::to_string).unwrap_or_default();
    for (model, heard, held) in [
        (&claude_model, "from gemini to claude", "codex.txt is reserved by Codie (codex on main"),
        (&codex_model, "from claude to codex", "gemini.txt is reserved by Gem (gemini on main"),
        (&gemini_model, "from codex to gemini", "claude.txt is reserved by Claudia (claude on main"),
    ] {
        let told = last(model);
        assert_eq!(told.matches(heard).count(), 1, "{heard} in {told}");
        assert!(told.contains(held), "{held} in {told}");
    }
    for file in ["claude.txt", "codex.txt", "gemini.txt"] {
        assert!(!world.project().join(file).exists(), "{file}");
    }
    assert_eq!(world.run("who").stdout, "No agents are in shop.\n");
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn a_first_claude_is_told_of_a_second_session() {
    let claude = Claude::installed();
    let step = |command: &str| Step::bash(command);
    is_told_of_a_second("claude", step, |world, model| claude.headless_command(world, model, "first"));
}

#[test]
fn a_first_codex_is_told_of_a_second_session() {
    is_told_of_a_second_session(RealAgent::Codex);
}

#[test]
fn a_first_gemini_is_told_of_a_second_session() {
    is_told_of_a_second_session(RealAgent::Gemini);
}

fn is_told_of_a_second_session(agent: RealAgent) {
    if agent.is_out_of_reach() {
        return;
    }
    let step = |command: &str| agent.shell_step(command);
    is_told_of_a_second(agent.kind(), step, |world, model| {
        agent.settle(world, model);
        assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
        agent.headless_command(world, model, "first")
    });
}

/// Checks that an agent that was alone is told with its next tool result, once, who has come.
fn is_told_of_a_second(
    kind: &str,
    shell: impl Fn(&str) -> Step,
    first: impl FnOnce(&Sealed, &StubModel) -> Command,
) {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("init --agent claude --yes").code, 0);
    let until = |file: &str| format!("while [ ! -e {file} ]; do sleep 0.05; done");
    let first_model = StubModel::start([
        shell(&format!("touch first.here; {}", until("second.here"))),
        shell("true"),
        shell("touch end"),
        Step::say("Done."),
    ]);
    let second_model =
        StubModel::start([Step::bash(&format!("touch second.here; {}", until("end"))), Step::say("Done.")]);
    let quietly = |command: &mut Command, name: &str| {
        command.env("CONSORT_NAME", name).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut one = quietly(&mut first(&world, &first_model), "Early");
    for _ in 0..1_200 {
        if world.project().join("first.here").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let mut two =
        quietly(&mut Claude::installed().headless_command(&world, &second_model, "second"), "Latecomer");
    let ended = one.wait().unwrap();
    std::fs::write(world.project().join("end"), "").unwrap();
    two.wait().unwrap();
    let turns: Vec<String> = first_model.turn_requests().iter().map(Value::to_string).collect();
    assert!(turns.len() >= 4, "{kind}: {ended}, {} turns", turns.len());
    assert!(!turns[0].contains("Latecomer"), "{kind}: {}", turns[0]);
    let told = "Latecomer (claude, branch main) has joined this project";
    assert_eq!(turns[3].matches(told).count(), 1, "{kind}: {}", turns[3]);
}

/// Reads every file below a directory.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                dirs.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(dir).unwrap().display().to_string();
                found.insert(name, std::fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    found
}
