//! Tests of the rules by which `init` allows our commands without asking, and of the real CLIs that
//! obey them in the modes that ask.

use std::fs;
use std::path::Path;
use std::process::Command;

use consort_agents::allow;
use consort_testkit::Claude;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::Tmux;
use consort_testkit::until;
use serde_json::Value;
use serde_json::json;

const CONSORT: &str = env!("CARGO_BIN_EXE_consort");

fn rules(world: &Sealed) -> Vec<String> {
    let text = fs::read_to_string(world.home().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let rules = settings["permissions"]["allow"].as_array().cloned().unwrap_or_default();
    rules.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
}

#[test]
fn rules_go_in_and_out_and_those_of_the_person_stay() {
    let world = Sealed::new(CONSORT);
    fs::create_dir_all(world.home().join(".claude")).unwrap();
    let settings = world.home().join(".claude/settings.json");
    let theirs = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\",\n      \"Bash(consort who:*)\"\n    ]\n  }\n}\n";
    fs::write(&settings, theirs).unwrap();
    let count = allow::RULE_COUNT;

    // The dry run shows the rules, and adds none.
    let dry = world.run("init --agent claude --dry-run");
    assert!(dry.stdout.starts_with(&format!("Claude Code: 13 hooks, {count} allow rules\n")), "{dry}");
    assert!(dry.stdout.contains("+      \"Bash(consort send:*)\""), "{dry}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), theirs);

    assert_eq!(world.run("init --agent claude --yes --no-allow").code, 0);
    assert_eq!(rules(&world), ["Bash(ls)", "Bash(consort who:*)"]);
    let doctor = world.run("doctor");
    assert!(
        doctor.stdout.contains("Claude Code: its agents have to ask before they use `consort`"),
        "{doctor}"
    );

    assert_eq!(world.run("init --agent claude --yes").code, 0);
    let all = rules(&world);
    assert_eq!(all.len(), count + 1, "{all:?}");
    // There is one rule for each verb, none for the whole program, none for verbs that ask first.
    for asked in allow::ASKED {
        assert!(!all.contains(&format!("Bash(consort {asked}:*)")), "{asked}");
    }
    assert!(!all.iter().any(|rule| rule.starts_with("Bash(consort:") || rule == "mcp__consort"), "{all:?}");
    assert!(!world.run("doctor").stdout.contains("have to ask"));

    assert_eq!(world.run("uninit").code, 0);
    assert_eq!(fs::read_to_string(&settings).unwrap(), theirs);

    // If the file was changed meanwhile, exactly our rules are removed.
    world.run("init --agent claude --yes");
    let changed = fs::read_to_string(&settings).unwrap().replace("Bash(ls)", "Bash(make:*)");
    fs::write(&settings, changed).unwrap();
    assert_eq!(world.run("uninit").code, 0);
    assert_eq!(rules(&world), ["Bash(make:*)", "Bash(consort who:*)"]);
}

/// Without a terminal and without `--yes`, `init` shows what it would do, and does nothing.
#[test]
fn without_a_terminal_nothing_is_changed() {
    let world = Sealed::new(CONSORT);
    let ran = world.run("init --agent claude --agent pi");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("Claude Code: 13 hooks, "), "{ran}");
    assert!(ran.stdout.contains("pi: a plugin\n"), "{ran}");
    assert!(ran.stderr.contains("nothing was changed"), "{ran}");
    assert!(!world.home().join(".claude").exists() && !world.home().join(".pi").exists());
}

/// The commands that an everyday session runs.
const EVERYDAY: [&str; 5] = [
    "consort who",
    "consort send all 'hello there'",
    "consort reserve src/a.rs --reason mine",
    "consort task next --spec tasks.md",
    "consort know search anything",
];

fn from_a_tool() -> Value {
    json!({ "to": ["Falcon"], "text": "from a tool" })
}

/// Scripts a turn with all of these commands, a tool of ours, and a command that nobody has allowed.
fn script(world: &Sealed, shell: impl Fn(&str) -> Step, tool: Step) -> StubModel {
    let forbidden = shell(&format!("touch {}", world.path().join("forbidden").display()));
    let steps = EVERYDAY.iter().map(|command| shell(command));
    StubModel::start(steps.chain([tool, forbidden, Step::say("Done.")]).collect::<Vec<_>>())
}

fn prepared() -> Sealed {
    let world = Sealed::new(CONSORT);
    world.git_init();
    fs::write(world.project().join("tasks.md"), "# Spec\n\n- [ ] T-1: do it\n").unwrap();
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    world
}

/// Puts our program on a command's path.
fn with_us(command: &mut Command) -> &mut Command {
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let path = path.unwrap().to_string_lossy().into_owned();
    let bin = Path::new(CONSORT).parent().unwrap();
    command.env("PATH", format!("{}:{path}", bin.display()))
}

/// Checks that all our commands of the turn have run, and that the command nobody allowed has not.
fn check(world: &Sealed, model: &StubModel, ran: &dyn std::fmt::Display, kind: &str) {
    let turns: Vec<String> = model.turn_requests().iter().map(Value::to_string).collect();
    let last = turns.last().unwrap();
    assert!(!world.path().join("forbidden").exists(), "{kind}: nobody is asked here; {ran}");
    assert!(last.contains("Falcon"), "{kind}: `who` has run; {ran}\n{last}");
    let inbox = world.run_as(Some("s1"), &["inbox"]);
    assert!(inbox.stdout.contains("hello there"), "{kind}: `send` has run; {inbox}\n{ran}\n{last}");
    assert!(inbox.stdout.contains("from a tool"), "{kind}: the tool `send` has run; {inbox}\n{last}");
    let tail = world.run("journal tail").stdout;
    assert!(tail.contains("src/a.rs"), "{kind}: `reserve` has run; {tail}\n{last}");
    assert!(tail.contains("T-1"), "{kind}: `task next` has run; {tail}\n{last}");
}

#[test]
fn claude_asks_nobody() {
    let world = prepared();
    let claude = Claude::installed();
    let shell = |command: &str| Step::Use { tool: "Bash".into(), input: json!({ "command": command }) };
    let tool = Step::Use { tool: "mcp__consort__send".into(), input: from_a_tool() };
    let model = script(&world, shell, tool);
    assert_eq!(world.run("init --agent claude --mcp --yes").code, 0);
    let ran = world.ran(with_us(&mut claude.asking_command(&world, &model, "please look around")));
    check(&world, &model, &ran, "claude");
    let result: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1, "{result}");
}

