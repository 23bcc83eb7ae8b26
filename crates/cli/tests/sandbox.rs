//! Tests of Codex with its own sandbox, in which its commands cannot write the store.

use std::path::Path;

use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use serde_json::Value;
use serde_json::json;

/// With its own sandbox and approvals, Codex calls us through our MCP server,
/// which `init` adds.
#[test]
fn codex_speaks_with_its_own_defaults() {
    let agent = RealAgent::Codex;
    if agent.is_out_of_reach() {
        return;
    }
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    let send = json!({ "to": ["Falcon"], "text": "out of the sandbox" });
    let model = StubModel::start([
        agent.our_tool_step("send", send),
        agent.our_tool_step("reserve", json!({ "what": ["src/"] })),
        Step::say("Done."),
    ]);
    agent.settle(&world, &model);
    let config = agent.config_dir(&world).join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("approval_policy = \"never\"\n", "");
    std::fs::write(&config, text.replace("danger-full-access", "workspace-write")).unwrap();
    let connected = world.run("init --agent codex --yes");
    assert_eq!(connected.code, 0, "{connected}");
    let mut turn = agent.headless_command(&world, &model, "please go on");
    let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
    let heard = world.run_as(Some("s1"), &["inbox"]).stdout;
    assert!(heard.contains("> out of the sandbox"), "{ran}\n{heard}");
    let journal = world.run("journal tail -n 50").stdout;
    assert!(journal.contains("src/"), "{ran}\n{journal}");
}

/// Commands in the sandbox cannot write the store: our MCP server carries them out, as
/// far as an agent may run them.
#[test]
fn codex_commands_get_out_of_its_sandbox() {
    let agent = RealAgent::Codex;
    if agent.is_out_of_reach() {
        return;
    }
    // Not in /tmp, because Codex's sandbox lets everything write there.
    let world = Sealed::new_in(Path::new("/var/tmp"), env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    assert_eq!(world.run_as(Some("s1"), &["reserve", "docs/"]).code, 0);
    for name in ["init", "who"] {
        std::fs::write(world.project().join(name), FORGED).unwrap();
    }
    let expected = [
        ("touch $HOME/.local/share/consort/consort.db", "Read-only file system"),
        ("consort whoami", "Newcomer"),
        ("consort send Falcon 'by a command'", "Sent message #"),
        ("echo 'by a pipe' | consort send Falcon -", "Sent message #"),
        ("printf -- '--key=abc' | consort send Falcon -", "Sent message #"),
        ("consort reserve src/", "Reserved src/"),
        ("consort reserve docs/", "is held by Falcon"),
        ("consort wait docs/ --timeout 1s", "docs/ is still reserved."),
        ("consort inbox", "No new messages."),
        ("python3 init --agent claude --yes", "it is no command for this way"),
        ("python3 who --set journal.retention_days=1", "it is no command for this way"),
        (
            "mkdir inner && cd inner && git init -q && consort whoami",
            "can only concern the repository of its session",
        ),
        ("consort reserve inner/file", "can only concern the repository of its session"),
        // An agent that was started in the sandbox is another agent: the server does not speak for it.
        ("cp $(which bash) gemini && ./gemini -c 'consort whoami; true'", "has not joined"),
    ];
    let consort = env!("CARGO_BIN_EXE_consort");
    let lines =
        expected.map(|(line, _)| format!("({}) 2>&1", line.replace("consort ", &format!("{consort} "))));
    // In parts, because Codex waits only ten seconds for a command.
    let parts = lines.chunks(4).map(|part| {
        agent.shell_step(&part.iter().map(|line| format!("{line}; echo ---")).collect::<Vec<_>>().join("; "))
    });
    let model = StubModel::start(parts.chain([Step::say("Done.")]));
    agent.settle(&world, &model);
    let config = agent.config_dir(&world).join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("approval_policy = \"never\"\n", "");
    std::fs::write(&config, text.replace("danger-full-access", "workspace-write")).unwrap();
    assert_eq!(world.run("init --agent codex --yes").code, 0);
    let mut turn = agent.headless_command(&world, &model, "please go on");
    let ran = world.ran(turn.env("CONSORT_NAME", "Newcomer"));
    let items = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let done = items.filter(|item| item["type"] == "item.completed");
    let outputs = done.filter_map(|item| item["item"]["aggregated_output"].as_str().map(str::to_owned));
    let output: String = outputs.collect();
    let parts: Vec<&str> = output.split_terminator("---\n").collect();
    assert_eq!(parts.len(), expected.len(), "{ran}");
    for ((line, wanted), said) in expected.iter().zip(parts) {
        assert!(said.contains(wanted), "{line}: {said}");
    }
    let heard = world.run_as(Some("s1"), &["inbox"]).stdout;
    assert!(heard.contains("> by a command") && heard.contains("> by a pipe"), "{heard}");
    assert!(heard.contains("> --key=abc"), "{heard}");
}

/// A program that asks our MCP server for any command, as a hostile program in the
/// sandbox would.
const FORGED: &str = r#"
import fcntl, glob, json, os, time
memory = os.memfd_create('consort-answer', os.MFD_ALLOW_SEALING)
files = [open(os.path.join(spool, 'forged'), 'w') for spool in glob.glob(f'/tmp/consort-{os.getuid()}-*')]
for file in files: fcntl.lockf(file, fcntl.LOCK_EX)
for _ in range(200):
    answer = os.pread(memory, 9999, 0)
    if answer.endswith(b'\0'): print(answer.decode()); break
    for file in files: os.utime(file.name)
    time.sleep(0.02)
for file in files: os.remove(file.name)
"#;
