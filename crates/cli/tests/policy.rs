//! Tests of the person's rules: their decisions, and who may change them.

use std::fs;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

/// Returns the answer to a session that asks for a permission, or is about to use a tool.
fn decided(world: &Sealed, event: &str, tool: &str, input: &Value) -> Value {
    let call = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": tool, "tool_input": input });
    let mut hook = world.consort(["hook", "claude", event]);
    // Not attended by a person, so that the hook does not wait for an answer.
    hook.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    let ran = world.ran_with(&mut hook, call.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    answer["hookSpecificOutput"].clone()
}

fn asked(world: &Sealed, command: &str) -> Value {
    decided(world, "PermissionRequest", "Bash", &json!({ "command": command }))["decision"].clone()
}

#[test]
fn what_a_rule_allows_is_not_asked_about() {
    let world = world();
    assert_eq!(world.run("policy add allow Bash cargo*").code, 0);
    assert_eq!(asked(&world, "cargo test"), json!({ "behavior": "allow" }));
    assert_eq!(asked(&world, "cd sub && 'cargo' test"), json!({ "behavior": "allow" }));
    assert_eq!(asked(&world, "cargo test && rm -rf x"), Value::Null);
    assert_eq!(asked(&world, "cargo test $(rm x)"), Value::Null);
    assert_eq!(asked(&world, "rm x"), Value::Null);
    for command in [
        "touch x; touch() { cargo test; }",
        "/tmp/evil/bin/cargo test",
        "for PATH in /tmp; do cargo test; done",
        "test -v 'x[$(touch y)]'; cargo test",
        "cargo test \"it's $[$(touch x)]\"",
        "cargo test \"${x:-'$(touch x)'}\"",
        "cargo test <<$'E'\nE\ntouch x\n$E\n",
        "env --split='touch x' cargo test",
        "/usr/bin/time --output=x cargo test",
        "./node_modules/.bin/timeout 5 cargo test",
        "echo y | xargs -I test cargo test",
        "CI='a[$(touch x)]'; ((CI)); cargo test",
    ] {
        assert_eq!(asked(&world, command), Value::Null, "{command}");
    }
    let told = world.run("policy list").stdout;
    assert!(told.contains("allow Bash cargo*") && told.contains("decided 2 times"), "{told}");
    let tail = world.run("journal tail").stdout;
    assert!(tail.contains("Falcon asks (#1): Bash cargo test; Falcon is allowed to, by rule #1"), "{tail}");
    assert_eq!(world.run("policy remove 1").code, 0);
    assert_eq!(asked(&world, "cargo test"), Value::Null);
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn what_a_rule_refuses_is_refused_before_the_tool_in_whatever_mode() {
    let world = world();
    assert_eq!(world.run_as(None, &["policy", "add", "deny", "Bash", "git push*"]).code, 0);
    assert_eq!(world.run_as(None, &["policy", "add", "allow", "Bash"]).code, 0);
    let before = |command: &str| decided(&world, "PreToolUse", "Bash", &json!({ "command": command }));
    for command in [
        "git push",
        "git -C . push --force",
        "cd a && /usr/bin/git push",
        "bash -c 'git push'",
        "git -c a=b push",
        "command git push -v",
        "env - git push",
        "trap 'git push' EXIT",
        "/usr/bin/time -f %e git push",
    ] {
        let answer = before(command);
        assert_eq!(answer["permissionDecision"], "deny", "{command}: {answer}");
    }
    expect!["[consort] Refused by your user's rule #1: Bash `git push*` is not to be used. Do not try it another way."]
        .assert_eq(before("git push")["permissionDecisionReason"].as_str().unwrap());
    assert_eq!(before("git status")["permissionDecision"], Value::Null);
    // A rule that denies wins over one that allows, also for a question to the person.
    let answer = asked(&world, "git push");
    assert_eq!(answer["behavior"], "deny", "{answer}");
    // The person is asked about commands that may run `git push`.
    for command in [
        "git $WHAT",
        "bash -c \"cd $DIR && git push\"",
        "bash <<'E'\ngit push\nE",
        "echo git push | sh",
        "eval \"$CMD\"",
        "xargs -I{} git {}",
        "git submodule foreach 'git push'",
        "watch git push",
    ] {
        assert_eq!(before(command)["permissionDecision"], "ask", "{command}");
    }
    for command in ["git stash push", "git log --grep push", "bash --version", "sh x.sh"] {
        assert_eq!(before(command)["permissionDecision"], Value::Null, "{command}");
    }
    let list: Value = serde_json::from_str(&world.run("policy list --json").stdout).unwrap();
    assert_eq!(list["items"][0]["used"], 11, "{list}");
}

#[test]
fn no_rule_answers_a_question_or_approves_a_plan() {
    let world = world();
    assert_eq!(world.run_as(None, &["policy", "add", "allow", "*"]).code, 0);
    let question = json!({ "questions": [{ "question": "Which?", "options": [{ "label": "A" }] }] });
    for (tool, input) in [("AskUserQuestion", question), ("ExitPlanMode", json!({ "plan": "all of it" }))] {
        assert_eq!(decided(&world, "PermissionRequest", tool, &input)["decision"], Value::Null, "{tool}");
    }
    assert_eq!(asked(&world, "ls"), json!({ "behavior": "allow" }));
}

#[test]
fn files_are_meant_by_where_they_are() {
    let world = world();
    fs::create_dir_all(world.project().join("src")).unwrap();
    std::os::unix::fs::symlink("/etc", world.project().join("src/link")).unwrap();
    assert_eq!(world.run_as(None, &["policy", "add", "allow", "Edit", "src/**"]).code, 0);
    assert_eq!(world.run_as(None, &["policy", "add", "deny", "Edit", ".env"]).code, 0);
    let edit = |event: &str, path: &str| {
        let path = world.project().join(path);
        decided(&world, event, "Edit", &json!({ "file_path": path, "old_string": "a", "new_string": "b" }))
    };
    assert_eq!(edit("PermissionRequest", "src/a.rs")["decision"]["behavior"], "allow");
    assert_eq!(edit("PermissionRequest", "src/../a.rs")["decision"], Value::Null);
    assert_eq!(edit("PermissionRequest", "src/link/hosts")["decision"], Value::Null);
    // A rule that allows does not mean the same name in another repository; a rule that denies holds
    // however the path is written.
    let other = world.path().join("other/src");
    fs::create_dir_all(other.parent().unwrap().join(".git")).unwrap();
    fs::create_dir_all(&other).unwrap();
    assert_eq!(edit("PermissionRequest", "../other/src/a.rs")["decision"], Value::Null);
    assert_eq!(edit("PreToolUse", "src/../.env")["permissionDecision"], "deny");
}

#[test]
fn only_the_person_changes_rules_and_a_project_brings_stricter_ones_only() {
    let world = world();
    let ran = world.run_as(Some("s1"), &["policy", "add", "allow", "Bash"]);
    assert_ne!(ran.code, 0, "{ran}");
    let ran = world.run_as(Some("s1"), &["policy", "add", "deny", "Bash", "git push*"]);
    assert_ne!(ran.code, 0, "{ran}");
    assert_eq!(world.run_as(None, &["policy", "add", "deny", "Bash", "git push*"]).code, 0);
    assert_ne!(world.run_as(Some("s1"), &["policy", "remove", "1"]).code, 0);

    let directory = world.project().join(".consort");
    fs::create_dir_all(&directory).unwrap();
    let settings = "[policy]\ndeny = \"Bash(npm publish*)\"\nallow = \"Bash\"\n";
    fs::write(directory.join("config.toml"), settings).unwrap();
    let ran = world.run("status");
    assert!(ran.stderr.contains("policy.allow"), "{ran}");
    assert_eq!(asked(&world, "npm publish --tag x")["behavior"], "deny");
    assert_eq!(asked(&world, "npm test"), Value::Null);
    let before = decided(&world, "PreToolUse", "Bash", &json!({ "command": "npm publish" }));
    assert_eq!(before["permissionDecision"], "deny");
    let tail = world.run("journal tail").stdout;
    assert!(tail.contains("is refused, by the setting policy.deny: Bash(npm publish*)"), "{tail}");
}

#[test]
fn a_rule_holds_where_and_as_long_as_it_says() {
    let world = world();
    let add =
        |more: &[&str]| world.run_as(None, &[&["policy", "add", "allow", "Bash", "cargo*"], more].concat());
    assert_eq!(add(&["--in", "project", "--for", "1s"]).code, 0);
    assert_eq!(asked(&world, "cargo test"), json!({ "behavior": "allow" }));
    let since = std::time::Instant::now();
    while asked(&world, "cargo test") != Value::Null {
        assert!(since.elapsed().as_secs() < 30);
    }
    assert!(world.run("policy list").stdout.contains("over"));
    let elsewhere = world.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    assert_eq!(add(&["--in", elsewhere.to_str().unwrap()]).code, 0);
    assert_eq!(asked(&world, "cargo test"), Value::Null);
    for wrong in [["Bash", "cargo; rm"], ["Bash", "* x"], ["B sh", "x"], ["Bash", ""]] {
        let ran = world.run_as(None, &[&["policy", "add", "deny"], &wrong[..]].concat());
        assert_eq!(ran.code, 1, "{ran}");
    }
}

#[test]
fn a_rule_can_be_tried_on_what_was_asked() {
    let world = world();
    asked(&world, "cargo test");
    asked(&world, "cargo build");
    asked(&world, "rm -rf target");
    let ran = world.run_as(None, &["policy", "test", "allow", "Bash", "cargo*"]);
    assert!(ran.stdout.ends_with("Of 3 questions: 2 allowed, 0 refused, 1 left to you.\n"), "{ran}");
    let ran = world.run_as(None, &["policy", "test", "deny", "Bash", "rm -rf*", "--json"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let would: Vec<&Value> = json["items"].as_array().unwrap().iter().map(|item| &item["would"]).collect();
    assert_eq!(would, [&Value::Null, &Value::Null, &json!("deny")]);
}
