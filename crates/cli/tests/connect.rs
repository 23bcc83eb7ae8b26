//! Tests of `init`, `uninit` and `doctor`: changing other people's files, and restoring them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;

/// Settings as people leave them: odd order, odd spacing, a comment.
const THEIRS: &str = r#"{
    // my settings
    "model": "opus",
    "hooks": {
        "Stop": [ { "hooks": [ {"type": "command", "command": "say done"} ] } ]
    },
    "permissions":   { "allow": ["Bash(ls)"] }
}
"#;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    fs::create_dir_all(world.home().join(".claude")).unwrap();
    world
}

fn settings(world: &Sealed) -> std::path::PathBuf {
    world.home().join(".claude/settings.json")
}

#[test]
fn our_lines_go_in_and_out_and_nothing_else_moves() {
    let world = world();
    let path = settings(&world);
    fs::write(&path, THEIRS).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();

    let dry = world.run("init --agent claude --no-allow --dry-run");
    assert_eq!(dry.code, 0);
    let command =
        r#""command": "[ -x $CONSORT ] && exec $CONSORT hook claude SessionStart; [ \"$(consort hook --who"#;
    assert!(dry.stdout.contains(command), "{dry}");
    assert_eq!(fs::read_to_string(&path).unwrap(), THEIRS);

    assert_eq!(world.run("init --yes --no-allow --agent claude").code, 0);
    let connected = fs::read_to_string(&path).unwrap();
    // Our hooks follow theirs in the array that has both; the rest is untouched.
    let (before_stop, after_stop) = THEIRS.split_once("\"Stop\"").unwrap();
    assert!(connected.starts_with(before_stop), "{connected}");
    assert!(connected.ends_with(after_stop.split_once("},\n").unwrap().1), "{connected}");
    assert!(
        connected.contains(r#"{ "hooks": [ {"type": "command", "command": "say done"} ] }"#),
        "{connected}"
    );
    assert_eq!(connected.matches(" hook claude ").count(), 2 * 13);
    assert_eq!(connected.matches("say done").count(), 1);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);

    // A second `init` has nothing to do.
    assert!(
        world
            .run("init --yes --no-allow --agent claude")
            .stdout
            .starts_with("Claude Code is connected already")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), connected);

    assert_eq!(world.run("uninit").code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), THEIRS);
    assert_eq!(world.run("uninit").stdout, "Nothing is connected here.\n");
}

