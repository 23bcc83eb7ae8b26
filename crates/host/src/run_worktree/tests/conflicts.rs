//! Tests merges that cannot be made: nothing changes, and everything is kept.

use super::*;

/// Asserts that a merge is refused: nothing of the person's changed, nothing of the run's is gone.
fn assert_refused(world: &World, run: &Run, expected: &[&str]) {
    let (before, work) = (world.everything(), status(&run.tree.path));
    assert_eq!(world.merge(run), conflicts(expected));
    assert_eq!(world.everything(), before);
    assert_eq!(status(&run.tree.path), work);
    assert!(matches!(remove(&run.tree), Err(WorktreeError::Unmerged { .. })));
    assert!(run.tree.path.exists());
    // A second attempt is refused too.
    assert_eq!(world.merge(run), conflicts(expected));
}

#[test]
fn with_a_commit_of_the_persons() {
    let world = World::new();
    let run = world.make();
    run.write("b", "run\n");
    run.write("fine", "fine\n");
    run.commit("work");
    world.write("b", "person\n");
    world.commit("meanwhile");
    assert_refused(&world, &run, &["b"]);
    // Once the person has undone the commit, the run's is merged.
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(world.merge(&run), merged(1, 2));
}

#[test]
fn with_a_file_that_the_person_has_changed() {
    for as_commit in [true, false] {
        let world = World::new();
        let run = world.make();
        run.write("b", "run\n");
        run.write("fine", "fine\n");
        if as_commit {
            run.commit("work");
        }
        world.write("b", "person\n");
        assert_refused(&world, &run, &["b"]);
    }
}

#[test]
fn with_files_that_both_have_made() {
    let world = World::new();
    let run = world.make();
    run.write("new", "run\n");
    world.write("new", "person\n");
    assert_refused(&world, &run, &["new"]);
}

#[test]
fn with_a_file_that_the_person_has_deleted() {
    let world = World::new();
    let run = world.make();
    run.write("b", "run\n");
    fs::remove_file(world.own.join("b")).unwrap();
    assert_refused(&world, &run, &["b"]);
}

/// Files that no snapshot has are not overwritten either.
#[test]
fn with_ignored_and_large_files() {
    let world = World::new();
    let run = world.make();
    run.write("x.ignored", "run\n");
    run.git(&["add", "-f", "x.ignored"]);
    run.commit("work");
    world.write("x.ignored", "precious\n");
    assert_refused(&world, &run, &["x.ignored"]);

    let world = World::new();
    let run = world.make();
    run.write("large", "run\n");
    run.write("b", "run\n");
    for name in ["large", "b"] {
        fs::File::create(world.own.join(name)).unwrap().set_len((10 << 20) + 1).unwrap();
    }
    let before = world.everything();
    assert_eq!(world.merge(&run), conflicts(&["large"]));
    fs::remove_file(world.own.join("large")).unwrap();
    assert_eq!(world.merge(&run), conflicts(&["b"]));
    assert_eq!(fs::metadata(world.own.join("b")).unwrap().len(), (10 << 20) + 1);
    assert!(before.contains("large"));
}

/// The person's directory has something in it that git does not know.
#[test]
fn with_a_directory_in_place_of_a_file() {
    let world = World::new();
    let run = world.make();
    run.delete("dir/c");
    fs::remove_dir(run.tree.path.join("dir")).unwrap();
    run.write("dir", "a file now\n");
    world.write("dir/deep/x.ignored", "precious\n");
    assert_refused(&world, &run, &["dir/deep/x.ignored"]);
    let world = World::new();
    let run = world.make();
    run.write("x.ignored/y", "run\n");
    run.git(&["add", "-f", "x.ignored"]);
    run.commit("work");
    world.write("x.ignored", "precious\n");
    assert_refused(&world, &run, &["x.ignored"]);
}

/// The staged content is not what the file has, and a commit would change both.
#[test]
fn what_is_staged_is_kept() {
    let world = World::new();
    let run = world.make();
    run.write("b", "b\nrun\n");
    run.commit("work");
    world.write("b", "staged\n");
    world.git(&["add", "b"]);
    world.write("b", "b\n");
    assert_eq!(world.merge(&run), Merge::Merged { commits: 0, as_changes: 1, files: 1 });
    assert_eq!(world.status(), ["MM b"]);
    assert_eq!(world.git(&["show", ":b"]), "staged\n");
    assert_eq!(world.read("b").unwrap(), "b\nrun\n");
}

#[test]
fn while_a_rebase_is_under_way() {
    let world = World::new();
    let run = world.make();
    run.write("b", "run\n");
    world.write("a", "x\n");
    world.commit("second");
    let mut rebase = Command::new("git");
    rebase.current_dir(&world.own).env("GIT_SEQUENCE_EDITOR", "sed -i s/^pick/edit/");
    let rebase = rebase.args(["-c", "user.name=p", "-c", "user.email=p", "rebase", "-q", "-i", "HEAD~1"]);
    assert!(rebase.output().unwrap().status.success());
    let before = world.everything();
    let error = merge(&run.tree, &world.own).unwrap_err();
    assert!(matches!(error, WorktreeError::UnderWay { what: "rebase", .. }), "{error}");
    assert_eq!(world.everything(), before);
}

/// A program that works in a worktree can write its `.git`; git is not asked where that leads.
#[test]
fn a_worktree_that_names_another_repository_is_not_believed() {
    let (world, evil) = (World::new(), World::new());
    let run = world.make();
    let marker = world.temp.path().join("ran");
    evil.git(&["config", "core.fsmonitor", &format!("touch {};", marker.display())]);
    evil.git(&["config", "filter.x.clean", &format!("touch {}; cat", marker.display())]);
    run.write(".gitattributes", "* filter=x\n");
    run.write("b", "run\n");
    fs::write(run.tree.path.join(".git"), format!("gitdir: {}/.git\n", evil.own.display())).unwrap();
    assert_eq!(world.merge(&run), merged(0, 2));
    assert!(!marker.exists());
}
