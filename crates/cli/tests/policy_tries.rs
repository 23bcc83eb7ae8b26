//! Tests of tricks that agents may try under rules that allow: a hook asks about each line of a
//! table, which is allowed or not.

use std::fs;
use std::os::unix::fs::symlink;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

const TRIES: &str = include_str!("policy/tries.txt");

/// Makes a project with directories, and with links that lead out of it.
fn world(rules: &[&str]) -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let project = world.project();
    for directory in ["sub/deep", "scripts", "tests", "src", ".git/hooks"] {
        fs::create_dir_all(project.join(directory)).unwrap();
    }
    let outside = world.path().join("outside");
    fs::create_dir_all(outside.join("sub")).unwrap();
    for file in ["x", "outside/x"] {
        fs::write(world.path().join(file), "x").unwrap();
    }
    for link in ["link", "sub/link", "sub/only", "scripts/link", "src/link"] {
        symlink(&outside, project.join(link)).unwrap();
    }
    symlink("sub", project.join("inner")).unwrap();
    for file in ["a.rs", "sub/a.rs", "sub/script.py", "script.py", "src/a.rs"] {
        fs::write(project.join(file), "x").unwrap();
    }
    let world = world.with_falcon_and_raven();
    for rule in rules {
        let (tool, pattern) = rule.split_once(' ').unwrap();
        let ran = world.run_as(None, &["policy", "add", "allow", tool, pattern]);
        assert_eq!(ran.code, 0, "{rule}: {ran}");
    }
    world
}

fn is_allowed(world: &Sealed, tool: &str, input: &Value) -> bool {
    let call = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": tool, "tool_input": input });
    is_call_allowed(world, &call)
}

