//! The real agent CLIs besides Claude Code, connected by `consort init`: each is
//! seen, hears, is kept from what another holds, leaves, and is given back its
//! files.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]
#![expect(clippy::expect_used, reason = "the same, in words")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

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
    let joined = world.run("join --pid $OTHER --kind claude --session s1 --name Falcon");
    assert_eq!(joined.code, 0, "{joined}");
    assert_eq!(world.run_as(Some("s1"), &["reserve", "held.txt", "--reason", "mine today"]).code, 0);

    let (sender, consort) = (std::sync::Arc::clone(&world), env!("CARGO_BIN_EXE_consort"));
    let model = StubModel::start([
        agent.shell(&format!("{consort} who --json > who.json")),
        agent.write(&world, "held.txt", "not yours").meanwhile(move || {
            // To whoever the newcomer turned out to be.
            let who: Value = serde_json::from_str(&sender.run("who --json").stdout).unwrap();
            let agents = who["agents"].as_array().unwrap();
            let other = agents.iter().find(|agent| agent["name"] != "Falcon").expect("it has joined");
            let name = other["name"].as_str().unwrap().to_owned();
            let sent = sender.run_as(None, &["send", &name, "hello from the person"]);
            assert_eq!(sent.code, 0, "{sent}");
        }),
        agent.write(&world, "free.txt", "ours"),
        Step::say("Done."),
    ]);
    agent.settle(&world, &model);
    let before = files(&agent.config_dir(&world));
    let connected = world.run(&format!("init --agent {kind} --yes"));
    assert_eq!(connected.code, 0, "{connected}");
    assert_ne!(files(&agent.config_dir(&world)), before);

    let ran = world.ran(&mut agent.headless(&world, &model, "please look around"));
    let turns: Vec<String> = model.turns().iter().map(Value::to_string).collect();
    assert!(turns.len() >= 4, "{} turns; {ran}", turns.len());

    // It is told who it is and who else is here, before its first answer.
    assert!(turns[0].contains("1 other agent is here"), "{kind}: {}", turns[0]);
    // It is seen by itself, with its kind and model.
    let seen = std::fs::read_to_string(world.project().join("who.json"));
    assert!(seen.is_ok(), "{ran}\n{}", turns.join("\n"));
    let seen: Value =
        serde_json::from_str(&std::fs::read_to_string(world.project().join("who.json")).unwrap()).unwrap();
    let me = seen["agents"].as_array().unwrap().iter().find(|agent| agent["kind"] == kind);
    let me = me.unwrap_or_else(|| panic!("{kind} is not in {seen}"));
    assert_eq!(me["you"], true, "{me}");
    let lacks = consort_agents::find(kind).unwrap().lacks();
    let model_name = (!lacks.contains(&Ability::TellsItsModel)).then(|| agent.model());
    assert_eq!(me["model"].as_str(), model_name, "{me}");
    assert_eq!(me["prompts"], 1, "{me}");
    // What was sent to it is in a later request, once.
    let heard: Vec<usize> = turns.iter().map(|turn| turn.matches("hello from the person").count()).collect();
    assert_eq!(&heard[..2], [0, 0], "{kind}");
    assert_eq!(heard[3], 1, "{kind}: {heard:?}");
    // What another holds it does not write, and it knows why; the rest it does.
    assert!(!world.project().join("held.txt").exists());
    assert!(turns[2].contains("is reserved by Falcon"), "{kind}: {}", turns[2]);
    assert!(world.project().join("free.txt").exists(), "{ran}");

    // It leaves with its session.
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    assert_eq!(who["agents"].as_array().unwrap().len(), 1, "{who}");
    assert_eq!(world.run("journal verify").code, 0);
    let log = std::fs::read_to_string(world.data().join("hook.log")).unwrap_or_default();
    assert_eq!(log, "");

    // What was there before is there again.
    let parted = world.run(&format!("uninit --agent {kind} --yes"));
    assert_eq!(parted.code, 0, "{parted}");
    is_as_before(&before, &files(&agent.config_dir(&world)));
}