/// Headless, Codex never asks, so this test uses its screen: there a command that leaves the sandbox
/// needs the person, unless a rule says otherwise.
#[test]
fn codex_asks_nobody() {
    let (agent, world) = (RealAgent::Codex, prepared());
    let shell = |command: &str| Step::Use {
        tool: "exec_command".into(),
        input: json!({ "cmd": command, "sandbox_permissions": "require_escalated", "justification": "to" }),
    };
    let model = script(&world, shell, agent.our_tool_step("send", from_a_tool()));
    agent.settle(&world, &model);
    let connected = world.run("init --agent codex --yes");
    assert_eq!(connected.code, 0, "{connected}");
    // Codex runs commands in a login shell.
    let profile = format!("export PATH=\"{}:$PATH\"\n", Path::new(CONSORT).parent().unwrap().display());
    fs::write(world.home().join(".profile"), profile).unwrap();
    let mut command = agent.command(&world, &model);
    let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
    let environment: Vec<(String, String)> = with_us(&mut command)
        .get_envs()
        .filter_map(|(name, value)| Some((text(name), text(value?))))
        .collect();
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| format!("PATH={path}"));
    let (path, program) = (path.unwrap(), text(command.get_program()));
    let line = [
        "env",
        &path,
        &program,
        "--dangerously-bypass-hook-trust",
        "-c",
        "approval_policy=\"on-request\"",
        "-c",
        "sandbox_mode=\"workspace-write\"",
        "please look around",
    ];
    let tmux = Tmux::start(&world, &environment, &line);
    // Answers the first-run questions; the only other dialog is for the command that no rule allows.
    let look = || {
        let screen = tmux.screen();
        let first = [
            ("› 1. Use current Git worktree", "Enter"),
            ("› 1. Try new model", "Down"),
            ("› 2. Use existing", "Enter"),
        ];
        if let Some((_, key)) = first.iter().find(|(text, _)| screen.contains(text)) {
            tmux.run(&["send-keys", key]);
        }
        screen
    };
    let screen = until("the dialog", look, |screen| screen.contains("Would you like to run"));
    assert!(screen.contains("touch "), "{screen}");
    assert_eq!(model.turn_requests().len(), EVERYDAY.len() + 2, "{screen}");
    check(&world, &model, &screen, "codex");
}

#[test]
fn gemini_asks_nobody() {
    asks_nobody(RealAgent::Gemini);
}

#[test]
fn opencode_asks_nobody() {
    asks_nobody(RealAgent::OpenCode);
}

fn asks_nobody(agent: RealAgent) {
    if agent.is_out_of_reach() {
        return;
    }
    let (world, kind) = (prepared(), agent.kind());
    let model =
        script(&world, |command| agent.shell_step(command), agent.our_tool_step("send", from_a_tool()));
    agent.settle(&world, &model);
    if agent == RealAgent::OpenCode {
        // By default OpenCode asks about nothing.
        let file = agent.config_dir(&world).join("opencode.json");
        let mut config: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        config["permission"] = json!("ask");
        fs::write(&file, config.to_string()).unwrap();
    }
    let connected = world.run(&format!("init --agent {kind} --mcp --yes"));
    assert_eq!(connected.code, 0, "{connected}");
    let ran = world.ran(with_us(&mut agent.asking_command(&world, &model, "please look around")));
    check(&world, &model, &ran, kind);
}
