//! Tests of `init` and `uninit` with files that others write too: whatever the files look
//! like and whoever changed them, no content of others is lost or stops us.

use std::fs;
use std::path::PathBuf;

use consort_testkit::Sealed;

fn world() -> Sealed {
    Sealed::new(env!("CARGO_BIN_EXE_consort"))
}

/// Writes a file in the person's home, and makes its directories.
fn write(world: &Sealed, name: &str, text: &str) -> PathBuf {
    let path = world.home().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn read(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_file_that_was_never_connected_stays_as_it_is() {
    let world = world();
    let theirs = "\u{feff}model = \"m\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n";
    let config = write(&world, ".codex/config.toml", theirs);
    let ran = world.run("uninit");
    assert_eq!((ran.stdout.as_str(), ran.code), ("Nothing is connected here.\n", 0), "{ran}");
    assert_eq!(world.run("init --yes --agent codex").code, 0);
    assert_eq!(world.run("uninit").code, 0);
    assert_eq!(read(&config), theirs);
}

#[test]
fn what_git_runs_stays_and_is_told() {
    let world = world();
    world.git(&["init", "--quiet"]);
    for what in ["--git-hook", "--git-merge"] {
        assert_eq!(world.run(&format!("init --yes {what}")).code, 0);
        let (nothing, connected) = (world.run("uninit"), world.run("init --yes --agent codex"));
        assert_eq!((nothing.code, connected.code), (0, 0), "{nothing} {connected}");
        for ran in [nothing, world.run("uninit")] {
            assert!(ran.stderr.contains(&format!("`consort uninit {what}` ends that")), "{ran}");
        }
        assert_eq!(world.run(&format!("uninit {what}")).code, 0);
    }
    assert_eq!(world.run("uninit").stderr, "");
}

#[test]
fn comments_that_came_later_stay() {
    let world = world();
    let config = write(&world, ".codex/config.toml", "a = 1\n");
    assert_eq!(world.run("init --yes --agent codex --mcp").code, 0);
    let changed = read(&config).replace("[mcp_servers.consort]", "# mine\n[mcp_servers.consort]");
    fs::write(&config, &changed).unwrap();
    assert_eq!(world.run("init --yes --agent codex --mcp").code, 0);
    assert_eq!(read(&config), changed);
    assert_eq!(world.run("uninit").code, 0);
    assert_eq!(read(&config), "a = 1\n\n# mine\n");
}

#[test]
fn what_was_empty_before_is_empty_again() {
    let world = world();
    let config = write(&world, ".config/opencode/opencode.json", "{\n  \"mcp\": {}\n}\n");
    let made = write(&world, ".gemini/settings.json", "{\n  \"theme\": 1\n}\n");
    assert_eq!(world.run("init --yes --agent opencode --agent gemini --mcp").code, 0);
    for file in [&config, &made] {
        fs::write(file, read(file).replacen('{', "{\n  \"added\": true,", 1)).unwrap();
    }
    assert_eq!(world.run("uninit").code, 0);
    let left: serde_json::Value = serde_json::from_str(&read(&config)).unwrap();
    assert_eq!(left, serde_json::json!({ "added": true, "mcp": {} }));
    let left: serde_json::Value = serde_json::from_str(&read(&made)).unwrap();
    assert_eq!(left, serde_json::json!({ "added": true, "theme": 1 }));
}

#[test]
fn what_is_not_asked_for_stands_in_nobodys_way() {
    let world = world();
    let skill = write(&world, ".claude/skills/consort/SKILL.md", "# My own\n");
    let config = write(&world, ".config/opencode/opencode.json", "{ nothing\n");
    let marked = write(&world, ".copilot/mcp-config.json", "\u{feff}{\"theme\": 1}\n");
    let ran = world.run("init --yes --agent claude --agent opencode --agent copilot");
    assert_eq!(ran.code, 0, "{ran}");
    for name in [
        "SKILL.md cannot be changed: this file is not one of ours",
        "opencode.json cannot be changed: line 1",
    ] {
        assert_eq!(ran.stderr.matches(name).count(), 1, "{ran}");
    }
    // If the part that cannot be added is asked for by name, the command fails.
    for line in ["init --yes --agent claude --primer", "init --yes --agent opencode --mcp"] {
        let ran = world.run(line);
        assert!(ran.code == 1 && ran.stderr.contains("it was left as it is"), "{ran}");
    }
    assert_eq!(world.run("init --yes --agent copilot --mcp").code, 0);
    assert!(read(&marked).starts_with("\u{feff}{") && read(&marked).contains("consort"));

    let ran = world.run("uninit");
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(ran.stdout.matches("Disconnected").count(), 4, "{ran}");
    assert_eq!(read(&skill), "# My own\n");
    assert_eq!(read(&config), "{ nothing\n");
    assert_eq!(read(&marked), "\u{feff}{\"theme\": 1}\n");
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_the_others() {
    let world = world();
    assert_eq!(world.run("init --yes --agent codex --mcp").code, 0);
    let (hooks, config) = (world.home().join(".codex/hooks.json"), world.home().join(".codex/config.toml"));
    let broken = read(&config) + "a = \n";
    fs::write(&config, &broken).unwrap();
    let ran = world.run("uninit");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("config.toml cannot be changed"), "{ran}");
    assert!(!ran.stderr.contains("nothing was changed"), "{ran}");
    assert!(!hooks.exists() && read(&config) == broken);
}

#[test]
fn two_files_of_ours_that_somebody_added_to_are_both_kept() {
    let world = world();
    assert_eq!(world.run("init --yes --agent pi --agent opencode").code, 0);
    for file in [".pi/agent/extensions/consort.ts", ".config/opencode/plugin/consort.js"] {
        let file = world.home().join(file);
        fs::write(&file, read(&file) + "// my own line\n").unwrap();
    }
    assert_eq!(world.run("uninit").code, 0);
    let backups = fs::read_dir(world.data().join("backups")).unwrap().flatten();
    let mut kept: Vec<String> = backups.map(|file| file.file_name().into_string().unwrap()).collect();
    kept.sort();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept[0].starts_with("consort.js-") && kept[1].starts_with("consort.ts-"), "{kept:?}");
    assert!(kept.iter().all(|name| name.ends_with(".removed")), "{kept:?}");
}

#[test]
fn a_text_that_others_read_too_goes_with_the_last_of_them() {
    let world = world();
    world.git_init();
    let rules = world.project().join("AGENTS.md");
    assert_eq!(world.run("init --yes --project --agent codex --agent pi --primer").code, 0);
    let ran = world.run("uninit --project --agent codex");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(read(&rules).contains("consort: end"), "{ran}");
    assert!(!world.project().join(".codex").exists());
    // The dry run shows that the text would be removed; it is, with the last CLI that reads it.
    assert!(world.run("uninit --project --dry-run").stdout.contains("AGENTS.md"));
    assert_eq!(world.run("uninit --project --agent pi").code, 0);
    assert!(!rules.exists());

    assert_eq!(world.run("init --yes --project --agent codex --agent pi --primer").code, 0);
    let look = world.run("uninit --project --dry-run");
    assert!(look.stdout.contains("AGENTS.md"), "{look}");
    assert_eq!(world.run("uninit --project").code, 0);
    assert!(!rules.exists());
}

#[test]
fn directories_that_we_made_go_however_often_we_were_there() {
    let world = world();
    for line in
        ["init --yes --agent gemini", "init --yes --agent gemini --mcp", "init --yes --agent gemini --primer"]
    {
        assert_eq!(world.run(line).code, 0);
    }
    assert_eq!(world.run("uninit").code, 0);
    assert!(!world.home().join(".gemini").exists());
}

#[test]
fn claude_is_told_of_servers_where_it_looks() {
    let world = world();
    let dir = world.home().join(".claude");
    let run = |line: &str| world.ran(world.consort(line.split(' ')).env("CLAUDE_CONFIG_DIR", &dir));
    assert_eq!(run("init --yes --agent claude --mcp").code, 0);
    assert!(dir.join(".claude.json").exists() && !world.home().join(".claude.json").exists());
    assert_eq!(run("uninit").code, 0);
    assert!(!dir.exists());
}
