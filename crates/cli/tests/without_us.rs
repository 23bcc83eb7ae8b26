//! Tests that no agent CLI stands still because our program is gone, crashes or hangs.

use std::path::Path;
use std::time::Duration;

use consort_testkit::Claude;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use serde_json::json;

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

/// Longest pause with two hooks for each tool. The promise is 15 seconds; on a quiet machine it is 6 to
/// 13, by CLI, and a busy one adds to that. By their own defaults CLIs would wait for a minute and more.
const LONGEST_WHEN_WE_HANG: Duration = Duration::from_secs(45);
const LONGEST_AFTER_A_CRASH: Duration = Duration::from_secs(30);

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Connects each agent CLI by a copy of our program, spoils the copies with `spoil`, and lets
/// the CLIs work.
fn goes_on_without_us(longest: Duration, spoil: impl Fn(&Path)) {
    let others = RealAgent::ALL.into_iter().filter(|agent| !agent.is_out_of_reach());
    // All programs are written before any is started.
    let all: Vec<_> =
        std::iter::once(None).chain(others.map(Some)).map(|agent| connected(agent, &spoil)).collect();
    std::thread::scope(|scope| {
        for (kind, world, model, mut turn) in all {
            scope.spawn(move || {
                let ran = world.ran(&mut turn);
                let hanging = std::fs::read_to_string(world.path().join("consort.hangs")).unwrap_or_default();
                // Finds hooks that their CLI has not ended.
                let hangs = |pid: &&str| {
                    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x001000\0")
                };
                for pid in hanging.lines().filter(hangs) {
                    assert!(std::process::Command::new("kill").arg(pid).status().unwrap().success());
                }
                assert!(world.project().join("free.txt").exists(), "{kind}: {ran}");
                assert_eq!(model.turn_requests().len(), 3, "{kind}: {ran}");
                let pauses = model.times_between_turns();
                assert!(pauses.iter().all(|pause| *pause < longest), "{kind}: {pauses:?}");
            });
        }
    });
}

/// Connects Claude Code, unless another CLI is named, in a world where our program is then spoilt.
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
        Some(agent) => [agent.shell_step("true"), agent.write_step(&world, "free.txt", "ours")],
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
        Some(agent) => agent.headless_command(&world, &model, "please go on"),
        None => Claude::installed().headless_command(&world, &model, "please go on"),
    };
    (kind, world, model, turn)
}
