//! Tests which commits and changes come back from a run.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_run_that_did_nothing_brings_nothing() {
    let world = World::new();
    world.write("a", "dirty\n");
    let run = world.make();
    let before = world.everything();
    assert_eq!(world.merge(&run), Merge::Nothing);
    assert_eq!(world.everything(), before);
}

#[test]
fn the_diff_of_a_run_has_all_that_it_did() {
    let world = World::new();
    world.write("a", "dirty\n");
    let run = world.make();
    assert_eq!(diff(&run.tree).unwrap(), "");
    run.write("b", "committed\n");
    run.commit("work");
    run.write("dir/c", "changed\n");
    run.write("new", "new\n");
    run.write("x.ignored", "ignored\n");
    let diff = diff(&run.tree).unwrap();
    for line in ["+committed\n", "+changed\n", "+new\n"] {
        assert!(diff.contains(line), "{line}: {diff}");
    }
    assert!(!diff.contains("dirty") && !diff.contains("ignored"), "{diff}");
}

#[test]
fn commits_come_back_as_they_are() {
    let world = World::new();
    let run = world.make();
    run.write("b", "one\n");
    run.commit("first\n\nwith a body");
    run.write("new", "new\n");
    run.commit("second");
    let tip = run.git(&["rev-parse", "HEAD"]);
    assert_eq!(world.merge(&run), merged(2, 2));
    assert_eq!(world.git(&["rev-parse", "HEAD"]), tip);
    assert_eq!(world.log(), ["second", "first", "root"]);
    assert_eq!(world.status(), Vec::<String>::new());
    assert_eq!(world.git(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/main");
    // A second merge brings nothing more.
    assert_eq!(world.merge(&run), merged(2, 2));
    assert_eq!(world.log().len(), 3);
}

#[test]
fn commits_and_changes_come_back_beside_the_persons_changes() {
    let world = World::new();
    // One file is staged, another changed, a third new.
    world.write("dir/c", "c staged\n");
    world.git(&["add", "dir/c"]);
    world.write("a", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    world.write("mine", "mine\n");
    let run = world.make();
    run.write("b", "b by the run\n");
    run.commit("work");
    run.write("a", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n");
    run.write("new/file", "new\n");
    // The person goes on meanwhile, in the files and with a commit.
    world.write("other", "other\n");
    world.git(&["add", "other"]);
    world.git(&["commit", "-q", "-m", "meanwhile", "--", "other"]);
    world.write("mine", "mine, more\n");
    assert_eq!(world.merge(&run), merged(1, 3));
    assert_eq!(world.log(), ["work", "meanwhile", "root"]);
    let authors = world.git(&["log", "-1", "--format=%an <%ae>, %cn"]);
    assert_eq!(authors.trim(), "Worker <w@w>, Worker");
    assert_eq!(world.status(), [" M a", "M  dir/c", "?? mine", "?? new/file"]);
    assert_eq!(world.read("a").unwrap(), "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n");
    assert_eq!(world.read("mine").unwrap(), "mine, more\n");
    assert_eq!(world.read("dir/c").unwrap(), "c staged\n");
}

/// A commit on top of the person's uncommitted changes cannot become a commit of the person's.
#[test]
fn a_commit_on_top_of_uncommitted_changes_comes_back_as_changes() {
    let world = World::new();
    world.write("mine", "mine\n");
    world.write("a", "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\neight\nnine\n");
    let run = world.make();
    run.write("b", "b2\n");
    run.commit("first");
    run.write("mine", "mine and the run's\n");
    run.commit("second");
    run.write("b", "b3\n");
    run.commit("third");
    assert_eq!(world.merge(&run), Merge::Merged { commits: 1, as_changes: 2, files: 2 });
    assert_eq!(world.log(), ["first", "root"]);
    assert_eq!(world.status(), [" M a", " M b", "?? mine"]);
    assert_eq!(world.read("mine").unwrap(), "mine and the run's\n");
    assert_eq!(world.read("b").unwrap(), "b3\n");
    // The messages are on the branch, which stays.
    assert_eq!(remove(&run.tree).unwrap(), Removed { is_branch_kept: true });
    assert!(world.git(&["log", "--format=%s", "consort/run-1"]).contains("third"));
    assert!(!run.tree.path.exists());
}

#[test]
fn every_kind_of_change_comes_back() {
    for as_commit in [true, false] {
        let world = World::new();
        let bytes: Vec<u8> = (0..=255).cycle().take(4000).collect();
        fs::write(world.own.join("binary"), &bytes).unwrap();
        world.write("to-dir", "file\n");
        world.write("to-file/x", "x\n");
        world.write("to-link", "file\n");
        world.write("script", "#!/bin/sh\n");
        world.commit("more");
        let run = world.make();
        let path = &run.tree.path;
        run.delete("b");
        fs::rename(path.join("a"), path.join("renamed")).unwrap();
        let changed: Vec<u8> = bytes.iter().rev().copied().collect();
        fs::write(path.join("binary"), &changed).unwrap();
        run.delete("to-dir");
        run.write("to-dir/inner", "inner\n");
        run.delete("to-file/x");
        fs::remove_dir(path.join("to-file")).unwrap();
        run.write("to-file", "file\n");
        run.delete("to-link");
        symlink("dir/c", path.join("to-link")).unwrap();
        set_mode(&path.join("script"), 0o755);
        run.write("empty", "");
        if as_commit {
            run.commit("all of it");
        }
        assert_eq!(world.merge(&run), merged(usize::from(as_commit), 11));
        assert_eq!((world.read("b"), world.read("a")), (None, None));
        assert!(world.read("renamed").unwrap().starts_with("one\n"));
        assert_eq!(fs::read(world.own.join("binary")).unwrap(), changed);
        assert_eq!(world.read("to-dir/inner").unwrap(), "inner\n");
        assert_eq!(world.read("to-file").unwrap(), "file\n");
        assert_eq!(fs::read_link(world.own.join("to-link")).unwrap(), Path::new("dir/c"));
        assert_eq!(fs::metadata(world.own.join("script")).unwrap().permissions().mode() & 0o111, 0o111);
        assert_eq!(world.read("empty").unwrap(), "");
        assert_eq!(world.status().is_empty(), as_commit);
        assert_eq!(world.merge(&run), merged(usize::from(as_commit), 11));
        remove(&run.tree).unwrap();
    }
}

#[test]
fn a_rename_here_and_a_change_there_meet() {
    let world = World::new();
    let run = world.make();
    run.write("a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n");
    world.git(&["mv", "a", "moved"]);
    assert_eq!(world.merge(&run), merged(0, 1));
    assert!(world.read("moved").unwrap().ends_with("NINE\n"));
    assert_eq!(world.read("a"), None);
}

#[test]
fn odd_names_come_back() {
    let world = World::new();
    let mut names: Vec<Vec<u8>> = [
        "-rf",
        "--help",
        "new\nline",
        "tab\t",
        "ünï ✓",
        ":(top)x",
        "*?[a]",
        "\"quoted\"",
        " ",
        "a\\b",
        "it's",
    ]
    .map(|name| name.as_bytes().to_vec())
    .into();
    names.push(b"bytes\xff\xfe".to_vec());
    let path = |dir: &Path, name: &[u8]| dir.join(std::ffi::OsStr::from_bytes(name));
    for name in &names[..6] {
        fs::write(path(&world.own, name), "before\n").unwrap();
    }
    let run = world.make();
    for name in &names {
        fs::write(path(&run.tree.path, name), "after\n").unwrap();
    }
    run.git(&["add", "-A"]);
    run.git(&["rm", "-q", "--cached", "-r", "."]);
    assert_eq!(world.merge(&run), merged(0, names.len()));
    for name in &names {
        assert_eq!(fs::read_to_string(path(&world.own, name)).unwrap(), "after\n", "{name:?}");
    }
    remove(&run.tree).unwrap();
}

/// A run that is resumed after its merge brings only its new work.
#[test]
fn later_work_is_merged_on_its_own() {
    let world = World::new();
    let run = world.make();
    run.write("b", "first\n");
    run.commit("first");
    run.write("left", "left\n");
    assert_eq!(world.merge(&run), merged(1, 2));
    world.git(&["commit", "-q", "--amend", "-m", "first, as the person says it"]);
    run.commit("left");
    run.write("b", "second\n");
    assert_eq!(world.merge(&run), merged(1, 1));
    assert_eq!(world.log(), ["left", "first, as the person says it", "root"]);
    assert_eq!(world.status(), [" M b"]);
}

/// A path of a directory in the worktree stands for all of it.
#[test]
fn the_whole_worktree_is_meant() {
    let world = World::new();
    world.write("mine", "mine\n");
    let dir = world.own.join("dir");
    let run = Run { tree: make(&dir, &world.at("run"), "consort/run", &Bootstrap::default()).unwrap().tree };
    run.write("mine", "ours\n");
    run.write("dir/c", "changed\n");
    assert_eq!(merge(&run.tree, &dir).unwrap(), merged(0, 2));
    assert_eq!(world.status(), [" M dir/c", "?? mine"]);
}

/// A run that rewrites its own history still brings its files back.
#[test]
fn a_history_that_was_written_anew_comes_back_as_changes() {
    let world = World::new();
    world.write("mine", "mine\n");
    let run = world.make();
    run.write("b", "amended\n");
    run.git(&["add", "-A"]);
    run.git(&["commit", "-q", "--amend", "-m", "mine now"]);
    assert_eq!(world.merge(&run), Merge::Merged { commits: 0, as_changes: 1, files: 1 });
    assert_eq!(world.status(), [" M b", "?? mine"]);
    // A merge commit is one commit, and changes that the person has already are not committed again.
    let run = world.make_named("run-2");
    world.git(&["commit", "-q", "-m", "on main", "--", "b"]);
    run.write("dir/c", "of the run\n");
    run.commit("work");
    run.git(&["merge", "-q", "-m", "merge", "-X", "ours", "main"]);
    assert_eq!(world.merge(&run), merged(2, 1));
    assert_eq!(world.log(), ["work", "on main", "root"]);
}

#[test]
fn commits_reach_a_detached_head_and_other_worktrees() {
    let world = World::new();
    let side = world.temp.path().join("side");
    world.git(&["worktree", "add", "-q", "--detach", side.to_str().unwrap()]);
    let run = Run { tree: make(&side, &world.at("run"), "consort/run", &Bootstrap::default()).unwrap().tree };
    run.write("b", "x\n");
    run.commit("work");
    assert_eq!(merge(&run.tree, &side).unwrap(), merged(1, 1));
    assert_eq!(git(&side, &["log", "-1", "--format=%s"]).trim(), "work");
    assert_eq!(status(&side), Vec::<String>::new());
    assert_eq!(world.log(), ["root"]);
    // The commit is checked out there, and so not lost.
    remove(&run.tree).unwrap();
    let other = World::new();
    let run = world.make();
    let error = merge(&run.tree, &other.own).unwrap_err();
    assert!(matches!(error, WorktreeError::OtherRepository { .. }));
}

#[test]
fn two_runs_that_end_at_once_are_merged_one_after_the_other() {
    let world = World::new();
    let runs: Vec<Run> = (1..=4).map(|number| world.make_named(&format!("run-{number}"))).collect();
    for (number, run) in runs.iter().enumerate() {
        run.write(&format!("of-{number}"), "x\n");
        run.commit(&format!("work {number}"));
        run.write(&format!("left-{number}"), "x\n");
    }
    std::thread::scope(|scope| {
        for run in &runs {
            scope.spawn(|| assert_eq!(world.merge(run), merged(1, 2)));
        }
    });
    assert_eq!(world.log().len(), 5);
    assert_eq!(world.status(), ["?? left-0", "?? left-1", "?? left-2", "?? left-3"]);
}
