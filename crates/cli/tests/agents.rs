//! The real agent CLIs besides Claude Code, connected by `consort init`: each is
//! seen, hears, is kept from what another holds, leaves, and is given back its
//! files.

use std::collections::BTreeMap;
use std::path::Path;

use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::StubModel;
use serde_json::Value;

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
        consort_testkit::Step::say("Done."),
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
    if let Some(model) = me["model"].as_str() {
        assert_eq!(model, agent.model());
    }
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
    let after = files(&agent.config_dir(&world));
    for (path, text) in &before {
        assert_eq!(after.get(path), Some(text), "{path}");
    }
    assert!(!after.keys().any(|path| path.contains("consort")), "{:?}", after.keys());
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
