//! Tests of hooks that refuse or warn about writes to other agents' files.

use consort_testkit::Ran;
use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    std::fs::create_dir_all(world.project().join("src/auth")).unwrap();
    std::fs::write(world.project().join("src/auth/login.rs"), "fn login() {}\n").unwrap();
    std::fs::write(world.project().join("README.md"), "shop\n").unwrap();
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "files"]);
    world.with_falcon_and_raven()
}

fn call(world: &Sealed, session: &str, event: &str, tool: &str, input: Value) -> Ran {
    world.hook(
        event,
        &json!({ "session_id": session, "cwd": world.project(), "tool_name": tool, "tool_input": input }),
    )
}

/// Returns the reason why a tool is refused; `None` if it is not.
fn refused(world: &Sealed, session: &str, tool: &str, input: Value) -> Option<String> {
    let ran = call(world, session, "PreToolUse", tool, input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&ran.stdout).ok()?;
    let output = &answer["hookSpecificOutput"];
    let is_denied = output["permissionDecision"] == json!("deny");
    is_denied.then(|| output["permissionDecisionReason"].as_str().unwrap().to_owned())
}

/// Returns the text that a hook puts before the model.
fn told(world: &Sealed, session: &str, event: &str, tool: &str, input: Value) -> Option<String> {
    let ran = call(world, session, event, tool, input);
    let answer: Value = serde_json::from_str(&ran.stdout).ok()?;
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned())
}

