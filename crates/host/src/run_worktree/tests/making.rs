//! Tests what is in a new worktree.

use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;

#[test]
fn a_clean_worktree_needs_no_baseline() {
    let world = World::new();
    let run = world.make();
    assert_eq!(run.tree.base, run.tree.baseline);
    assert_eq!(run.git(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/consort/run-1");
    assert_eq!(status(&run.tree.path), Vec::<String>::new());
}

#[test]
fn all_that_is_not_committed_is_in_the_baseline() {
    let world = World::new();
    world.write("a", "staged\n");
    world.git(&["add", "a"]);
    world.write("a", "staged\nand more\n");
    world.git(&["rm", "-q", "b"]);
    world.write("new", "new\n");
    set_mode(&world.own.join("new"), 0o755);
    world.write("x.ignored", "no\n");
    world.write("noted", "noted\n");
    world.git(&["add", "-N", "noted"]);
    symlink("/etc/passwd", world.own.join("link")).unwrap();
    fs::remove_file(world.own.join("dir/c")).unwrap();
    fs::remove_dir(world.own.join("dir")).unwrap();
    symlink("/etc", world.own.join("dir")).unwrap();
    let before = world.everything();
    let run = world.make();
    assert_eq!(world.everything(), before);
    let there = |name: &str| fs::read_to_string(run.tree.path.join(name)).ok();
    assert_eq!(there("a").as_deref(), Some("staged\nand more\n"));
    assert_eq!(there("noted").as_deref(), Some("noted\n"));
    assert_eq!((there("b"), there("x.ignored")), (None, None));
    for (name, target) in [("link", "/etc/passwd"), ("dir", "/etc")] {
        assert_eq!(fs::read_link(run.tree.path.join(name)).unwrap(), Path::new(target));
    }
    let mode = fs::metadata(run.tree.path.join("new")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(status(&run.tree.path), Vec::<String>::new());
    assert_eq!(run.git(&["log", "-1", "--format=%an %ae"]).trim(), "Consort consort@localhost");
    assert_eq!(run.git(&["rev-parse", "HEAD~1"]).trim(), run.tree.base);
    assert!(!world.at("run-1.index").exists());
}

#[test]
fn large_files_and_other_repositories_are_left_out_and_told() {
    let world = World::new();
    let large = fs::File::create(world.own.join("large")).unwrap();
    large.set_len((10 << 20) + 1).unwrap();
    let other = World::new();
    world.git(&["submodule", "--quiet", "add", other.own.to_str().unwrap(), "sub"]);
    world.git(&["commit", "-q", "-m", "sub"]);
    git(&world.own.join("sub"), &["commit", "-q", "--allow-empty", "-m", "on"]);
    fs::create_dir(world.own.join("apart")).unwrap();
    git(&world.own.join("apart"), &["init", "-q"]);
    write(&world.own, "apart/x", "x");
    let made = make(&world.own, &world.at("run"), "consort/run", &Bootstrap::default()).unwrap();
    let told: Vec<_> = made.left_out.iter().map(|left| (left.path.as_str(), left.why)).collect();
    let expected =
        [("apart", WhyLeftOut::Repository), ("large", WhyLeftOut::TooLarge), ("sub", WhyLeftOut::Submodule)];
    assert_eq!(told, expected);
    // A run's work beside a submodule comes back, and the submodule stays as it is.
    let run = Run { tree: made.tree };
    run.write("b", "changed\n");
    run.commit("work");
    assert_eq!(world.merge(&run), merged(1, 1));
    assert_eq!(world.status(), [" M sub", "?? apart/", "?? large"]);
    remove(&run.tree).unwrap();
}

#[test]
fn without_a_commit_or_a_repository_it_says_so() {
    let temp = tempfile::tempdir().unwrap();
    let make = |dir: &Path| make(dir, &temp.path().join("run"), "run", &Bootstrap::default()).unwrap_err();
    assert!(matches!(make(temp.path()), WorktreeError::NoRepository { .. }));
    git(temp.path(), &["init", "-q"]);
    assert!(matches!(make(temp.path()), WorktreeError::NoCommit));
    assert!(!temp.path().join("run").exists());
}

#[test]
fn wrong_names_and_unresolved_conflicts_are_refused() {
    let world = World::new();
    for branch in ["", "-x", "a..b", "a b", "a\nb"] {
        let error = make(&world.own, &world.at("x"), branch, &Bootstrap::default()).unwrap_err();
        assert!(matches!(error, WorktreeError::NoBranchName { .. }), "{branch}: {error}");
    }
    let run = world.make();
    let again = make(&world.own, &run.tree.path, "other", &Bootstrap::default()).unwrap_err();
    assert!(matches!(again, WorktreeError::Exists { .. }));
    let taken = make(&world.own, &world.at("y"), "consort/run-1", &Bootstrap::default()).unwrap_err();
    assert!(taken.to_string().contains("already exists"), "{taken}");
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("b", "side\n");
    world.commit("side");
    world.git(&["checkout", "-q", "main"]);
    world.write("b", "main\n");
    world.commit("main");
    let mut merge = Command::new("git");
    merge.current_dir(&world.own).args(["-c", "user.name=p", "-c", "user.email=p", "merge", "-q", "side"]);
    assert_eq!(merge.output().unwrap().status.code(), Some(1));
    let error = make(&world.own, &world.at("z"), "z", &Bootstrap::default()).unwrap_err();
    assert!(matches!(&error, WorktreeError::Unresolved { paths, .. } if paths == &["b"]), "{error}");
}

#[test]
fn ignored_files_are_copied_and_what_the_set_up_changes_is_not_work() {
    let world = World::new();
    world.write(".env", "KEY=1\n");
    set_mode(&world.own.join(".env"), 0o600);
    world.write("node_modules/x/index.js", "x\n");
    symlink("x/index.js", world.own.join("node_modules/link")).unwrap();
    symlink("/etc", world.own.join("out.ignored")).unwrap();
    let bootstrap = Bootstrap {
        copy: [".env", "node_modules", "absent.ignored"].map(str::to_owned).into(),
        set_up: Some(SetUpCommand {
            command: "echo made > made; cat .env; echo $ONLY$HOME >&2".into(),
            environment: vec![("ONLY".into(), "this".into()), ("PATH".into(), "/usr/bin:/bin".into())],
            time_limit: Duration::from_secs(20),
        }),
    };
    let made = make(&world.own, &world.at("run"), "consort/run", &bootstrap).unwrap();
    let path = &made.tree.path;
    assert_eq!(made.set_up, Some(SetUpResult { end: SetUpEnd::Done, output: "KEY=1\nthis\n".into() }));
    assert_eq!(fs::metadata(path.join(".env")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(path.join("node_modules/link")).unwrap(), "x\n");
    assert_ne!(made.tree.base, made.tree.baseline);
    let run = Run { tree: made.tree };
    assert_eq!(world.merge(&run), Merge::Nothing);
    remove(&run.tree).unwrap();
    assert!(!run.tree.path.exists());
    for name in ["../shop/.env", "/etc/passwd", "out.ignored/passwd", ""] {
        let bootstrap = Bootstrap { copy: vec![name.into()], set_up: None };
        let branch = format!("copy-{}", name.len());
        let error = make(&world.own, &world.at(&branch), &branch, &bootstrap).unwrap_err();
        assert!(matches!(error, WorktreeError::Copy { .. }), "{name}: {error}");
    }
}

#[test]
fn a_set_up_that_fails_or_takes_too_long_is_told() {
    let world = World::new();
    let run = |name: &str, command: &str| {
        let set_up = Some(SetUpCommand {
            command: command.into(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            time_limit: Duration::from_millis(500),
        });
        make(&world.own, &world.at(name), name, &Bootstrap { copy: Vec::new(), set_up })
            .unwrap()
            .set_up
            .unwrap()
    };
    assert_eq!(
        run("fails", "echo why; exit 3"),
        SetUpResult { end: SetUpEnd::Failed(Some(3)), output: "why\n".into() }
    );
    let late = run("late", "echo begun; sleep 60 & echo $!; sleep 60");
    assert_eq!(late.end, SetUpEnd::TimedOut);
    // The processes that the command had started are gone too.
    let pid = late.output.lines().nth(1).unwrap();
    let is_gone = || match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    assert!((0..200).any(|_| is_gone() || {
        std::thread::sleep(Duration::from_millis(10));
        false
    }));
}

/// Hooks do not run; a filter runs only if the person has configured it.
#[test]
fn nothing_runs_that_git_would_not_run_for_the_person() {
    let world = World::new();
    let marker = world.temp.path().join("ran");
    let hook = format!("#!/bin/sh\necho $0 >> {}\nexit 1\n", marker.display());
    for name in [
        "post-checkout",
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ] {
        let path = world.own.join(".git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &hook).unwrap();
        set_mode(&path, 0o755);
    }
    let config =
        |name: &str, value: &str| world.git(&["-c", "core.hooksPath=/dev/null", "config", name, value]);
    config("core.fsmonitor", world.own.join(".git/hooks/pre-commit").to_str().unwrap());
    config("commit.gpgSign", "true");
    config("gpg.program", "/bin/false");
    config("filter.real.clean", "tr a-z A-Z");
    config("filter.real.smudge", "tr A-Z a-z");
    world.write(".gitattributes", "*.txt filter=real\n*.evil filter=sh merge=sh diff=sh\n* text=auto\n");
    world.write("x.txt", "shout\n");
    world.write("y.evil", "quiet\n");
    let run = world.make();
    assert_eq!(fs::read_to_string(run.tree.path.join("x.txt")).unwrap(), "shout\n");
    run.write("x.txt", "shout\nlouder\n");
    run.write("y.evil", "quiet\nstill\n");
    assert_eq!(world.merge(&run), merged(0, 2));
    assert_eq!(world.read("x.txt").unwrap(), "shout\nlouder\n");
    remove(&run.tree).unwrap();
    assert_eq!(fs::read_to_string(&marker).ok(), None);
}