/// Where a CLI can be kept going, mail that comes at the end of a turn is heard
/// in it, once, and the turn ends.
#[test]
fn mail_at_the_end_of_a_turn_keeps_it_going_once() {
    let agents = RealAgent::ALL.into_iter().filter(|agent| !agent.is_out_of_reach());
    for agent in agents.filter(|agent| *agent != RealAgent::OpenCode) {
        let world = std::sync::Arc::new(Sealed::new(env!("CARGO_BIN_EXE_consort")));
        world.git_init();
        let sender = std::sync::Arc::clone(&world);
        let model = StubModel::start([
            agent.shell("true"),
            Step::say("Done.").meanwhile(move || {
                let sent = sender.run_as(None, &["send", "Newcomer", "before you stop"]);
                assert_eq!(sent.code, 0, "{sent}");
            }),
            Step::say("Done indeed."),
        ]);
        agent.settle(&world, &model);
        assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
        let mut turn = agent.headless(&world, &model, "please go on");
        let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
        let heard: Vec<usize> =
            model.turns().iter().map(|turn| turn.to_string().matches("before you stop").count()).collect();
        assert_eq!(heard, [0, 0, 1], "{agent:?}: {ran}");
        // What we said is not what the person asked for.
        let handoff = world.run("handoff Newcomer").stdout;
        assert!(handoff.contains("Asked last: \"please go on\""), "{agent:?}: {handoff}");
    }
}

/// In its own sandbox and with its own approvals Codex speaks through our MCP server,
/// which `init` adds.
#[test]
fn codex_speaks_with_its_own_defaults() {
    let agent = RealAgent::Codex;
    if agent.is_out_of_reach() {
        return;
    }
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    let send = json!({ "to": ["Falcon"], "text": "out of the sandbox" });
    let model = StubModel::start([
        agent.ours("send", send),
        agent.ours("reserve", json!({ "what": ["src/"] })),
        Step::say("Done."),
    ]);
    agent.settle(&world, &model);
    let config = agent.config_dir(&world).join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("approval_policy = \"never\"\n", "");
    std::fs::write(&config, text.replace("danger-full-access", "workspace-write")).unwrap();
    let connected = world.run("init --agent codex --yes");
    assert_eq!(connected.code, 0, "{connected}");
    let mut turn = agent.headless(&world, &model, "please go on");
    let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
    let heard = world.run_as(Some("s1"), &["inbox"]).stdout;
    assert!(heard.contains("> out of the sandbox"), "{ran}\n{heard}");
    let journal = world.run("journal tail -n 50").stdout;
    assert!(journal.contains("src/"), "{ran}\n{journal}");
}

