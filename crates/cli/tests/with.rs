//! Tests of the arguments with which `consort with` starts a program. The programs are small fakes
//! that print how they were called; the real ones are in `agents.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use consort_testkit::Ran;
use consort_testkit::Sealed;
use serde_json::Value;

/// Makes a world with a program of this name, which runs `script` and prints its arguments.
fn world(name: &str, script: &str) -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let bin = world.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\n{script}\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done\n");
    fs::write(bin.join(name), script).unwrap();
    fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    world
}

fn command(world: &Sealed, arguments: &[&str]) -> Command {
    let mut command = world.consort(arguments.iter().copied());
    command.env("PATH", format!("{}:/usr/bin:/bin", world.path().join("bin").display()));
    command
}

fn run(world: &Sealed, arguments: &[&str]) -> Ran {
    world.ran(&mut command(world, arguments))
}

fn words(ran: &Ran) -> Vec<&str> {
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout.lines().collect()
}

#[test]
fn all_that_follows_the_agent_is_its_own() {
    let world = world("claude", "");
    for own in
        [&["--help"][..], &["--version"], &["--set", "a=b"], &["-V", "-h"], &["--", "--x"], &["with", "pi"]]
    {
        let ran = run(&world, &[&["with", "claude"], own].concat());
        assert!(words(&ran).ends_with(own), "{own:?}: {ran}");
    }
    let ran = run(&world, &["--set", "context.mode=none", "with", "claude", "--set", "c=d"]);
    assert!(words(&ran).ends_with(&["--set", "c=d"]), "{ran}");
    // Options before the agent's name are ours.
    assert!(run(&world, &["with", "--help"]).stdout.contains("Usage: consort with"));
    assert_eq!(run(&world, &["with", "nobody", "--help"]).code, 2);
}

#[test]
fn commands_of_pi_get_no_extension() {
    let world = world("pi", "");
    for own in
        [&["list"][..], &["install", "x"], &["remove", "x"], &["update"], &["config"], &["auth", "check"]]
    {
        let ran = run(&world, &[&["with", "pi"], own].concat());
        assert_eq!(words(&ran), own, "{ran}");
    }
    assert_eq!(words(&run(&world, &["with", "pi", "-p", "list"]))[0], "--extension");
}

#[test]
fn settings_of_the_persons_own_become_part_of_ours() {
    let world = world("claude", "");
    let theirs = "\u{feff}{\n  // mine\n  \"model\": \"opus\"\n}\n";
    fs::write(world.project().join("mine.json"), theirs).unwrap();
    for own in [
        &["--settings", "mine.json", "-p", "x"][..],
        &["-p", "x", "--settings={\"model\": \"opus\"}"],
        &["--settings", "{}", "--settings", "mine.json", "-p", "x"],
    ] {
        let ran = run(&world, &[&["with", "claude"], own].concat());
        assert_eq!(ran.stdout.matches("--settings").count(), 1, "{ran}");
        assert!(ran.stdout.contains("hook claude SessionStart"), "{ran}");
        // The settings are plain JSON, even if the file had comments or a BOM.
        let settings: Value = serde_json::from_str(words(&ran)[1]).unwrap();
        assert_eq!(settings["model"], "opus", "{ran}");
        assert!(words(&ran).ends_with(&["-p", "x"]), "{ran}");
    }
    // Settings that Claude Code would refuse are passed on; if we cannot add to them, we fail.
    let ran = run(&world, &["with", "claude", "--settings", "none.json"]);
    assert_eq!(words(&ran)[..2], ["--settings", "none.json"], "{ran}");
    let ran = run(&world, &["with", "claude", "--settings", "{\"hooks\": 1}"]);
    assert!(ran.code == 1 && ran.stderr.contains("`hooks` is not an object"), "{ran}");
    // After `--` the words are a prompt.
    let ran = run(&world, &["with", "claude", "--", "--settings", "mine.json"]);
    assert!(words(&ran).ends_with(&["--", "--settings", "mine.json"]), "{ran}");
}

