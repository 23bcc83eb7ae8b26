//! Tests of runs in worktrees of their own: their work is merged back, or kept.

use std::fs;
use std::path::Path;

use super::stage::Stage;

fn stage() -> Stage {
    let stage = Stage::new();
    let project = stage.world.project();
    fs::write(project.join("a.txt"), "a\n").unwrap();
    fs::write(project.join("b.txt"), "b\n").unwrap();
    fs::write(project.join(".gitignore"), ".env\n").unwrap();
    fs::write(project.join(".env"), "SECRET=1\n").unwrap();
    stage.world.git(&["add", "."]);
    stage.world.git(&["commit", "-q", "-m", "files"]);
    stage
}

fn read(stage: &Stage, file: &str) -> String {
    fs::read_to_string(stage.world.project().join(file)).unwrap_or_default()
}

fn git(stage: &Stage, dir: &Path, arguments: &[&str]) -> String {
    let output = stage.world.command("git").args(arguments).current_dir(dir).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commits_and_changes_come_back() {
    let stage = stage();
    // An uncommitted change goes along to the worktree.
    fs::write(stage.world.project().join("b.txt"), "mine\n").unwrap();
    let ran = stage.ran(&[
        "run",
        "--worktree",
        "{commit c.txt committed}{write a.txt changed}{write new.txt new}{say done}",
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{ran}");
    assert!(ran.stderr.contains("Merged"), "{ran}");
    assert_eq!(
        (read(&stage, "c.txt"), read(&stage, "a.txt"), read(&stage, "new.txt"), read(&stage, "b.txt")),
        ("committed\n".into(), "changed\n".into(), "new\n".into(), "mine\n".into())
    );
    let cwd = stage.calls()[0]["cwd"].as_str().unwrap().to_owned();
    assert_ne!(cwd, stage.world.project().display().to_string(), "it worked elsewhere");
    assert!(!Path::new(&cwd).exists(), "what was merged is removed");
    assert!(!git(&stage, &stage.world.project(), &["worktree", "list"]).contains("consort/run-"));
    stage.is_sound();
}

#[test]
fn what_conflicts_is_kept_and_named() {
    let stage = stage();
    let number =
        stage.detach(&["--worktree", "{sleep 2}{commit a.txt theirs}{write b.txt theirs}{say done}"]);
    stage.called(1);
    fs::write(stage.world.project().join("a.txt"), "mine\n").unwrap();
    let run = stage.ended(&number);
    assert_eq!(run["state"], "done", "{run}");
    let merge = run["merge"].as_str().unwrap();
    assert!(
        merge.contains("Not merged") && merge.contains("a.txt") && merge.contains("consort/run-"),
        "{merge}"
    );
    assert_eq!(
        (read(&stage, "a.txt"), read(&stage, "b.txt")),
        ("mine\n".into(), "b\n".into()),
        "all or nothing"
    );
    let tree = stage.calls()[0]["cwd"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(Path::new(&tree).join("b.txt")).unwrap(), "theirs\n");
    let branch = merge.split("on branch ").nth(1).unwrap();
    assert_eq!(git(&stage, &stage.world.project(), &["show", &format!("{branch}:a.txt")]), "theirs\n");
    // A command that attaches to the run fails, because the run was not merged as asked.
    let attached = stage.ran(&["runs", "attach", &number]);
    assert!(attached.code == 1 && attached.stderr.contains("not as asked"), "{attached}");
    assert!(attached.stderr.contains("consort/run-"), "{attached}");
    assert_eq!(run["unmerged"], true);
}

#[test]
fn what_failed_is_not_merged_and_not_deleted() {
    let stage = stage();
    let ran = stage.ran(&["run", "--worktree", "{write a.txt half}{exit 1}"]);
    assert_eq!(ran.code, 8, "{ran}");
    assert_eq!(read(&stage, "a.txt"), "a\n");
    let tree = stage.calls()[0]["cwd"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(Path::new(&tree).join("a.txt")).unwrap(), "half\n");
    // The worktree of a run that changed nothing is removed.
    assert_eq!(stage.ran(&["run", "--worktree", "{say looked}"]).code, 0);
    let tree = stage.calls()[1]["cwd"].as_str().unwrap().to_owned();
    assert!(!Path::new(&tree).exists());
}

#[test]
fn a_worktree_gets_what_it_needs() {
    let stage = stage();
    stage.set("dispatch.copy", ".env");
    stage.set("dispatch.set_up", "cat .env > made-ready.txt");
    let ran = stage.ran(&["run", "--worktree", "{sleep 0}{say done}"]);
    assert_eq!(ran.code, 0, "{ran}");
    stage.set("dispatch.set_up", "echo no such luck; exit 4");
    let ran = stage.ran(&["run", "--worktree", "{say never}"]);
    assert!(ran.code == 8 && ran.stderr.contains("no such luck"), "{ran}");
    assert_eq!(stage.calls().len(), 1);
}

/// Two runs at once are both merged back.
#[test]
fn two_worktrees_do_not_hinder_one_another() {
    let stage = stage();
    let ran = stage.ran(&[
        "runs",
        "batch",
        "--worktree",
        "--stagger",
        "0ms",
        "{commit one.txt 1}{say one}",
        "{commit two.txt 2}{say two}",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!((read(&stage, "one.txt"), read(&stage, "two.txt")), ("1\n".into(), "2\n".into()), "{ran}");
}

/// Makes a stage whose repository has a submodule.
fn stage_with_submodule() -> Stage {
    let stage = stage();
    let project = stage.world.project();
    let (url, add) = (project.display().to_string(), ["-c", "protocol.file.allow=always", "submodule"]);
    stage.world.git(&[&add[..], &["--quiet", "add", &url, "sub"]].concat());
    stage.world.git(&["commit", "-q", "-m", "sub"]);
    stage
}

#[test]
fn what_is_left_in_a_submodule_is_kept_and_named() {
    let stage = stage_with_submodule();
    let ran = stage.ran(&["run", "--worktree", "{write sub/f x}{say done}"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("Not merged: sub/f. It is kept in "), "{ran}");
    let tree = stage.calls()[0]["cwd"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(Path::new(&tree).join("sub/f")).unwrap(), "x\n");
    let ran = stage.ran(&["run", "--worktree", "{write sub/o x}{write a.txt changed}{say done}"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("Merged: 1 file. Not merged: sub/o. It is kept in "), "{ran}");
    assert_eq!(read(&stage, "a.txt"), "changed\n");
    let tree = stage.calls()[1]["cwd"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(Path::new(&tree).join("sub/o")).unwrap(), "x\n");
}

#[test]
fn new_files_of_a_run_that_failed_are_named() {
    let stage = stage();
    let ran = stage.ran(&["run", "--worktree", "{write new.txt half}{exit 1}"]);
    assert_eq!(ran.code, 8, "{ran}");
    let merge = stage.show("1")["merge"].as_str().unwrap().to_owned();
    assert!(merge.starts_with("Not merged: new.txt. It is kept in "), "{merge}");
    let tree = stage.calls()[0]["cwd"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(Path::new(&tree).join("new.txt")).unwrap(), "half\n");
    let ran = stage.ran(&["run", "--worktree", "{exit 1}"]);
    assert_eq!(ran.code, 8, "{ran}");
    assert_eq!(stage.show("2")["merge"], "It changed nothing");
}
