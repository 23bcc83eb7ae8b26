//! Tests of work in different worktrees that overlaps: the agents that are told, and when.

use std::fs;
use std::path::Path;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::json;

/// Makes a world with Falcon in the repository and Raven in another worktree.
fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    for file in ["a.rs", "b.rs"] {
        fs::write(world.project().join(file), "first\n").unwrap();
    }
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "files"]);
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    let mut join =
        world.consort("agent join --pid $OTHER --kind claude --session s2 --name Raven".split(' '));
    assert_eq!(world.ran(join.current_dir(world.path().join("side"))).code, 0);
    world.hear_who_came("s1");
    world
}

/// Has a session write a file of a worktree; returns what the session is told.
fn edit(world: &Sealed, session: &str, worktree: &Path, file: &str, text: &str) -> Option<String> {
    fs::write(worktree.join(file), text).unwrap();
    let call = json!({ "cwd": worktree, "tool_name": "Edit",
        "tool_input": { "file_path": worktree.join(file) } });
    world.hook_text(session, "PostToolUse", &call)
}

#[test]
fn both_are_told_once_when_the_second_edits_the_same() {
    let world = world();
    let (main, side) = (world.project(), world.path().join("side"));
    assert_eq!(edit(&world, "s1", &main, "a.rs", "Falcon's\n"), None);
    assert_eq!(edit(&world, "s2", &side, "b.rs", "Raven's\n"), None);
    expect![[r#"
        [consort] Falcon on main works in another worktree of this repository. You both have edited: a.rs. Agree on who changes what before you merge."#]]
    .assert_eq(&edit(&world, "s2", &side, "a.rs", "Raven's\n").unwrap());
    let told = world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap();
    assert!(told.contains("Raven on side works in another worktree of this repository."), "{told}");
    assert!(told.contains("You both have edited: a.rs."), "{told}");
    // It is told once, whichever agent goes on; `radar merges` lists it.
    assert_eq!(edit(&world, "s2", &side, "a.rs", "Raven's again\n"), None);
    assert_eq!(edit(&world, "s1", &main, "a.rs", "Falcon's again\n"), None);
    assert!(world.run("radar merges").stdout.contains("a.rs  both have edited it"));
    assert_eq!(world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })), None);

    // The same change in both worktrees is not an overlap.
    assert_eq!(edit(&world, "s1", &main, "b.rs", "Raven's\n"), None);
}