fn edit(world: &Sealed, path: &str) -> Value {
    json!({ "file_path": world.project().join(path) })
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

fn reserve(world: &Sealed, session: &str, path: &str) {
    let ran = world.run_as(Some(session), &["reserve", path, "--reason", "rewriting the login"]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn a_write_to_what_another_has_reserved_is_refused() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    expect![[r#"
        [consort] Blocked: src/auth/login.rs (of src/auth/) is reserved by Falcon (claude on main, idle), just now: "rewriting the login".
        Options: ask (consort send Falcon '…') · wait up to 90 s (consort wait --timeout 90s '$WORLD/shop/src/auth/login.rs') · if unanswered, the same path with consort holds contest · do something else. Do not get around this with another tool."#]]
    .assert_eq(&refused(&world, "s2", "Edit", edit(&world, "src/auth/login.rs")).unwrap());
    for tool in ["Write", "MultiEdit"] {
        assert!(refused(&world, "s2", tool, edit(&world, "src/auth/new.rs")).is_some(), "{tool}");
    }
    let notebook = json!({ "notebook_path": world.project().join("src/auth/x.ipynb") });
    assert!(refused(&world, "s2", "NotebookEdit", notebook).is_some());

    // A write below a missing directory cannot succeed, so it is not refused; a reserved path
    // itself need not exist.
    assert_eq!(refused(&world, "s2", "Bash", bash("echo x > src/auth/missing/a.rs")), None);
    reserve(&world, "s1", "src/new/");
    assert!(refused(&world, "s2", "Bash", bash("echo x > src/new/a.rs")).is_some());

    // The holder's own write, a write to a free path, and a read all pass.
    assert_eq!(refused(&world, "s1", "Edit", edit(&world, "src/auth/login.rs")), None);
    assert_eq!(refused(&world, "s2", "Edit", edit(&world, "src/authentication.rs")), None);
    assert_eq!(refused(&world, "s2", "Read", edit(&world, "src/auth/login.rs")), None);

    // The target decides, whatever the spelling and wherever the session is.
    std::os::unix::fs::symlink("src/auth", world.project().join("link")).unwrap();
    for spelled in ["link/login.rs", "src/../src/./auth/login.rs", "src/auth/../auth/login.rs"] {
        assert!(refused(&world, "s2", "Edit", edit(&world, spelled)).is_some(), "{spelled}");
    }
    let elsewhere = json!({ "session_id": "s2", "cwd": "/", "tool_name": "Edit",
        "tool_input": edit(&world, "src/auth/login.rs") });
    assert!(world.hook("PreToolUse", &elsewhere).stdout.contains("deny"));
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = json!({ "file_path": world.path().join("side/src/auth/login.rs") });
    assert_eq!(
        refused(&world, "s2", "Edit", side.clone()),
        None,
        "nothing of the holder's is overwritten there"
    );
    let warned = told(&world, "s2", "PreToolUse", "Edit", side.clone());
    assert!(warned.is_none(), "and it is said once");
    let there = world.path().join("side/src/auth/login.rs");
    let explained = world.run_as(Some("s2"), &["explain", &there.to_string_lossy()]).stdout;
    assert!(explained.contains("You may write it here: it is reserved in another worktree"), "{explained}");
    let waited = world.run_as(Some("s2"), &["wait", &there.to_string_lossy()]).stdout;
    assert!(waited.contains("is reserved in another worktree, which does not stop you here."), "{waited}");
    world.run("config set claims.worktrees block");
    assert!(refused(&world, "s2", "Edit", side).is_some());

    world.run_as(Some("s1"), &["release"]);
    assert_eq!(refused(&world, "s2", "Edit", edit(&world, "src/auth/login.rs")), None);
}

#[test]
fn a_refusal_has_a_sentence_for_each_holder_and_says_what_it_does() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    reserve(&world, "s1", "README.md");
    let command = bash("touch src/auth/login.rs README.md src/auth/token.rs");
    let first = |told: &str| told.lines().next().unwrap_or_default().to_owned();
    expect![[r#"[consort] Blocked: src/auth/login.rs (of src/auth/), README.md, src/auth/token.rs (of src/auth/) are reserved by Falcon (claude on main, idle), just now: "rewriting the login"."#]].assert_eq(&first(&refused(&world, "s2", "Bash", command.clone()).unwrap()));
    told(&world, "s1", "PreToolUse", "Read", json!({ "file_path": world.project().join("README.md") }));
    assert!(first(&refused(&world, "s2", "Bash", command).unwrap()).contains("(claude on main, working)"));
    world.run("reserve Cargo.toml");
    let said = refused(&world, "s2", "Bash", bash("touch README.md Cargo.toml")).unwrap();
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(said.contains("\nCargo.toml is reserved by your user"), "{said}");
}

#[test]
fn a_starting_session_is_told_what_others_hold() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    let start = json!({ "session_id": "s2", "cwd": world.project() });
    let told = world.hook("SessionStart", &start).stdout;
    assert!(told.contains(r"\nReserved by others, do not edit: src/auth/ (Falcon)\n"), "{told}");
    let start = json!({ "session_id": "s1", "cwd": world.project() });
    assert!(!world.hook("SessionStart", &start).stdout.contains("Reserved by others"));
}

#[test]
fn the_shell_is_no_way_around_it() {
    let world = world();
    for (branch, file) in [("other", "src/auth/login.rs"), ("same", "README.md")] {
        world.git(&["switch", "-q", "-c", branch]);
        std::fs::write(world.project().join(file), branch).unwrap();
        world.git(&["commit", "-q", "-am", branch]);
        world.git(&["switch", "-q", "main"]);
    }
    reserve(&world, "s1", "src/auth/");
    for command in [
        "sed -i s/a/b/ src/auth/login.rs",
        "cd src && echo x > auth/login.rs",
        "cat <<EOF > src/auth/new.rs\nhello\nEOF",
        "echo x | tee -a src/auth/login.rs",
        "rm -rf src",
        "mv src/auth/login.rs /tmp/",
        "bash -c 'rm src/auth/login.rs'",
        "rm src/auth/*.rs",
        "git switch other",
        "git merge other",
        "f=src/auth/login.rs; echo x > \"$f\"",
        "for f in src/auth/*.rs; do touch \"$f\"; done",
        "find src -name '*.rs' -exec sed -i s/a/b/ {} +",
        "python3 -c \"open('src/auth/login.rs', 'w')\"",
        "rm -rf *",
        "bash <<'EOF'\nrm src/auth/login.rs\nEOF",
    ] {
        assert!(refused(&world, "s2", "Bash", bash(command)).is_some(), "{command}");
        assert_eq!(refused(&world, "s1", "Bash", bash(command)), None, "{command}");
    }
    for command in [
        "git switch same",
        "git merge same",
        "cat src/auth/login.rs",
        "echo 'rm -rf src'",
        "rm src/auth/*.bak",
        "sed -i s/a/b/ README.md",
        "git add -A && git commit -m x",
        "git stash",
        "git checkout -- src/auth/login.rs",
        "rm src/auth/nobody.rs",
        "mkdir -p src/auth",
        "[ -f src/auth/login.rs ] || touch src/auth/login.rs",
        "cargo test",
        "rm $FILE",
    ] {
        assert_eq!(refused(&world, "s2", "Bash", bash(command)), None, "{command}");
    }
    // If the worktree has the holder's uncommitted work, commands that would include it are refused.
    std::fs::write(world.project().join("src/auth/login.rs"), "changed\n").unwrap();
    expect![[r#"
        [consort] Blocked: `git add` includes all that is uncommitted here, and src/auth/ is reserved by Falcon (claude on main, working), just now: "rewriting the login". Name your own paths instead.
        Options: ask (consort send Falcon '…') · wait up to 90 s (consort wait --timeout 90s '$WORLD/shop/src/auth/') · if unanswered, the same path with consort holds contest · do something else. Do not get around this with another tool."#]]
    .assert_eq(&refused(&world, "s2", "Bash", bash("git add -A && git commit -m x")).unwrap());
    for command in ["git stash", "git checkout -- src/auth/login.rs"] {
        assert!(refused(&world, "s2", "Bash", bash(command)).is_some(), "{command}");
    }
    // Git itself would not overwrite the work.
    assert_eq!(refused(&world, "s2", "Bash", bash("git switch other")), None);
    assert_eq!(refused(&world, "s2", "Bash", bash("git add README.md && git commit -m x")), None);
}

#[test]
fn neither_links_nor_odd_names_nor_other_repositories_are_a_way_around_it() {
    let world = world();
    let at = |path: &str| world.project().join(path);
    // A link is an entry of its own directory; its target is in another directory.
    std::fs::create_dir_all(at("common")).unwrap();
    std::fs::write(at("common/a"), "").unwrap();
    std::os::unix::fs::symlink("../../common/a", at("src/auth/a")).unwrap();
    std::os::unix::fs::symlink("src/auth/login.rs", at("lnk")).unwrap();
    // Directories that look like globs.
    std::fs::create_dir_all(at("src/auth/[slug]")).unwrap();
    std::fs::write(at("src/auth/[slug]/page.ts"), "").unwrap();
    // A repository inside the repository.
    std::fs::create_dir_all(at("src/auth/sub")).unwrap();
    std::fs::create_dir_all(at("vendor/sub/.git")).unwrap();
    std::fs::write(at("vendor/sub/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(at("vendor/sub/f"), "").unwrap();
    reserve(&world, "s1", "src/auth/");
    let mut inside = world.consort(["reserve", "f"]);
    assert_eq!(world.ran(inside.current_dir(at("vendor/sub")).env("CONSORT_SESSION", "s1")).code, 0);
    for command in [
        "rm src/auth/a",
        "ln -sf x src/auth/a",
        "mv -f README.md src/auth/a",
        "sed -i --follow-symlinks s/x/y/ lnk",
        "tee lnk",
        "cd 'src/auth/[slug]' && rm *.ts",
        "rm -rf vendor",
        "rm -rf .",
    ] {
        assert!(refused(&world, "s2", "Bash", bash(command)).is_some(), "{command}");
    }
    let in_slug = json!({ "session_id": "s2", "cwd": at("src/auth/[slug]"), "tool_name": "Bash",
        "tool_input": { "command": "rm *.ts" } });
    assert!(world.hook("PreToolUse", &in_slug).stdout.contains("deny"));
    for command in ["rm lnk", "sed -i s/x/y/ lnk"] {
        assert_eq!(refused(&world, "s2", "Bash", bash(command)), None, "the link is free");
    }
    assert!(refused(&world, "s2", "Edit", edit(&world, "vendor/sub/f")).is_some());

    // A hold of the outer repository covers the inner one.
    assert_eq!(world.run_as(Some("s1"), &["reserve", "vendor/"]).code, 0);
    assert!(refused(&world, "s2", "Edit", edit(&world, "vendor/sub/other")).is_some());
}

#[test]
fn what_harms_nobody_is_not_refused() {
    let world = world();
    let at = |path: &str| world.project().join(path);
    std::fs::create_dir_all(at("docs")).unwrap();
    std::fs::write(at("docs/a.md"), "").unwrap();
    reserve(&world, "s1", "src/auth/");
    // `git add` includes an untracked file of the holder's; `commit -a` does not.
    std::fs::write(at("src/auth/new.rs"), "").unwrap();
    for command in [
        "git commit -am x",
        "git stash",
        "cd docs && git add .",
        "git checkout README.md",
        "git add README.md",
    ] {
        assert_eq!(refused(&world, "s2", "Bash", bash(command)), None, "{command}");
    }
    for command in ["git add -A", "git add .", "git add src", "git clean -fd"] {
        assert!(refused(&world, "s2", "Bash", bash(command)).is_some(), "{command}");
    }
    // A hold in this worktree refuses nothing in another worktree.
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = json!({ "session_id": "s2", "cwd": world.path().join("side"), "tool_name": "Bash",
        "tool_input": { "command": "git switch main || git reset --hard HEAD" } });
    assert_eq!(world.hook("PreToolUse", &side).stdout, "");
}

#[test]
fn an_alias_of_the_persons_is_no_way_around_it() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    let snapshots = world.home().join(".claude/shell-snapshots");
    std::fs::create_dir_all(&snapshots).unwrap();
    let aliases = "shopt -s expand_aliases\n# Aliases\nalias -- del='rm -f'\nalias -- ll='ls -l'\n";
    std::fs::write(snapshots.join("snapshot-bash-1794746513813-abc123.sh"), aliases).unwrap();
    let refused = |command: &str| refused(&world, "s2", "Bash", bash(command)).is_some();
    assert!(refused("del src/auth/login.rs"));
    assert!(!refused("ll src/auth"));
    assert!(!refused("del README.md"));
    // The newest snapshot counts, by its time: a person may have two shells.
    for (name, alias) in [("zsh-1794746513000", "ll='rm'"), ("bash-1794746514000", "wipe='rm -f'")] {
        let text = format!("# Aliases\nalias -- {alias}\n");
        std::fs::write(snapshots.join(format!("snapshot-{name}-abc124.sh")), text).unwrap();
    }
    assert!(refused("wipe src/auth/login.rs"));
    assert!(!refused("ll src/auth"));
}

#[test]
fn a_hint_is_safe_to_paste() {
    let world = world();
    let name = "x'; touch pwned #";
    std::fs::write(world.project().join(name), "").unwrap();
    assert_eq!(world.run_as(Some("s1"), &["reserve", name]).code, 0);
    let told = refused(&world, "s2", "Edit", edit(&world, name)).unwrap();
    assert!(told.contains(r"x'\''; touch pwned #')"), "{told}");
    let ran = world.run_as(Some("s2"), &["reserve", name]);
    assert!(ran.stderr.contains(r"consort holds contest 'x'\''; touch pwned #'"), "{ran}");
}

#[test]
fn a_note_that_cannot_be_written_stops_no_guard() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    // A file is in the place of the session's directory, so notes cannot be written.
    world.move_away(&world.data().join("sessions/s2"));
    std::fs::write(world.data().join("sessions/s2"), "in the way").unwrap();
    assert!(refused(&world, "s2", "Bash", bash("./script; rm -rf src/auth")).is_some());
    assert!(refused(&world, "s2", "Edit", edit(&world, "src/auth/login.rs")).is_some());
}

#[test]
fn what_cannot_be_told_before_is_looked_at_after() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    let command = "python3 format.py";
    assert_eq!(refused(&world, "s2", "Bash", bash(command)), None);
    // The program does what nobody could tell from its name.
    std::fs::write(world.project().join("src/auth/login.rs"), "formatted\n").unwrap();
    expect![[r#"
        [consort] While your command ran, files changed that others have reserved. src/auth/login.rs (of src/auth/) is reserved by Falcon (claude on main), just now: "rewriting the login".
        They have been notified. Do not revert it yourself; agree with them what to do."#]]
    .assert_eq(&told(&world, "s2", "PostToolUse", "Bash", bash(command)).unwrap());
    let letter = told(&world, "s1", "PostToolUse", "Read", json!({})).unwrap();
    assert!(letter.contains(
        "While a command of Raven ran, what you have reserved changed: src/auth/login.rs. The command: \"python3 format.py\""
    ));

    // While two commands run, a file is moved into place before the second begins; a third command
    // removes a file.
    let run = |event: &str, id: &str, command: &str| {
        let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Bash", "tool_use_id": id,
            "tool_input": { "command": command } });
        world.hook(event, &call).stdout
    };
    reserve(&world, "s1", "README.md");
    std::fs::write(world.project().join("old"), "old\n").unwrap();
    run("PreToolUse", "one", "./slow");
    std::thread::sleep(std::time::Duration::from_millis(30));
    std::fs::rename(world.project().join("old"), world.project().join("src/auth/login.rs")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    run("PreToolUse", "two", "./quick");
    assert_eq!(run("PostToolUse", "two", "./quick"), "");
    assert!(run("PostToolUse", "one", "./slow").contains("src/auth/login.rs"));
    run("PreToolUse", "three", "./remove");
    std::fs::remove_file(world.project().join("README.md")).unwrap();
    assert!(run("PostToolUse", "three", "./remove").contains("README.md (removed) is reserved"));

    // While the holder runs a command of its own, the author of a change is unknown.
    call(&world, "s1", "PreToolUse", "Bash", bash("cargo fmt"));
    run("PreToolUse", "four", "cargo test");
    std::fs::write(world.project().join("src/auth/login.rs"), "formatted again\n").unwrap();
    assert!(run("PostToolUse", "four", "cargo test").contains("the author is unknown"));
    call(&world, "s1", "PostToolUse", "Bash", bash("cargo fmt"));

    // The holder's own write is not blamed on others, and nothing is said twice.
    assert_eq!(refused(&world, "s2", "Bash", bash("make test")), None);
    std::fs::write(world.project().join("src/auth/login.rs"), "by its holder\n").unwrap();
    call(&world, "s1", "PostToolUse", "Edit", edit(&world, "src/auth/login.rs"));
    assert_eq!(told(&world, "s2", "PostToolUse", "Bash", bash("make test")), None);
}

#[test]
fn policy_is_the_persons() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    let path = || edit(&world, "src/auth/login.rs");
    assert_eq!(world.run("config set claims.enforcement warn").code, 0);
    assert_eq!(refused(&world, "s2", "Edit", path()), None);
    let warning = told(&world, "s2", "PreToolUse", "Edit", path()).unwrap();
    assert!(warning.contains("reserved by Falcon") && warning.contains("message them first"), "{warning}");
    assert_eq!(world.run("config set claims.enforcement off").code, 0);
    assert_eq!(told(&world, "s2", "PreToolUse", "Edit", path()), None);
    assert_eq!(world.run("config set claims.enforcement block").code, 0);
    assert!(refused(&world, "s2", "Edit", path()).is_some());
    assert_eq!(world.run_as(Some("s2"), &["holds", "override", "src/auth/"]).code, 1);
    assert_eq!(world.run("holds override src/auth/login.rs --for 5m").code, 0);
    assert_eq!(refused(&world, "s2", "Edit", path()), None);
    assert!(refused(&world, "s2", "Edit", edit(&world, "src/auth/other.rs")).is_some());
    // An override of one file does not allow the removal of the others.
    assert!(refused(&world, "s2", "Bash", bash("rm -rf src/auth")).is_some());
    assert_eq!(world.run("holds override README.md").code, 0);
    assert!(refused(&world, "s2", "Bash", bash("rm -rf .")).is_some());
    let journal = world.run("journal tail").stdout;
    assert!(journal.contains("the person lets everyone write src/auth/login.rs"), "{journal}");
}

#[test]
fn who_edited_a_file_lately_is_said_once() {
    let world = world();
    let path = || edit(&world, "README.md");
    assert_eq!(told(&world, "s1", "PreToolUse", "Edit", path()), None);
    std::fs::write(world.project().join("README.md"), "edited\n").unwrap();
    call(&world, "s1", "PostToolUse", "Edit", path());
    expect!["[consort] Falcon edited README.md just now and has not committed it. It may not be done: ask with `consort send Falcon '…'` before you change the same lines."]
    .assert_eq(&told(&world, "s2", "PreToolUse", "Edit", path()).unwrap());
    assert_eq!(told(&world, "s2", "PreToolUse", "Edit", path()), None, "once");
    assert_eq!(told(&world, "s1", "PreToolUse", "Edit", path()), None, "its own");
    let claims = world.run("holds list").stdout;
    assert!(claims.contains("README.md  Falcon, just now"), "{claims}");
    // A committed edit is no longer mentioned.
    world.git(&["commit", "-q", "-am", "done"]);
    world.run("agent join --pid $OTHER --kind claude --session s3 --name Bear");
    assert_eq!(told(&world, "s3", "PreToolUse", "Edit", path()), None);
}

#[test]
fn a_file_that_changed_after_it_was_read_is_named_once() {
    let world = world();
    let read = |session: &str| call(&world, session, "PostToolUse", "Read", edit(&world, "README.md"));
    read("s2");
    assert_eq!(told(&world, "s2", "PreToolUse", "Glob", json!({})), None);
    // Another agent edits it.
    std::fs::write(world.project().join("README.md"), "by Falcon\n").unwrap();
    call(&world, "s1", "PostToolUse", "Edit", edit(&world, "README.md"));
    expect!["[consort] Changed since you read it: README.md (by Falcon, just now). Read again before you rely on it."]
        .assert_eq(&told(&world, "s2", "PreToolUse", "Glob", json!({})).unwrap());
    assert_eq!(told(&world, "s2", "PostToolUse", "Glob", json!({})), None, "once");
    // The person changes it, or some other program.
    std::fs::write(world.project().join("README.md"), "by hand, at length\n").unwrap();
    let news = told(&world, "s2", "UserPromptSubmit", "", json!({})).unwrap();
    assert!(news.contains("README.md (by someone else"), "{news}");
    // The session's own changes are not mentioned, by whatever tool.
    std::fs::write(world.project().join("README.md"), "own").unwrap();
    call(&world, "s2", "PostToolUse", "Edit", edit(&world, "README.md"));
    assert_eq!(told(&world, "s2", "PreToolUse", "Glob", json!({})), None);
    std::fs::write(world.project().join("README.md"), "by its own command").unwrap();
    assert_eq!(told(&world, "s2", "PostToolUse", "Bash", bash("make docs")), None);
    assert_eq!(told(&world, "s2", "PreToolUse", "Glob", json!({})), None);
    // Someone else removes the file.
    std::fs::remove_file(world.project().join("README.md")).unwrap();
    let news = told(&world, "s2", "PreToolUse", "Glob", json!({})).unwrap();
    assert!(news.contains("README.md (removed by someone else)"), "{news}");
    assert!(!world.data().join("hook.log").exists());
}

#[test]
fn a_command_is_explained_without_being_run() {
    let world = world();
    reserve(&world, "s1", "src/auth/");
    let explain = |session: Option<&str>, command: &str| {
        let ran = world.run_as(session, &["explain", "--json", "--", command]);
        assert_eq!(ran.code, 0, "{ran}");
        let outcome: Value = serde_json::from_str(&ran.stdout).unwrap();
        outcome["command"]["verdict"].as_str().unwrap().to_owned()
    };
    for (command, verdict) in [
        ("rm -rf src", "refused"),
        ("python3 build.py", "unknown"),
        ("cat src/auth/login.rs", "free"),
        ("touch README.md", "free"),
    ] {
        assert_eq!(explain(Some("s2"), command), verdict, "{command}");
        assert_eq!(explain(None, command), verdict, "{command}");
    }
    assert_eq!(explain(Some("s1"), "rm -rf src"), "free", "it is its own");
    assert!(world.project().join("src/auth/login.rs").exists(), "nothing was run");
    let said = world.run_as(Some("s2"), &["explain", "--", "rm -rf src"]).stdout;
    assert!(said.starts_with("Refused: ") && said.contains("reserved by Falcon"), "{said}");
}

#[test]
fn what_is_shared_is_for_those_who_have_joined_it() {
    let world = world();
    let share = |session: &str| world.run_as(Some(session), &["reserve", "--shared", "src/auth/"]).code;
    assert_eq!(share("s1"), 0);
    let write = |session: &str| refused(&world, session, "Edit", edit(&world, "src/auth/login.rs"));
    let reason = write("s2").unwrap();
    assert!(reason.contains("join it: consort reserve --shared"), "{reason}");
    assert_eq!(write("s1"), None);
    assert_eq!(share("s2"), 0);
    assert_eq!((write("s1"), write("s2")), (None, None));
    assert_eq!(world.run_as(Some("s2"), &["release", "src/auth/"]).code, 0);
    assert!(write("s2").is_some() && write("s1").is_none());
}
