//! Tests that the payloads which the real agent CLIs send to hooks still have all fields that we last
//! saw (`crates/agents/tests/payloads`). `UPDATE_EXPECT=1` captures them again.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use consort_testkit::Claude;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use serde_json::Value;
use serde_json::json;

/// The payloads of a turn: the first of each event and tool.
type Told = BTreeMap<(String, String), Value>;

#[test]
fn claude_tells_what_it_told() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let write = json!({ "file_path": world.project().join("free.txt"), "content": "ours" });
    let model = StubModel::start([
        Step::Use { tool: "Bash".into(), input: json!({ "command": "true", "description": "a step" }) },
        Step::Use { tool: "Write".into(), input: write },
        Step::say("Done."),
    ]);
    let turn = Claude::installed().headless_command(&world, &model, "please go on");
    hold("claude", captured(&world, "claude", turn));
}

#[test]
fn the_others_tell_what_they_told() {
    for agent in RealAgent::ALL.into_iter().filter(|agent| !agent.is_out_of_reach()) {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        let steps =
            [agent.shell_step("true"), agent.write_step(&world, "free.txt", "ours"), Step::say("Done.")];
        let model = StubModel::start(steps);
        agent.settle(&world, &model);
        let mut turn = agent.headless_command(&world, &model, "please go on");
        if agent == RealAgent::Copilot {
            // Headless, Copilot does not ask whether to trust a project.
            turn.arg("--trust-folder");
        }
        hold(agent.kind(), captured(&world, agent.kind(), turn));
    }
}

/// Runs a turn with a `consort` on `PATH` that keeps the payloads.
fn captured(world: &Sealed, kind: &str, mut turn: Command) -> Told {
    let (bin, kept) = (world.path().join("bin"), world.path().join("kept"));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&kept).unwrap();
    let script = format!(
        "#!/bin/sh\n[ \"$2\" = --who ] && exec {1} \"$@\"\nkept=$(mktemp {0}/$3.XXXXXX)\ncat >$kept\nexec {1} \"$@\" <$kept\n",
        kept.display(),
        world.program().display()
    );
    fs::write(bin.join("consort"), script).unwrap();
    fs::set_permissions(bin.join("consort"), fs::Permissions::from_mode(0o755)).unwrap();
    // A project's shared settings call `consort` by name, and so find the one on `PATH`.
    let connected = world.run(&format!("init --project --agent {kind} --yes"));
    assert_eq!(connected.code, 0, "{connected}");
    let path = turn.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
    let ran = world.ran(turn.env("PATH", format!("{}:{}", bin.display(), path.to_str().unwrap())));
    assert!(world.project().join("free.txt").exists(), "{kind}: {ran}");

    let mut files: Vec<PathBuf> = fs::read_dir(kept).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_by_key(|file| fs::metadata(file).unwrap().modified().unwrap());
    let real = world.path().canonicalize().unwrap();
    let mut told = Told::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap().replace(real.to_str().unwrap(), "/world");
        let event = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let payload: Value = serde_json::from_str(&text).unwrap();
        let tool = payload.get("tool_name").or(payload.get("toolName")).and_then(Value::as_str);
        told.entry((event, tool.unwrap_or_default().to_owned())).or_insert(payload);
    }
    told
}

/// Compares the payloads with the captured ones.
fn hold(kind: &str, told: Told) {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../agents/tests/payloads/{kind}.jsonl"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let line = |((event, _), payload): (&(String, String), &Value)| {
            json!({ "event": event, "payload": payload }).to_string()
        };
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, told.iter().map(line).collect::<Vec<_>>().join("\n") + "\n").unwrap();
    }
    let before: Vec<Value> =
        fs::read_to_string(&file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shape = |event: &str, payload: &Value| {
        let fields = payload.as_object().unwrap().keys();
        fields.map(|field| format!("{event}.{field}")).collect::<Vec<_>>()
    };
    let now: BTreeSet<String> = told.iter().flat_map(|((event, _), payload)| shape(event, payload)).collect();
    let then = before.iter().flat_map(|line| shape(line["event"].as_str().unwrap(), &line["payload"]));
    let gone: Vec<String> = then.filter(|field| !now.contains(field)).collect();
    assert!(gone.is_empty(), "{kind} no longer tells {gone:?}");
}
