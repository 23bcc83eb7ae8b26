//! Tests a repository that an attacker has filled with links, pipes, devices, long files
//! and odd names in the places that we read and write. In a chroot and as an ordinary user,
//! everything outside of the repository and of our directory stays as it was, and nothing hangs.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::jail;
use consort_testkit::jail::Jail;
use serde_json::json;

const REPOSITORY: &str = "/home/user/src";
const OURS: &[&str] = &["/home/user/.local", "/home/user/.config", REPOSITORY];

/// The paths that we read or write in a repository.
const PLACES: &[&str] = &[
    ".consort",
    ".consort/knowledge.yjs",
    ".consort/config.toml",
    ".consort/roles.toml",
    ".gitattributes",
    ".claude",
    ".claude/settings.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".opencode/plugin/consort.js",
    ".pi/extensions/consort.ts",
    ".github/hooks/consort.json",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "spec.md",
    "notes/a\nb\u{1b}[2J.md",
];

fn run(arguments: &[&str], input: &str) -> i32 {
    let since = Instant::now();
    let mut command = Command::new("/bin/consort");
    command.args(arguments).env_clear().env("HOME", "/home/user").env("PATH", "/bin").current_dir(REPOSITORY);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let code = child.wait().unwrap().code().unwrap_or(-1);
    assert!(since.elapsed() < Duration::from_secs(30), "{arguments:?} took {:?}", since.elapsed());
    assert!((0..=7).contains(&code), "{arguments:?}: {code}");
    code
}

fn use_everything(pid: &str) {
    for kind in ["claude", "codex", "gemini", "opencode", "pi", "copilot"] {
        for arguments in [
            &["init", "--project", "--yes", "--mcp", "--primer", "--agent", kind][..],
            &["init", "--user", "--yes", "--dry-run", "--agent", kind],
        ] {
            run(arguments, "");
        }
    }
    for arguments in [
        &["init", "--git-merge", "--yes"][..],
        &["who"],
        &["status"],
        &["doctor"],
        &["config", "list"],
        &["roles", "list"],
        &["roles", "validate", ".consort/roles.toml"],
        &["config", "set", "--project", "context.mode", "none"],
        &["task", "list", "--spec", "spec.md"],
        &["task", "list", "--spec", "notes/a\nb\u{1b}[2J.md"],
        &["know", "list", "principle"],
        &["explain", "notes/"],
        // From here on the caller is an agent.
        &["agent", "join", "--pid", pid, "--session", "s1", "--spec", "spec.md"],
        &["know", "add", "principle", "one", "text", "--set", "knowledge.save=true"],
        &["know", "save"],
        &["know", "query", "(get-principles)"],
        &["task", "next"],
        &["reserve", "notes/"],
        &["know", "cache", "put", "spec.md", "x"],
        &["agent", "leave"],
    ] {
        run(arguments, "");
    }
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
        let call = json!({ "session_id": "s2", "cwd": REPOSITORY, "tool_name": "Write", "prompt": "go on",
            "tool_input": { "file_path": "spec.md" } });
        assert_eq!(run(&["hook", "claude", event], &call.to_string()), 0);
    }
}

/// Puts a link, pipe, directory or long file into the place of a file, after moving the old one away.
fn put(place: &str, what: &str) {
    let path = Path::new(REPOSITORY).join(place);
    let aside = Path::new("/tmp/aside").join(format!("{}", fs::read_dir("/tmp/aside").unwrap().count()));
    if fs::symlink_metadata(&path).is_ok() {
        fs::rename(&path, aside).unwrap();
    }
    let Some(parent) = path.parent() else { return };
    if fs::create_dir_all(parent).is_err() {
        return;
    }
    match what {
        "pipe" => {
            let made = rustix::fs::mknodat(
                rustix::fs::CWD,
                &path,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            );
            made.unwrap();
        }
        "directory" => fs::create_dir(&path).unwrap(),
        "long" => fs::File::create(&path).unwrap().set_len(3 << 30).unwrap(),
        target => symlink(target, &path).unwrap(),
    }
}

#[test]
fn nothing_outside_of_a_hostile_repository_is_touched() {
    if !jail::is_inside() {
        let jail = Jail::new(env!("CARGO_BIN_EXE_consort"));
        assert!(jail.run("nothing_outside_of_a_hostile_repository_is_touched"), "see above");
        return;
    }
    fs::create_dir("/tmp/aside").unwrap();
    let ours = [OURS, &["/tmp/aside"]].concat();
    let before = jail::manifest(&ours);
    let pid = std::process::id().to_string();
    for place in PLACES {
        for what in [
            "/home/user/.bashrc",
            "/home/other",
            "../../../../etc/passwd",
            "/dev/null",
            "/home/user/nowhere",
            "pipe",
            "directory",
            "long",
        ] {
            put(place, what);
            use_everything(&pid);
            assert_eq!(jail::manifest(&ours), before, "{place} -> {what}");
        }
        // Replaces the last one by a harmless link, so that it does not disturb the next place.
        put(place, "/home/user/nowhere");
    }
}
