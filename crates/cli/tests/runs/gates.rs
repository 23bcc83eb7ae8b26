//! Tests of the checks that a run must pass before it begins.

use std::fs;

use serde_json::Value;

use super::stage::Stage;

#[test]
fn the_persons_own_gate_says_no_and_why() {
    let stage = Stage::new();
    let seen = stage.world.path().join("asked.json");
    let gate = format!(
        "cat > {}; grep -q forbidden {} && {{ echo not on a Friday; exit 1; }}; exit 0",
        seen.display(),
        seen.display()
    );
    stage.set("dispatch.gate", &gate);
    assert_eq!(stage.run("{say fine}").code, 0);
    let asked: Value = serde_json::from_str(&fs::read_to_string(&seen).unwrap()).unwrap();
    assert_eq!(
        (&asked["task"], &asked["role"], &asked["cli"]),
        (&"{say fine}".into(), &"dev".into(), &"claude".into())
    );
    let ran = stage.run("{say forbidden}");
    assert!(ran.code == 4 && ran.stderr.contains("not on a Friday"), "{ran}");
    assert_eq!(stage.list().len(), 1);
    stage.set("dispatch.gate", "exit 7");
    let ran = stage.run("{say mute}");
    assert!(ran.code == 4 && ran.stderr.contains("did not say why"), "{ran}");
}

/// Each run is asked for by the agent of the run before, and the depth is limited.
#[test]
fn runs_are_only_so_far_above_one_another() {
    let stage = Stage::new();
    stage.set("dispatch.depth", "1");
    let within = |task: &str| format!("{{consort run|--safety|suggest|{task}}}");
    // The inner task is in a file, because its braces would end those of the outer task.
    let file = stage.world.project().join("deep.txt");
    fs::write(
        &file,
        within("--file=deeper.txt").replace(
            "{consort run|--safety|suggest|--file=deeper.txt}",
            "{consort run|--safety|suggest|--file|deeper.txt}",
        ),
    )
    .unwrap();
    fs::write(stage.world.project().join("deeper.txt"), "{consort run|--safety|suggest|deepest}").unwrap();
    let ran = stage.ran(&["run", "--safety", "suggest", "--file", "deep.txt"]);
    assert!(ran.stdout.contains("not started (depth)"), "{ran}");
    assert!(ran.stdout.contains("exit 4"), "{ran}");
    assert_eq!(stage.list().len(), 2);
    stage.is_sound();
}

#[test]
fn nobody_gives_away_more_than_they_may_do() {
    let stage = Stage::new();
    for (own, asked, is_given) in [
        ("suggest", "suggest", true),
        ("suggest", "auto-edit", false),
        ("auto-edit", "auto-edit", true),
        ("auto-edit", "full-auto", false),
        ("full-auto", "full-auto", true),
    ] {
        let task = format!("{{consort run|--safety|{asked}|--role|dev|echo it}}");
        let ran = stage.ran(&["run", "--safety", own, &task]);
        let is_refused = ran.stdout.contains("not started (safety)");
        assert_eq!(is_refused, !is_given, "{own} gives {asked}: {ran}");
    }
}

/// After five failures in a row, a sixth run of the role is not started.
#[test]
fn what_fails_again_and_again_is_not_begun_once_more() {
    let stage = Stage::new();
    for _ in 0..5 {
        assert_eq!(stage.run("{exit 1}").code, 8);
    }
    let ran = stage.run("{say now it would}");
    assert!(ran.code == 4 && ran.stderr.contains("not started (loop)"), "{ran}");
    assert_eq!(stage.ran(&["run", "--role", "scout", "{say other roles may}"]).code, 0);
    stage.is_sound();
}