#[test]
fn a_connection_to_a_program_that_is_gone_is_none() {
    let world = world("claude", "");
    assert_eq!(run(&world, &["init", "--yes", "--agent", "claude", "--mcp"]).code, 0);
    let is_given = |ran: &Ran| [ran.stdout.contains("--settings"), ran.stdout.contains("--mcp-config")];
    assert_eq!(is_given(&run(&world, &["with", "claude"])), [false, false]);
    let (gone, there) = (world.path().join("old/consort"), env!("CARGO_BIN_EXE_consort"));
    for file in [".claude/settings.json", ".claude.json"] {
        let file = world.home().join(file);
        let text = fs::read_to_string(&file).unwrap().replace(there, &gone.display().to_string());
        fs::write(&file, text).unwrap();
    }
    assert_eq!(is_given(&run(&world, &["with", "claude"])), [true, true]);
    fs::create_dir(gone.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(there, &gone).unwrap();
    assert_eq!(is_given(&run(&world, &["with", "claude"])), [false, false]);
}

#[test]
fn configuration_of_the_persons_own_is_added_to() {
    let world = world("opencode", "printf '%s\\n' \"$OPENCODE_CONFIG_CONTENT\"");
    let with = |content: &str| {
        world.ran(command(&world, &["with", "opencode"]).env("OPENCODE_CONFIG_CONTENT", content))
    };
    let ran = with("{\n  // mine\n  \"plugin\": [\"theirs\"],\n  \"mcp\": {\"other\": {}}\n}");
    for part in ["// mine", "\"theirs\"", "opencode.js\"", "\"other\"", "\"consort\""] {
        assert!(ran.code == 0 && ran.stdout.contains(part), "{part}: {ran}");
    }
    // Inside of such a run our parts are not added twice.
    let again = with(
        &ran.stdout
            .replace("$CONSORT", env!("CARGO_BIN_EXE_consort"))
            .replace("$WORLD", &fs::canonicalize(world.path()).unwrap().display().to_string()),
    );
    assert_eq!(again.stdout.matches("opencode.js").count(), 1, "{again}");
    for content in ["[]", "{\"mcp\": \"x\"}", "{\"plugin\": {}}", "{", "1"] {
        let ran = with(content);
        assert!(ran.code == 1 && ran.stderr.contains("cannot be added to"), "{content}: {ran}");
    }
}

/// Returns the one home that we keep for Gemini.
fn home(world: &Sealed) -> PathBuf {
    let homes: Vec<PathBuf> =
        fs::read_dir(world.data().join("with")).unwrap().map(|home| home.unwrap().path()).collect();
    assert_eq!(homes.len(), 1, "{homes:?}");
    homes[0].join(".gemini")
}

/// A script that saves as Gemini does: by a new file in the place of the old one, and with directories.
const SAVES: &str = r#"
cd "$GEMINI_CLI_HOME/.gemini"
echo changed > new && mv new trusted.json
mkdir -p tmp/deep && echo saved > tmp/deep/log && echo mine > settings.json.orig
[ -e settings.json ] && echo forgotten > new && mv new settings.json
"#;

#[test]
fn what_a_run_saves_is_brought_back_by_the_next() {
    let world = world("gemini", SAVES);
    let dir = world.home().join(".gemini");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("trusted.json"), "before\n").unwrap();
    fs::write(dir.join("settings.json"), "{\"theme\": 1}\n").unwrap();
    fs::write(dir.join("other.json"), "other\n").unwrap();
    assert_eq!(run(&world, &["with", "gemini"]).code, 0);
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
    assert_eq!(read("trusted.json"), "before\n");

    fs::write(world.path().join("bin/gemini"), "#!/bin/sh\ncat \"$GEMINI_CLI_HOME/.gemini/trusted.json\"\n")
        .unwrap();
    let ran = run(&world, &["with", "gemini"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("changed\n", 0), "{ran}");
    assert_eq!(read("trusted.json"), "changed\n");
    assert_eq!(read("tmp/deep/log"), "saved\n");
    assert_eq!(read("settings.json.orig"), "mine\n");
    assert_eq!(read("other.json"), "other\n");
    assert_eq!(read("settings.json"), "{\"theme\": 1}\n");
    let home = home(&world);
    for name in ["trusted.json", "tmp", "other.json"] {
        assert_eq!(fs::read_link(home.join(name)).unwrap(), dir.join(name), "{name}");
    }

    // A newer file in the person's own directory is not overwritten.
    fs::remove_file(home.join("trusted.json")).unwrap();
    fs::write(home.join("trusted.json"), "older\n").unwrap();
    fs::File::open(home.join("trusted.json")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(run(&world, &["with", "gemini"]).stdout, "changed\n");
    assert_eq!(read("trusted.json"), "changed\n");
}

#[test]
fn what_is_saved_goes_to_whom_it_belongs() {
    let world = world("gemini", SAVES);
    let other = world.path().join("other");
    fs::create_dir_all(other.join(".gemini")).unwrap();
    let with_other = || world.ran(command(&world, &["with", "gemini"]).env("GEMINI_CLI_HOME", &other));
    assert_eq!(with_other().code, 0);
    assert_eq!(run(&world, &["with", "gemini"]).code, 0);
    assert!(!world.home().join(".gemini/trusted.json").exists());
    assert_eq!(with_other().code, 0);
    assert_eq!(fs::read_to_string(other.join(".gemini/trusted.json")).unwrap(), "changed\n");
}

#[test]
fn a_run_inside_a_run_has_the_same_home() {
    let consort = env!("CARGO_BIN_EXE_consort");
    let script = format!(
        "[ -n \"$INNER\" ] || INNER=1 {consort} with gemini inner\ncat \"$GEMINI_CLI_HOME/.gemini/trusted.json\""
    );
    let world = world("gemini", &script);
    let dir = world.home().join(".gemini");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("trusted.json"), "mine\n").unwrap();
    let ran = run(&world, &["with", "gemini", "outer"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("mine\ninner\nmine\nouter\n", 0), "{ran}");
    let settings = fs::read_to_string(home(&world).join("settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings["hooks"]["SessionStart"].as_array().map(Vec::len), Some(1), "{settings}");
    assert_eq!(fs::read_to_string(dir.join("trusted.json")).unwrap(), "mine\n");
}