/// Over MCP they are who they are through their hooks.
#[test]
fn they_send_through_our_mcp_server() {
    let agents =
        RealAgent::ALL.into_iter().filter(|agent| *agent != RealAgent::Pi && !agent.is_out_of_reach());
    for agent in agents {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        assert_eq!(world.run("join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
        let call = json!({ "to": ["Falcon"], "text": "sent over MCP" });
        let model = StubModel::start([agent.ours("send", call), Step::say("Done.")]);
        agent.settle(&world, &model);
        let before = files(&agent.config_dir(&world));
        assert_eq!(world.run(&format!("init --mcp --agent {} --yes", agent.kind())).code, 0);
        let mut turn = agent.headless(&world, &model, "tell Falcon");
        let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
        let told = model.turns().last().map(Value::to_string).unwrap_or_default();
        // Some show the model the text, some the data.
        let is_answered = told.contains("Sent #") || told.contains(r#"\"number\":"#);
        assert!(is_answered, "{agent:?}: {told} {ran}");
        let inbox = world.run_as(Some("s1"), &["inbox", "--json"]).stdout;
        let letters: Value = serde_json::from_str(&inbox).unwrap();
        assert_eq!(letters[0]["text"], "sent over MCP", "{agent:?}: {inbox}");
        assert_eq!(letters[0]["from"]["kind"], agent.kind(), "{inbox}");
        assert_eq!(
            letters[0]["from"]["name"],
            "Newcomer",
            "{inbox} {}",
            world.run("journal tail -n 50").stdout
        );
        // One agent, not one for its hooks and one for its tools.
        let journal = world.run("journal tail -n 50").stdout;
        assert_eq!(journal.matches(" joined (").count(), 2, "{journal}");
        assert_eq!(world.run(&format!("uninit --agent {} --yes", agent.kind())).code, 0);
        is_as_before(&before, &files(&agent.config_dir(&world)));
    }
}

/// What was there before is there again, and nothing of ours.
fn is_as_before(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    for (path, text) in before {
        let shown = after.get(path).map(|text| String::from_utf8_lossy(text));
        assert_eq!(shown, Some(String::from_utf8_lossy(text)), "{path}");
    }
    assert!(!after.keys().any(|path| path.contains("consort")), "{:?}", after.keys());
}

/// Connected for one run, an agent is seen and calls us, and its settings never
/// hear of it.
#[test]
fn a_run_can_be_connected_without_a_trace() {
    for agent in RealAgent::ALL.into_iter().filter(|agent| !agent.is_out_of_reach()) {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        let kind = agent.kind();
        assert_eq!(world.run("join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
        assert_eq!(world.run_as(Some("s1"), &["reserve", "held.txt"]).code, 0);
        let send = match agent {
            RealAgent::Pi => {
                agent.shell(&format!("{} send Falcon 'for once'", env!("CARGO_BIN_EXE_consort")))
            }
            _ => agent.ours("send", json!({ "to": ["Falcon"], "text": "for once" })),
        };
        let model =
            StubModel::start([agent.write(&world, "held.txt", "not yours"), send, Step::say("Done.")]);
        agent.settle(&world, &model);
        let before = files(&agent.config_dir(&world));
        let alone = agent.headless(&world, &model, "please go on");
        let ran = world.ran(&mut with(&world, kind, &alone));
        assert!(!world.project().join("held.txt").exists(), "{kind}: {ran}");
        let letters: Value =
            serde_json::from_str(&world.run_as(Some("s1"), &["inbox", "--json"]).stdout).unwrap();
        assert_eq!(
            (&letters[0]["text"], &letters[0]["from"]["kind"]),
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

#[test]
fn no_agent_stands_still_because_we_are_gone() {
    goes_on_without_us(LONGEST_AFTER_A_CRASH, |program| std::fs::remove_file(program).unwrap());
}

#[test]
fn no_agent_stands_still_because_we_crash() {
    goes_on_without_us(LONGEST_AFTER_A_CRASH, |program| {
        script(program, "echo null\necho broken >&2\nkill -SEGV $$");
    });
}

#[test]
fn no_agent_stands_still_because_we_hang() {
    goes_on_without_us(LONGEST_WHEN_WE_HANG, |program| {
        script(program, "echo $$ >> \"$0.hangs\"\nexec sleep 1000");
    });
}

/// For each tool: what happens before it and after it.
const LONGEST_WHEN_WE_HANG: Duration = Duration::from_secs(15);
/// Three seconds, and what a busy machine adds.
const LONGEST_AFTER_A_CRASH: Duration = Duration::from_secs(10);

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Connects each agent CLI from a place of its own, spoils what is there, and lets
/// them work.
fn goes_on_without_us(longest: Duration, spoil: impl Fn(&Path)) {
    let others = RealAgent::ALL.into_iter().filter(|agent| !agent.is_out_of_reach());
    // Nothing is started before all programs are written.
    let all: Vec<_> =
        std::iter::once(None).chain(others.map(Some)).map(|agent| connected(agent, &spoil)).collect();
    std::thread::scope(|scope| {
        for (kind, world, model, mut turn) in all {
            scope.spawn(move || {
                let ran = world.ran(&mut turn);
                let hanging = std::fs::read_to_string(world.path().join("consort.hangs")).unwrap_or_default();
                for hanging in hanging.lines() {
                    // It may have been ended by its CLI.
                    let _ = std::process::Command::new("kill").arg(hanging).stderr(Stdio::null()).status();
                }
                assert!(world.project().join("free.txt").exists(), "{kind}: {ran}");
                assert_eq!(model.turns().len(), 3, "{kind}: {ran}");
                let pauses = model.pauses();
                assert!(pauses.iter().all(|pause| *pause < longest), "{kind}: {pauses:?}");
            });
        }
    });
}

/// Claude Code, unless another is named, in a world where our program is spoilt.
fn connected(
    agent: Option<RealAgent>,
    spoil: impl Fn(&Path),
) -> (&'static str, Sealed, StubModel, std::process::Command) {
    let kind = agent.map_or("claude", RealAgent::kind);
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let place = world.project().canonicalize().unwrap().join("free.txt");
    let write = Step::Use { tool: "Write".into(), input: json!({ "file_path": place, "content": "ours" }) };
    let steps = match agent {
        Some(agent) => [agent.shell("true"), agent.write(&world, "free.txt", "ours")],
        None => [Step::bash("true"), write],
    };
    let model = StubModel::start(steps);
    model.then(Step::say("Done."));
    if let Some(agent) = agent {
        agent.settle(&world, &model);
    }
    let program = world.path().join("consort");
    std::fs::copy(env!("CARGO_BIN_EXE_consort"), &program).unwrap();
    let mut init = world.command(&program);
    let ran = world.ran(init.args(["init", "--yes", "--agent", kind]));
    assert_eq!(ran.code, 0, "{ran}");
    std::fs::remove_file(&program).unwrap();
    std::fs::write(&program, "").unwrap();
    spoil(&program);
    let turn = match agent {
        Some(agent) => agent.headless(&world, &model, "please go on"),
        None => Claude::installed().headless(&world, &model, "please go on"),
    };
    (kind, world, model, turn)
}

/// Three vendors in one project: each hears the one before it, and none writes
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
    let write = |agent: RealAgent, path: &str| agent.write(&world, path, "mine");

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
        RealAgent::Codex.shell(&busy("codex", "gemini")),
        write(RealAgent::Codex, "gemini.txt"),
        RealAgent::Codex.shell(&until("claude.said")),
        RealAgent::Codex.shell(&format!(
            "{consort} send Gem 'from codex to gemini' && touch codex.said && {}",
            until("end")
        )),
        Step::say("Done."),
    ]);
    let gemini_model = StubModel::start([
        RealAgent::Gemini.shell(&busy("gemini", "claude")),
        write(RealAgent::Gemini, "claude.txt"),
        RealAgent::Gemini.shell(&until("codex.said")),
        RealAgent::Gemini
            .shell(&format!("{consort} send Claudia 'from gemini to claude' && touch gemini.said")),
        RealAgent::Gemini.shell(&until("end")),
        Step::say("Done."),
    ]);
    for (agent, model) in [(RealAgent::Codex, &codex_model), (RealAgent::Gemini, &gemini_model)] {
        agent.settle(&world, model);
        assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
    }
    assert_eq!(world.run("init --agent claude --yes").code, 0);
    let quietly = |mut command: std::process::Command, name: &str| {
        command.env("CONSORT_NAME", name).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut all = [
        quietly(claude.headless(&world, &claude_model, "first"), "Claudia"),
        quietly(RealAgent::Codex.headless(&world, &codex_model, "second"), "Codie"),
        quietly(RealAgent::Gemini.headless(&world, &gemini_model, "third"), "Gem"),
    ];
    let mut is_said = false;
    for _ in 0..600 {
        is_said = world.project().join("gemini.said").exists() && claude_model.turns().len() >= 4;
        if is_said {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::fs::write(world.project().join("end"), "").unwrap();
    let ended = all.each_mut().map(|child| child.wait().unwrap().success());
    assert!(is_said, "{ended:?}\n{}", world.run("journal tail -n 60"));

    let last = |model: &StubModel| model.turns().last().map(Value::to_string).unwrap_or_default();
    for (model, heard, held) in [
        (&claude_model, "from gemini to claude", "codex.txt is reserved by Codie (codex on main)"),
        (&codex_model, "from claude to codex", "gemini.txt is reserved by Gem (gemini on main)"),
        (&gemini_model, "from codex to gemini", "claude.txt is reserved by Claudia (claude on main)"),
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

/// Every file below a directory.
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

/// Commands in its sandbox cannot write the store: our server does it for them, as
/// far as an agent may.
#[test]
fn codex_commands_get_out_of_its_sandbox() {
    let agent = RealAgent::Codex;
    if agent.is_out_of_reach() {
        return;
    }
    // Its sandbox lets everything write to /tmp.
    let world = Sealed::new_in(Path::new("/var/tmp"), env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    assert_eq!(world.run_as(Some("s1"), &["reserve", "docs/"]).code, 0);
    std::fs::write(world.project().join("forged.py"), FORGED).unwrap();
    let expected = [
        ("touch $HOME/.local/share/consort/consort.db", "Read-only file system"),
        ("consort whoami", "Newcomer"),
        ("consort send Falcon 'by a command'", "Sent #"),
        ("echo 'by a pipe' | consort send Falcon -", "Sent #"),
        ("consort reserve src/", "Reserved src/"),
        ("consort reserve docs/", "is held by Falcon"),
        ("consort wait docs/ --timeout 1s", "docs/ is still held."),
        ("consort inbox", "No new messages."),
        ("python3 forged.py init --agent claude --yes", "it is no command for this way"),
        ("python3 forged.py --set x=y uninit", "it is no command for this way"),
    ];
    let consort = env!("CARGO_BIN_EXE_consort");
    let lines =
        expected.map(|(line, _)| format!("({}) 2>&1", line.replace("consort ", &format!("{consort} "))));
    let model = StubModel::start([agent.shell(&lines.join("; echo ---; ")), Step::say("Done.")]);
    agent.settle(&world, &model);
    let config = agent.config_dir(&world).join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("approval_policy = \"never\"\n", "");
    std::fs::write(&config, text.replace("danger-full-access", "workspace-write")).unwrap();
    assert_eq!(world.run("init --agent codex --yes").code, 0);
    let mut turn = agent.headless(&world, &model, "please go on");
    let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
    let items = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut outputs = items.filter_map(|item| item["item"]["aggregated_output"].as_str().map(str::to_owned));
    let output = outputs.next_back().unwrap_or_default();
    let parts: Vec<&str> = output.split("---\n").collect();
    assert_eq!(parts.len(), expected.len(), "{ran}");
    for ((line, wanted), said) in expected.iter().zip(parts) {
        assert!(said.contains(wanted), "{line}: {said}");
    }
    let heard = world.run_as(Some("s1"), &["inbox"]).stdout;
    assert!(heard.contains("> by a command") && heard.contains("> by a pipe"), "{heard}");
}

/// Asks our MCP server for any command, as a hostile program in the sandbox would.
const FORGED: &str = r#"
import fcntl, glob, json, os, sys, time
def ring(spool):
    for bell in glob.glob(os.path.join(spool, 'bells', '*')):
        try: return os.write(os.open(bell, os.O_WRONLY | os.O_NONBLOCK), b'x')
        except OSError: pass
for spool in glob.glob(f'/tmp/consort-{os.getuid()}-*'):
    if not ring(spool): continue
    new, ask, answer = (os.path.join(spool, f'f.{what}') for what in ('new', 'ask', 'answer'))
    file = open(new, 'w')
    json.dump({'arguments': sys.argv[1:], 'cwd': os.getcwd(), 'input': ''}, file)
    file.flush()
    fcntl.lockf(file, fcntl.LOCK_EX)
    os.rename(new, ask)
    ring(spool)
    for _ in range(25):
        if os.path.exists(answer): print(open(answer).read()); os.remove(answer); break
        time.sleep(0.02)
    if os.path.exists(ask): os.remove(ask)
"#;