#[test]
fn mcp_and_primer_are_added_when_asked_for_and_go_with_the_rest() {
    let world = world();
    world.git_init();
    fs::create_dir_all(world.home().join(".gemini")).unwrap();
    let theirs = "{ \"numStartups\": 5 }";
    fs::write(world.home().join(".claude.json"), theirs).unwrap();
    fs::write(world.home().join(".gemini/settings.json"), "{}").unwrap();
    assert_eq!(world.run("init --yes --agent claude --agent gemini").code, 0);
    assert_eq!(fs::read_to_string(world.home().join(".claude.json")).unwrap(), theirs);

    let added = world.run("init --yes --agent claude --agent gemini --agent pi --mcp --primer");
    assert_eq!(added.code, 0, "{added}");
    assert!(added.stderr.contains("pi cannot be told of MCP servers"), "{added}");
    let read = |name: &str| fs::read_to_string(world.home().join(name)).unwrap();
    assert!(read(".claude.json").contains("\"consort\""), "{added}");
    assert!(read(".claude/skills/consort/SKILL.md").starts_with("---\nname: consort\n"));
    assert!(read(".gemini/settings.json").contains("mcpServers"));
    assert!(read(".gemini/GEMINI.md").contains("`consort reserve`"));
    assert!(world.run("doctor").stdout.contains("Claude Code: connected, with MCP"));

    // MCP and primer stay although this `init` does not name them, and are not added twice.
    let again = world.run("init --yes --agent claude --agent gemini");
    assert_eq!(again.stdout.matches("is connected already").count(), 2, "{again}");

    assert_eq!(world.run("uninit").code, 0);
    assert_eq!(read(".claude.json"), theirs);
    assert_eq!(read(".gemini/settings.json"), "{}");
    for gone in [".claude/skills", ".claude/settings.json", ".gemini/GEMINI.md", ".pi"] {
        assert!(!world.home().join(gone).exists(), "{gone}");
    }
    assert_eq!(world.run("uninit").stdout, "Nothing is connected here.\n");

    // In a project, our text in a file that several CLIs read is added once.
    fs::write(world.project().join("AGENTS.md"), "# Rules\n").unwrap();
    assert_eq!(world.run("init --yes --project --agent codex --agent pi --primer --mcp").code, 0);
    let rules = fs::read_to_string(world.project().join("AGENTS.md")).unwrap();
    assert_eq!(rules.matches("<!-- consort: end -->").count(), 1, "{rules}");
    assert!(fs::read_to_string(world.project().join(".codex/config.toml")).unwrap().contains("\"consort\""));
    assert_eq!(world.run("uninit --project").code, 0);
    assert_eq!(fs::read_to_string(world.project().join("AGENTS.md")).unwrap(), "# Rules\n");
    assert!(!world.project().join(".codex").exists());
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let world = world();
    fs::write(settings(&world), THEIRS).unwrap();
    world.run("init --yes --agent claude");
    let changed = fs::read_to_string(settings(&world)).unwrap().replace("opus", "haiku");
    fs::write(settings(&world), &changed).unwrap();
    assert_eq!(world.run("uninit").code, 0);
    let left = fs::read_to_string(settings(&world)).unwrap();
    assert!(!left.contains("hook claude"), "{left}");
    assert!(left.contains("haiku") && left.contains("// my settings") && left.contains("say done"), "{left}");
    assert_eq!(left.matches("\"Stop\"").count(), 1);
    assert!(!left.contains("SessionStart"), "{left}");
}

#[test]
fn a_file_we_made_goes_and_a_link_stays_a_link() {
    let world = world();
    world.run("init --yes --agent claude");
    assert!(settings(&world).exists());
    world.run("uninit");
    assert!(!settings(&world).exists());

    let dotfiles = world.home().join("dotfiles.json");
    fs::write(&dotfiles, "{}").unwrap();
    std::os::unix::fs::symlink(&dotfiles, settings(&world)).unwrap();
    world.run("init --yes --agent claude");
    assert!(fs::symlink_metadata(settings(&world)).unwrap().is_symlink());
    assert!(fs::read_to_string(&dotfiles).unwrap().contains("hook claude"));
    world.run("uninit");
    assert_eq!(fs::read_to_string(&dotfiles).unwrap(), "{}");
}

