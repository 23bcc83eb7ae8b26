//! Tests that work in places where git does not look by itself is neither lost nor taken for none.

use std::time::Duration;

use super::removing::refusal;
use super::*;

/// Makes a repository with a submodule `sub`, and the repository that the submodule is of.
fn with_submodule() -> (World, World) {
    let (world, other) = (World::new(), World::new());
    world.git(&["submodule", "--quiet", "add", other.own.to_str().unwrap(), "sub"]);
    world.git(&["commit", "-q", "-m", "sub"]);
    (world, other)
}

#[test]
fn a_file_in_a_submodule_stays() {
    let (world, _other) = with_submodule();
    let run = world.make();
    run.write("sub/f", "x\n");
    assert_eq!(world.merge(&run), Merge::Nothing);
    assert_eq!(refusal(&run), ["sub/f"]);
    run.write("b", "x\n");
    assert_eq!(world.merge(&run), merged(0, 1));
    assert_eq!(refusal(&run), ["sub/f"]);
    run.delete("sub/f");
    remove(&run.tree).unwrap();
}

#[test]
fn what_the_set_up_put_into_a_submodule_is_no_work() {
    let (world, _other) = with_submodule();
    let set_up = SetUpCommand {
        command: "git -c protocol.file.allow=always submodule --quiet update --init".into(),
        environment: std::env::vars_os().collect(),
        time_limit: Duration::from_secs(60),
    };
    let bootstrap = Bootstrap { copy: Vec::new(), set_up: Some(set_up) };
    let made = make(&world.own, &world.at("run"), "consort/run", &bootstrap).unwrap();
    assert_eq!(made.set_up.unwrap().end, SetUpEnd::Done);
    let run = Run { tree: made.tree };
    assert_eq!(run.git(&["status", "--porcelain"]), "");
    // Git itself refuses to remove a worktree with submodules, but nothing is unmerged.
    assert!(!matches!(remove(&run.tree), Err(WorktreeError::Unmerged { .. })));
    run.write("sub/b", "changed\n");
    assert_eq!(refusal(&run), ["sub/b"]);
}

#[test]
fn a_file_that_is_gone_from_a_submodule_and_a_commit_in_one_are_changes() {
    let (world, _other) = with_submodule();
    let set_up = SetUpCommand {
        command: "git -c protocol.file.allow=always submodule --quiet update --init".into(),
        environment: std::env::vars_os().collect(),
        time_limit: Duration::from_secs(60),
    };
    let bootstrap = Bootstrap { copy: Vec::new(), set_up: Some(set_up) };
    let made = make(&world.own, &world.at("run"), "consort/run", &bootstrap).unwrap();
    let run = Run { tree: made.tree };
    run.delete("sub/b");
    assert_eq!(refusal(&run), ["sub/b"]);
    git(&run.tree.path.join("sub"), &["commit", "-q", "-a", "-m", "in it"]);
    git(&run.tree.path.join("sub"), &["checkout", "-q", "HEAD~1"]);
    assert!(!refusal(&run).is_empty());
}

#[test]
fn a_repository_that_was_added_as_a_submodule_stays() {
    let world = World::new();
    let run = world.make();
    fs::create_dir(run.tree.path.join("apart")).unwrap();
    let apart = run.tree.path.join("apart");
    git(&apart, &["init", "-q"]);
    write(&apart, "f", "x\n");
    git(&apart, &["add", "f"]);
    git(&apart, &["commit", "-q", "-m", "apart"]);
    run.commit("with a repository");
    world.merge(&run);
    assert!(refusal(&run).contains(&"apart/f".to_owned()));
}

#[test]
fn files_that_git_was_told_not_to_look_at_come_back() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let world = World::new();
        let run = world.make();
        run.git(&["update-index", flag, "b"]);
        run.write("b", "by the run\n");
        assert_eq!(refusal(&run), ["b"], "{flag}");
        assert_eq!(world.merge(&run), merged(0, 1), "{flag}");
        assert_eq!(world.read("b").unwrap(), "by the run\n", "{flag}");
        remove(&run.tree).unwrap();
        // The person's worktree has the flag.
        world.git(&["checkout", "-q", "b"]);
        world.git(&["update-index", flag, "b", "a"]);
        world.write("a", "of the person\n");
        let run = world.make_named("run-2");
        run.write("b", "by the run\n");
        assert_eq!(world.merge(&run), merged(0, 1), "{flag}");
        assert_eq!(world.read("b").unwrap(), "by the run\n", "{flag}");
        assert_eq!(world.read("a").unwrap(), "of the person\n", "{flag}");
        assert_eq!(world.status(), Vec::<String>::new(), "the flags are as they were");
        remove(&run.tree).unwrap();
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_written_and_not_lost() {
    let world = World::new();
    world.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/dir/"]);
    assert_eq!(world.read("dir/c"), None);
    let run = world.make();
    assert_eq!(world.merge(&run), Merge::Nothing);
    run.write("dir/c", "by the run\n");
    assert_eq!(world.merge(&run), conflicts(&["dir/c"]));
    assert_eq!(refusal(&run), ["dir/c"]);
}

#[test]
fn a_commit_that_was_left_stays() {
    let world = World::new();
    let run = world.make();
    run.git(&["checkout", "-q", "--detach"]);
    run.write("b", "x\n");
    run.commit("left");
    let left = run.git(&["rev-parse", "HEAD"]);
    run.git(&["checkout", "-q", "consort/run-1"]);
    assert_eq!(world.merge(&run), Merge::Nothing);
    assert_eq!(refusal(&run), [format!("commit {}, which is on no branch", left.trim())]);
    // The same change is on the run's branch, and merged.
    run.write("unlike", "x\n");
    run.commit("before it");
    run.git(&["-c", "user.name=W", "-c", "user.email=w@w", "cherry-pick", left.trim()]);
    world.merge(&run);
    assert_eq!(world.read("b").unwrap(), "x\n");
    remove(&run.tree).unwrap();
}

#[test]
fn a_commit_that_was_left_on_a_branch_or_was_amended_is_not_lost() {
    let world = World::new();
    let run = world.make();
    run.git(&["checkout", "-q", "-b", "aside"]);
    run.write("b", "x\n");
    run.commit("aside");
    run.git(&["checkout", "-q", "consort/run-1"]);
    run.write("a", "x\n");
    run.commit("work");
    run.git(&["-c", "user.name=W", "-c", "user.email=w@w", "commit", "-q", "--amend", "-m", "better"]);
    assert_eq!(world.merge(&run), merged(1, 1));
    remove(&run.tree).unwrap();
    assert!(world.git(&["log", "--format=%s", "aside"]).contains("aside"));
}