fn is_call_allowed(world: &Sealed, call: &Value) -> bool {
    let mut hook = world.consort(["hook", "claude", "PermissionRequest"]);
    // Not attended by a person, so that the hook does not wait for an answer.
    hook.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    let ran = world.ran_with(&mut hook, call.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["decision"]["behavior"] == "allow"
}

#[test]
fn commands_are_allowed_only_for_what_they_are_named_for() {
    let sections: Vec<(Vec<String>, Vec<&str>)> = TRIES
        .split("\n[")
        .skip(1)
        .map(|section| {
            let (rules, tries) = section.split_once("]\n").unwrap();
            let rules = rules.split(" | ").map(|rule| format!("Bash {rule}")).collect();
            (rules, tries.lines().filter(|line| !line.is_empty()).collect())
        })
        .collect();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let tried = sections.iter().map(|(rules, tries)| {
            scope.spawn(move || {
                let world = world(&rules.iter().map(String::as_str).collect::<Vec<_>>());
                let wrong = tries.iter().filter(|line| {
                    let (wanted, text) = line.split_once(' ').unwrap();
                    let text = text.replace("\\n", "\n").replace("\\t", "\t");
                    is_allowed(&world, "Bash", &json!({ "command": text })) != (wanted == "=")
                });
                wrong.map(|line| (*line).to_owned()).collect::<Vec<_>>()
            })
        });
        let tried: Vec<_> = tried.collect();
        tried.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    let count = TRIES.lines().filter(|line| line.starts_with("? ") || line.starts_with("= ")).count();
    assert!(count > 200 && wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_directory_within_the_project_may_be_named_in_full() {
    let world = world(&["Bash cargo test*"]);
    let project = world.project();
    for (directory, is) in [("sub", true), ("inner", true), ("link", false), ("../outside", false)] {
        let command = format!("cd {} && cargo test", project.join(directory).display());
        assert_eq!(is_allowed(&world, "Bash", &json!({ "command": command })), is, "{command}");
    }
}

/// A project's rules allow nothing to a session that works in another project.
#[test]
fn what_a_project_allows_it_does_not_allow_elsewhere() {
    let world = world(&["Bash ./gradlew test*"]);
    let add = |tool: &str, pattern: &str| {
        let ran = world.run_as(None, &["policy", "add", "allow", tool, pattern, "--in", "project"]);
        assert_eq!(ran.code, 0, "{ran}");
    };
    add("Bash", "cargo test*");
    add("Edit", "src/**");
    let from = |cwd: &str, tool: &str, input: Value| {
        let cwd = world.project().join(cwd);
        is_call_allowed(
            &world,
            &json!({ "session_id": "s1", "cwd": cwd, "tool_name": tool, "tool_input": input }),
        )
    };
    let other = world.path().join("other/src");
    fs::create_dir_all(&other).unwrap();
    fs::create_dir_all(world.path().join("other/.git")).unwrap();
    let test = || json!({ "command": "cargo test" });
    assert!(from(".", "Bash", test()) && from("sub", "Bash", test()));
    assert!(!from("../other", "Bash", test()) && !from("link", "Bash", test()));
    let edit = |path: &str| json!({ "file_path": world.project().join(path), "content": "x" });
    assert!(from(".", "Write", edit("src/a.rs")) && from("sub", "Write", edit("src/a.rs")));
    assert!(!from("../other", "Write", edit("../other/src/a.rs")));
    // A relative path means another file when the session is in another directory.
    let gradle = || json!({ "command": "./gradlew test" });
    assert!(from("", "Bash", gradle()) && !from("sub", "Bash", gradle()));
}

#[test]
fn files_are_allowed_only_for_what_they_are() {
    let world = world(&["Edit src/**", "Edit docs/*.md", "Read **", "Bash cargo test*"]);
    let project = world.project();
    fs::create_dir_all(project.join("docs")).unwrap();
    fs::hard_link(project.join("a.rs"), project.join("src/hard.rs")).unwrap();
    symlink("../a.rs", project.join("src/soft.rs")).unwrap();
    symlink("/etc/passwd", project.join("docs/a.md")).unwrap();
    let mut git = world.command("git");
    assert!(git.args(["init", "-q"]).arg(project.join("src/repo")).status().unwrap().success());
    let absolute = |path: &str| project.join(path).to_string_lossy().into_owned();
    let mut wrong = Vec::new();
    let mut check = |tool: &str, input: Value, is: bool| {
        if is_allowed(&world, tool, &input) != is {
            wrong.push(format!("{tool} {input}"));
        }
    };
    for (path, is) in [
        ("src/a.rs", true),
        ("src/new/deep.rs", true),
        ("./src/a.rs", true),
        ("src//a.rs", true),
        ("sub/../src/a.rs", true),
        ("docs/new.md", true),
        ("docs/deep/new.md", false),
        ("docs/new.sh", false),
        ("docs/a.md", false),
        ("src/soft.rs", false),
        ("src/link/x", false),
        ("src/link/../a.rs", false),
        ("src/../a.rs", false),
        ("src/../../x", false),
        ("srcx/a.rs", false),
        ("SRC/a.rs", false),
        ("a/src/a.rs", false),
        ("sub/src/a.rs", false),
        ("src/.env", false),
        ("src/.git/hooks/pre-commit", false),
        ("src/.claude/settings.json", false),
        ("src/repo/a.rs", false),
        (".git/hooks/pre-commit", false),
        ("../outside/src/a.rs", false),
        ("/src/a.rs", false),
        ("~/src/a.rs", false),
        ("src/a.rs/../../x", false),
        ("", false),
    ] {
        for tool in ["Edit", "Write"] {
            check(
                tool,
                json!({ "file_path": path, "content": "x", "old_string": "a", "new_string": "b" }),
                is,
            );
            let path = absolute(path);
            check(tool, json!({ "file_path": path, "content": "x" }), is && !path.is_empty());
        }
    }
    for (tool, input) in [
        // Only the CLI knows which of two paths counts.
        ("Edit", json!({ "file_path": "src/a.rs", "path": "/etc/x", "content": "x" })),
        ("Write", json!({ "path": "src/a.rs", "file_path": "/etc/x" })),
        ("NotebookEdit", json!({ "notebook_path": "/etc/x", "file_path": "src/a.rs" })),
        ("Edit", json!({})),
        ("Edit", json!({ "file_path": ["src/a.rs"] })),
        // An MCP server's tool with such a path does not edit this file.
        ("mcp__github__create_or_update_file", json!({ "path": "src/a.rs", "content": "x" })),
        ("mcp__deploy__write", json!({ "file_path": "src/a.rs" })),
        ("mcp__ssh__exec", json!({ "command": "cargo test" })),
        ("mcp__shell__run", json!({ "cmd": "cargo test" })),
        ("mcp__fs__read_file", json!({ "path": "src/a.rs" })),
        ("WebFetch", json!({ "url": "file:///src/a.rs" })),
        ("Bash", json!({ "command": "cargo test", "dangerouslyDisableSandbox": true })),
        ("Read", json!({ "file_path": ".env" })),
        ("Read", json!({ "file_path": "/etc/passwd" })),
        ("Read", json!({ "file_path": "link/x" })),
        ("Read", json!({ "file_path": ".git/config" })),
    ] {
        check(tool, input, false);
    }
    check("Read", json!({ "file_path": "a.rs" }), true);
    check("Bash", json!({ "command": "cargo test" }), true);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules about reading and editing apply to files that a command shows or writes.
#[test]
fn what_commands_do_to_files_is_refused_too() {
    let world = world(&["Bash cat *"]);
    for (tool, pattern) in [("Edit", ".env"), ("Edit", "conf/**"), ("Read", "*.pem"), ("mcp__github__*", "")]
    {
        let rule = ["policy", "add", "deny", tool, pattern];
        assert_eq!(world.run_as(None, &rule[..4 + usize::from(!pattern.is_empty())]).code, 0);
    }
    fs::create_dir_all(world.project().join("conf")).unwrap();
    for file in ["conf/a", "key.pem", ".env"] {
        fs::write(world.project().join(file), "x\n").unwrap();
    }
    let said = |tool: &str, input: Value| {
        let call =
            json!({ "session_id": "s1", "cwd": world.project(), "tool_name": tool, "tool_input": input });
        let ran = world.hook("PreToolUse", &call);
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
    };
    for command in [
        "echo x > .env",
        "echo x >> .env",
        "sed -i s/a/b/ .env",
        "cp a.rs .env",
        "mv a.rs .env",
        "rm .env",
        "tee .env < a.rs",
        "cd sub && echo x > ../.env",
        "touch conf/b",
        "rm -rf conf",
        "bash -c 'echo x > conf/a'",
        "cat key.pem",
        "cd sub; head ../key.pem",
    ] {
        assert_eq!(said("Bash", json!({ "command": command })), "deny", "{command}");
    }
    for command in ["cat .env", "echo x > a.rs", "cat a.rs", "cp key.txt b", "ls conf"] {
        assert_eq!(said("Bash", json!({ "command": command })), "", "{command}");
    }
    assert_eq!(said("mcp__github__create_or_update_file", json!({ "path": "a", "content": "x" })), "deny");
    assert_eq!(said("mcp__fs__write_file", json!({ "path": ".env", "content": "x" })), "deny");
}