#[test]
fn a_malformed_file_is_named_and_left_alone() {
    let world = world();
    for (text, expected) in [
        (
            "{\n  \"model\": \"opus\"\n  \"x\": 1\n}",
            expect![[r#"
                [stderr] Error: $WORLD/home/.claude/settings.json cannot be changed
                [stderr] Caused by: line 2, column 18: Expected comma
                [stderr] Hint: fix the file, then try again; it was left as it is
                [exit 1]
            "#]],
        ),
        (
            "[1]",
            expect![[r#"
                [stderr] Error: $WORLD/home/.claude/settings.json cannot be changed
                [stderr] Caused by: the file's content is not an object
                [stderr] Hint: fix the file, then try again; it was left as it is
                [exit 1]
            "#]],
        ),
        (
            r#"{"hooks": []}"#,
            expect![[r#"
                [stderr] Error: $WORLD/home/.claude/settings.json cannot be changed
                [stderr] Caused by: `hooks` is not an object
                [stderr] Hint: fix the file, then try again; it was left as it is
                [exit 1]
            "#]],
        ),
        (
            r#"{"hooks": {"Stop": "x"}}"#,
            expect![[r#"
                [stderr] Error: $WORLD/home/.claude/settings.json cannot be changed
                [stderr] Caused by: `hooks.Stop` is not an array
                [stderr] Hint: fix the file, then try again; it was left as it is
                [exit 1]
            "#]],
        ),
    ] {
        fs::write(settings(&world), text).unwrap();
        expected.assert_eq(&world.run("init --yes --agent claude").to_string());
        assert_eq!(fs::read_to_string(settings(&world)).unwrap(), text);
    }
}

#[test]
fn empty_settings_are_settings() {
    let world = world();
    fs::write(settings(&world), "\n").unwrap();
    assert_eq!(world.run("init --yes --agent claude").code, 0);
    assert!(fs::read_to_string(settings(&world)).unwrap().contains("hook claude"));
    world.run("uninit");
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), "\n");
}

#[test]
fn one_level_at_a_time() {
    let world = world();
    assert_eq!(world.run("init --yes --agent claude --project").code, 0);
    assert!(world.project().join(".claude/settings.json").exists());
    expect![[r#"
        [stderr] Error: Claude Code is connected with `--project` already; both would run every hook twice
        [stderr] Hint: keep that, or `consort uninit --project` first
        [exit 1]
    "#]]
    .assert_eq(&world.run("init --yes --agent claude").to_string());
    assert_eq!(world.run("uninit --project").code, 0);
    assert_eq!(world.run("init --yes --agent claude --user").code, 0);
}

#[test]
fn a_hook_whose_program_is_gone_is_a_success() {
    let world = world();
    world.run("init --yes --agent claude");
    let text = fs::read_to_string(settings(&world)).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    for (event, entries) in hooks {
        let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
        let gone = command.replace(env!("CARGO_BIN_EXE_consort"), "/nowhere/consort");
        for line in
            [gone.as_str(), "command -v consort-gone >/dev/null 2>&1 || exit 0; exec consort-gone hook"]
        {
            let ran = world.ran(world.command("sh").args(["-c", line]));
            assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", 0), "{event}");
        }
    }
}

#[test]
fn an_older_connection_is_renewed() {
    let world = world();
    world.run("init --yes --agent claude");
    let older =
        fs::read_to_string(settings(&world)).unwrap().replace(env!("CARGO_BIN_EXE_consort"), "/old/consort");
    fs::write(settings(&world), older).unwrap();
    let doctor = world.run("doctor");
    assert!(doctor.stdout.contains("fix: consort init\n"), "{doctor}");
    assert_eq!(doctor.code, 1);
    world.run("init --yes --agent claude");
    assert!(!fs::read_to_string(settings(&world)).unwrap().contains("/old/"));
    assert_eq!(world.run("doctor").code, 0);
    world.run("uninit");
    let left: Value = serde_json::from_str(&fs::read_to_string(settings(&world)).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({}));
}

#[test]
fn doctor_says_what_to_do() {
    let world = world();
    let hide_version = |text: String| text.replace(env!("CARGO_PKG_VERSION"), "$VERSION");
    expect![[r#"
        warning  program: consort $VERSION is not on PATH, so agents cannot call `consort`
                 fix: export PATH="$BIN:$PATH"
        ok       store: $WORLD/home/.local/share/consort/consort.db, schema 8, 0 entries
        problem  agent CLIs: none is installed: no Claude Code, Codex, Gemini CLI, OpenCode, pi, Copilot CLI
                 fix: install one, then `consort init`
        ok       settings: every key is known
        ok       hooks: none has failed
        1 problem, 1 warning.
        [exit 1]
    "#]]
    .assert_eq(&hide_version(world.run("doctor").to_string()));
    let findings: Value = serde_json::from_str(&world.run("doctor --json").stdout).unwrap();
    assert!(findings["items"].as_array().unwrap().iter().all(|finding| finding["level"].is_string()));

    fs::write(settings(&world), "{").unwrap();
    fs::write(world.data().join("hook.log"), "1 claude Stop: it failed\n").unwrap();
    fs::create_dir_all(world.home().join(".config/consort")).unwrap();
    fs::write(world.home().join(".config/consort/config.toml"), "[contxt]\nmode = 1\n").unwrap();
    fs::set_permissions(world.data(), fs::Permissions::from_mode(0o755)).unwrap();
    expect![[r#"
        warning  program: consort $VERSION is not on PATH, so agents cannot call `consort`
                 fix: export PATH="$BIN:$PATH"
        ok       store: $WORLD/home/.local/share/consort/consort.db, schema 8, 0 entries
        warning  permissions: $WORLD/home/.local/share/consort can be read by others
                 fix: chmod 700 $WORLD/home/.local/share/consort
        problem  Claude Code: its settings cannot be understood: $WORLD/home/.claude/settings.json, line 1, column 1: Unterminated object
                 fix: ${EDITOR:-vi} $WORLD/home/.claude/settings.json
        -        Codex: not installed
        -        Gemini CLI: not installed
        -        OpenCode: not installed
        -        pi: not installed
        -        Copilot CLI: not installed
        warning  settings: $WORLD/home/.config/consort/config.toml: unknown key `contxt.mode` (did you mean `context.mode`?)
                 fix: ${EDITOR:-vi} $WORLD/home/.config/consort/config.toml
        warning  hooks: 1 failure, the last at 1970-01-01 00:00:00: claude Stop: it failed
                 fix: less $WORLD/home/.local/share/consort/hook.log && rm $WORLD/home/.local/share/consort/hook.log
        1 problem, 4 warnings.
        [exit 1]
    "#]].assert_eq(&hide_version(world.run("doctor").to_string()));
}

#[test]
fn up_without_a_terminal_says_what_it_found() {
    let world = world();
    expect![[r#"
        Not installed: Claude Code, Codex, Gemini CLI, OpenCode, pi, Copilot CLI
        No agents are here.
        Next: install an agent CLI (claude, codex, gemini, …); then `consort init` connects it
        [exit 0]
    "#]]
    .assert_eq(&world.run("up").to_string());
    let bin = world.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("claude"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    expect![[r#"
        Not installed: Codex, Gemini CLI, OpenCode, pi, Copilot CLI
        Claude Code ($WORLD/bin/claude): not connected: `consort init` connects it
        No agents are here.
        [exit 0]
    "#]]
    .assert_eq(&world.ran(world.consort(["up"]).env("PATH", &path)).to_string());
    assert!(!settings(&world).exists());
    world.ran(world.consort(["up", "--yes"]).env("PATH", &path));
    assert!(settings(&world).exists());
}

#[test]
fn in_ones_home_the_two_levels_are_one() {
    let world = world();
    world.run("init --yes --agent claude");
    let at_home = |line: &str| world.ran(world.consort(line.split(' ')).current_dir(world.home()));
    let doctor = at_home("doctor");
    assert!(doctor.stdout.contains("Claude Code: connected"), "{doctor}");
    assert!(at_home("init --yes --agent claude").stdout.contains("is connected already"));
}

#[test]
fn hooks_can_be_removed_when_the_store_is_broken() {
    let world = world();
    world.run("init --yes --agent claude");
    fs::create_dir_all(world.data()).unwrap();
    fs::write(world.data().join("consort.db"), "garbage".repeat(1_000)).unwrap();
    let _ = fs::remove_file(world.data().join("consort.db-wal"));
    assert_eq!(world.run("uninit").code, 0);
    assert!(!settings(&world).exists());
    let doctor = world.run("doctor");
    assert!(doctor.stdout.contains("problem  store: ") && doctor.code == 1, "{doctor}");
    assert_eq!(world.run("who").code, 6);
}

#[test]
fn a_lost_backup_never_costs_the_settings() {
    let world = world();
    fs::write(settings(&world), THEIRS).unwrap();
    world.run("init --yes --agent claude");
    for record in fs::read_dir(world.data().join("backups")).unwrap().flatten() {
        fs::remove_file(record.path().join("original")).unwrap();
    }
    assert_eq!(world.run("uninit").code, 0);
    let left = fs::read_to_string(settings(&world)).unwrap();
    assert!(left.contains("say done") && !left.contains("hook claude"), "{left}");
}

#[test]
fn a_dangling_link_is_followed() {
    let world = world();
    let target = world.home().join("elsewhere.json");
    std::os::unix::fs::symlink(&target, settings(&world)).unwrap();
    world.run("init --yes --agent claude");
    assert!(fs::symlink_metadata(settings(&world)).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("hook claude"));
}

#[test]
fn claude_may_keep_its_things_elsewhere() {
    let world = world();
    let elsewhere = world.path().join("claude-config");
    let run = |line: &str| world.ran(world.consort(line.split(' ')).env("CLAUDE_CONFIG_DIR", &elsewhere));
    assert_eq!(run("init --yes --agent claude").code, 0);
    assert!(elsewhere.join("settings.json").exists() && !settings(&world).exists());
    assert_eq!(run("uninit").code, 0);
    assert!(!elsewhere.join("settings.json").exists());
}

#[test]
fn what_stands_in_the_way_is_found_before_it_is_tried() {
    let world = world();
    world.run("init --yes --agent claude");
    let connected = fs::read_to_string(settings(&world)).unwrap();
    fs::write(settings(&world), connected.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    let doctor = world.run("doctor");
    assert!(doctor.stdout.contains("switch all hooks off") && doctor.code == 1, "{doctor}");
    for text in [&b"{\"hooks\":{\"Stop\":null}}"[..], b"\xff\xfe{}"] {
        fs::write(settings(&world), text).unwrap();
        let doctor = world.run("doctor");
        assert!(doctor.stdout.contains("cannot be understood") && doctor.code == 1, "{doctor}");
        assert_eq!(world.run("init --yes --agent claude").code, 1);
    }
}

#[test]
fn a_shared_file_has_no_private_path() {
    let world = world();
    let ran = world.run("init --yes --agent claude --project");
    let text = fs::read_to_string(world.project().join(".claude/settings.json")).unwrap();
    assert!(!text.contains(env!("CARGO_BIN_EXE_consort")), "{text}");
    assert!(ran.stderr.contains("`consort uninit --project` takes it back"), "{ran}");
    world.run("uninit --project");
    assert!(!world.project().join(".claude").exists());
    assert!(world.home().join(".claude").exists());
}

#[test]
fn hooks_of_the_same_shape_that_are_not_ours_stay() {
    let world = world();
    let theirs = "command -v other >/dev/null 2>&1 || exit 0; exec other hook claude Stop";
    let text =
        serde_json::json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": theirs }] }] } });
    fs::write(settings(&world), text.to_string()).unwrap();
    world.run("init --yes --agent claude");
    assert!(fs::read_to_string(settings(&world)).unwrap().contains(theirs));
    // The file was changed meanwhile, so `uninit` removes our lines one by one.
    let changed = fs::read_to_string(settings(&world)).unwrap() + "\n";
    fs::write(settings(&world), changed).unwrap();
    world.run("uninit");
    let left = fs::read_to_string(settings(&world)).unwrap();
    assert!(left.contains(theirs) && left.matches("exec ").count() == 1, "{left}");
}

#[test]
fn a_home_that_is_a_link_is_given_back_too() {
    let world = world();
    let link = world.path().join("link");
    std::os::unix::fs::symlink(world.home(), &link).unwrap();
    let run = |line: &str| world.ran(world.consort(line.split(' ')).env("HOME", &link));
    assert_eq!(run("init --yes --agent claude").code, 0);
    assert_eq!(run("uninit").code, 0);
    assert!(!settings(&world).exists());
}

#[test]
fn what_somebody_added_to_a_file_of_ours_is_kept() {
    let world = world();
    assert_eq!(world.run("init --yes --agent pi").code, 0);
    let file = world.home().join(".pi/agent/extensions/consort.ts");
    let edited = fs::read_to_string(&file).unwrap() + "// my own line\n";
    fs::write(&file, &edited).unwrap();
    assert_eq!(world.run("uninit").code, 0);
    assert!(!file.exists());
    let backups = fs::read_dir(world.data().join("backups")).unwrap().flatten();
    let kept: Vec<String> = backups.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    assert_eq!(kept, [edited]);
    // A file that was never ours is left alone, and `init` fails.
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "// somebody else's\n").unwrap();
    let refused = world.run("init --yes --agent pi");
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "// somebody else's\n");
}
