//! Tests of `doctor`, which finds in a few seconds why hooks do not arrive, and of `--fix`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;
use serde_json::Value;

const CONSORT: &str = env!("CARGO_BIN_EXE_consort");

/// Writes a program that runs this script.
fn program(dir: &Path, name: &str, script: &str) {
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

struct World {
    sealed: Sealed,
    bin: PathBuf,
}

impl World {
    fn new() -> Self {
        let sealed = Sealed::new(CONSORT);
        let bin = sealed.path().join("bin");
        Self { sealed, bin }
    }

    fn doctor(&self, more: &[&str]) -> (String, i32) {
        let path = format!("{}:/usr/bin:/bin", self.bin.display());
        let words = ["doctor"].iter().chain(more).copied();
        let ran = self.sealed.ran(self.sealed.consort(words).env("PATH", path));
        (ran.stdout.clone() + &ran.stderr, ran.code)
    }
}

#[test]
fn six_slow_programs_are_asked_at_once_and_not_for_long() {
    let world = World::new();
    for kind in ["claude", "codex", "gemini", "opencode", "pi"] {
        program(&world.bin, kind, "exec sleep 20");
    }
    program(&world.bin, "copilot", "echo 9.9.9");
    let since = Instant::now();
    let (text, _) = world.doctor(&[]);
    // All of them together take two seconds; one after the other would take ten.
    assert!(since.elapsed() < Duration::from_secs(9), "{:?}", since.elapsed());
    assert!(text.contains("Copilot CLI 9.9.9: not connected"), "{text}");
    assert!(text.contains("Claude Code: not connected"), "{text}");
}

#[test]
fn a_package_says_its_version_without_being_run() {
    let world = World::new();
    let package = world.sealed.path().join("node_modules/@openai/codex");
    program(&package.join("bin"), "codex.js", "exit 1");
    fs::write(package.join("package.json"), r#"{"version": "0.1.2", "bin": {"codex": "bin/codex.js"}}"#)
        .unwrap();
    fs::create_dir_all(&world.bin).unwrap();
    std::os::unix::fs::symlink(package.join("bin/codex.js"), world.bin.join("codex")).unwrap();
    let (text, _) = world.doctor(&[]);
    assert!(text.contains("Codex 0.1.2: not connected"), "{text}");
    assert!(text.contains("warning  Codex: 0.1.2 is older than "), "{text}");
}

#[test]
fn the_last_hook_is_told() {
    let world = World::new();
    program(&world.bin, "claude", "echo 99.0.0");
    world.sealed.run("init --agent claude --yes");
    assert!(world.doctor(&[]).0.contains("connected; no hook heard so far"), "{}", world.doctor(&[]).0);
    std::fs::remove_file(world.bin.join("claude")).unwrap();
    let found = world.doctor(&[]).0;
    assert!(
        found.contains("-        Claude Code: connected; not on PATH, and no hook heard so far"),
        "{found}"
    );
    world.sealed.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon");
    assert!(world.doctor(&[]).0.contains("connected; last hook just now"), "{}", world.doctor(&[]).0);
}

/// Every tier of a CLI's settings can switch hooks off.
#[test]
fn hooks_that_do_not_run_are_a_problem() {
    for (kind, file, text, key) in [
        ("claude", "shop/.claude/settings.local.json", r#"{"disableAllHooks": true}"#, "disableAllHooks"),
        ("claude", "shop/.claude/settings.json", r#"{"disableAllHooks": true}"#, "disableAllHooks"),
        (
            "gemini",
            "shop/.gemini/settings.json",
            r#"{"hooksConfig": {"enabled": false}}"#,
            "hooksConfig.enabled",
        ),
        (
            "gemini",
            "shop/.gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["consort"]}}"#,
            "hooksConfig.disabled",
        ),
        ("copilot", "home/.copilot/settings.json", r#"{"disableAllHooks": true}"#, "disableAllHooks"),
        ("codex", "shop/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
    ] {
        let world = World::new();
        world.sealed.git_init();
        program(&world.bin, kind, "echo 99.0.0");
        assert_eq!(world.sealed.run(&format!("init --agent {kind} --yes")).code, 0);
        let file = match file.strip_prefix("shop/") {
            Some(file) => world.sealed.project().join(file),
            None => world.sealed.path().join(file),
        };
        let before = world.doctor(&[]).0;
        assert!(!before.contains("runs no hooks"), "{before}");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let (after, code) = world.doctor(&[]);
        assert!(
            after.contains("runs no hooks: ") && after.contains(&format!("sets `{key}`")),
            "{kind}: {after}"
        );
        assert_eq!(code, 1);
    }
}

#[test]
fn hooks_of_codex_wait_for_a_review() {
    let world = World::new();
    program(&world.bin, "codex", "echo codex-cli 99.0.0");
    world.sealed.run("init --agent codex --yes");
    let (text, code) = world.doctor(&[]);
    assert!(text.contains("problem  Codex: 10 hooks not reviewed by you"), "{text}");
    assert_eq!(code, 1);
    // Trusts the hooks in the way that Codex notes a review.
    let dir = world.sealed.home().join(".codex");
    let hooks = dir.join("hooks.json");
    let events = [
        "session_start",
        "user_prompt_submit",
        "pre_tool_use",
        "post_tool_use",
        "permission_request",
        "stop",
        "subagent_start",
        "subagent_stop",
        "pre_compact",
        "session_end",
    ];
    let reviewed = events.map(|event| {
        format!("\n[hooks.state.\"{}:{event}:0:0\"]\ntrusted_hash = \"sha256:0\"\n", hooks.display())
    });
    let config = fs::read_to_string(dir.join("config.toml")).unwrap();
    fs::write(dir.join("config.toml"), config + &reviewed.concat()).unwrap();
    assert!(!world.doctor(&[]).0.contains("not reviewed"), "{}", world.doctor(&[]).0);
}

#[test]
fn several_programs_of_our_name_are_told() {
    let world = World::new();
    program(&world.bin, "claude", "echo 99.0.0");
    program(&world.bin, "consort", "exit 0");
    let more = world.sealed.path().join("more");
    program(&more, "consort", "exit 0");
    let path = format!("{}:{}:/usr/bin:/bin", world.bin.display(), more.display());
    let text = world.sealed.ran(world.sealed.consort(["doctor"]).env("PATH", path)).stdout;
    assert!(text.contains("PATH finds another one"), "{text}");
    assert!(text.contains("there is another one on PATH"), "{text}");
}

#[test]
fn what_can_be_fixed_is() {
    let world = World::new();
    program(&world.bin, "claude", "echo 99.0.0");
    world.sealed.run("init --agent claude --yes --no-allow");
    let settings = world.sealed.home().join(".claude/settings.json");
    let older = fs::read_to_string(&settings).unwrap().replace(CONSORT, "/old/consort");
    fs::write(&settings, older).unwrap();
    fs::set_permissions(world.sealed.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let (before, code) = world.doctor(&[]);
    assert!(code == 1 && before.contains("1 problem, "), "{before}");

    // Without a terminal, nobody can be asked.
    let (asked, code) = world.doctor(&["--fix"]);
    assert!(code == 1 && asked.contains("nothing was changed"), "{asked}");

    let (after, code) = world.doctor(&["--fix", "--yes"]);
    assert_eq!(code, 0, "{after}");
    assert!(after.contains("ok       Claude Code 99.0.0: connected"), "{after}");
    let text = fs::read_to_string(&settings).unwrap();
    assert!(!text.contains("/old/consort") && text.contains("Bash(consort send:*)"), "{text}");
    let mode = fs::metadata(world.sealed.data()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let findings: Value = serde_json::from_str(&world.doctor(&["--json"]).0).unwrap();
    assert!(findings["items"].as_array().unwrap().iter().all(|finding| finding["level"] != "problem"));
}
