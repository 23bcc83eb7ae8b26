//! Tests of hooks for tools that are not a CLI's own, and for files that the shell reads.

use std::fs;
use std::time::Duration;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    fs::create_dir_all(world.project().join("src/auth")).unwrap();
    fs::write(world.project().join("src/auth/login.rs"), "fn login() {}\n").unwrap();
    fs::write(world.project().join("README.md"), "shop\n").unwrap();
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "files"]);
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    world
}

#[test]
fn a_server_that_writes_is_refused_like_any_tool() {
    let world = world();
    let is_refused = |tool: &str, input: Value| {
        let call =
            json!({ "session_id": "s2", "cwd": world.project(), "tool_name": tool, "tool_input": input });
        world.hook("PreToolUse", &call).stdout.contains("\"deny\"")
    };
    let held = world.project().join("src/auth/login.rs");
    for (tool, input) in [
        ("mcp__filesystem__write_file", json!({ "path": held, "content": "x" })),
        ("mcp__filesystem__move_file", json!({ "source": held, "destination": "/tmp/x" })),
        ("mcp__serena__replace_symbol_body", json!({ "relative_path": "src/auth/login.rs", "body": "x" })),
        ("mcp__jetbrains__create_new_file", json!({ "pathInProject": "src/auth/new.rs" })),
        ("mcp__desktop-commander__start_process", json!({ "command": "rm -rf src/auth" })),
        ("mcp__editor__write_files", json!({ "files": [{ "path": "README.md" }, { "path": held }] })),
        ("mcp__editor__save", json!({ "uri": format!("file://{}", held.display()) })),
    ] {
        assert!(is_refused(tool, input), "{tool}");
    }
    for (tool, input) in [
        ("mcp__filesystem__read_text_file", json!({ "path": held })),
        ("mcp__filesystem__copy_file", json!({ "source": held, "destination": "/tmp/x" })),
        ("mcp__filesystem__write_file", json!({ "path": world.project().join("README.md") })),
        ("mcp__editor__frobnicate", json!({ "path": held })),
    ] {
        assert!(!is_refused(tool, input), "{tool}");
    }
}

#[test]
fn a_tool_that_nobody_knows_is_looked_after() {
    let world = world();
    let held = world.project().join("src/auth/login.rs");
    let call =
        json!({ "tool_name": "mcp__x__frobnicate", "tool_use_id": "t1", "tool_input": { "path": held } });
    assert_eq!(world.hook_text("s2", "PreToolUse", &call), None);
    std::thread::sleep(Duration::from_millis(30));
    fs::write(&held, "frobnicated\n").unwrap();
    let told = world.hook_text("s2", "PostToolUse", &call).unwrap();
    assert!(told.contains("src/auth/login.rs") && told.contains("Falcon"), "{told}");
}

/// A CLI, its events, its shell, its tool that searches, and how it calls tools of MCP servers.
const CLIS: &[(&str, &str, &str, &str, &str, &str)] = &[
    ("claude", "PostToolUse", "UserPromptSubmit", "Bash", "Grep", "mcp__filesystem__read_text_file"),
    ("codex", "PostToolUse", "UserPromptSubmit", "Bash", "", "mcp__filesystem__read_text_file"),
    (
        "gemini",
        "AfterTool",
        "BeforeAgent",
        "run_shell_command",
        "grep_search",
        "mcp_filesystem_read_text_file",
    ),
    ("copilot", "postToolUse", "userPromptSubmitted", "bash", "grep", "filesystem-read_text_file"),
    ("opencode", "tool-after", "prompt", "bash", "grep", "filesystem_read_text_file"),
    ("pi", "tool-after", "prompt", "bash", "grep", "filesystem_read_text_file"),
];

#[test]
fn what_shell_searches_and_servers_have_shown_counts_as_read_in_every_cli() {
    for &(kind, after, prompt, shell, search, server) in CLIS {
        let world = world();
        let path = world.project().join("README.md");
        let looks = [
            (shell, json!({ "command": "sed -n '1,40p' README.md" })),
            (shell, json!({ "command": "grep -n shop README.md | head" })),
            (search, json!({ "pattern": "shop", "path": path, "dir_path": path })),
            (server, json!({ "path": path })),
        ];
        world.run(&format!("agent join --pid $OTHER --kind {kind} --session s3 --name Bear"));
        let hook = |event: &str, more: Value| {
            let mut call = json!({ "session_id": "s3", "sessionId": "s3", "cwd": world.project() });
            call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            world.ran_with(&mut world.consort(["hook", kind, event]), call.to_string().as_bytes()).stdout
        };
        let call = |tool: &str, input: &Value| json!({ "tool_name": tool, "tool_input": input });
        for (tool, input) in looks.iter().filter(|(tool, _)| !tool.is_empty()) {
            hook(after, call(tool, input));
            std::thread::sleep(Duration::from_millis(30));
            fs::write(&path, format!("by Falcon, after {tool}\n")).unwrap();
            world.hook_text("s1", "PostToolUse", &call("Edit", &json!({ "file_path": path })));
            let next = hook(after, call(shell, &json!({ "command": "true" })));
            let said = hook(prompt, json!({ "prompt": "go on" })) + &next;
            assert!(
                said.contains("Changed since you read it: README.md (by Falcon"),
                "{kind} {tool} {input}: {said}"
            );
        }
    }
}
