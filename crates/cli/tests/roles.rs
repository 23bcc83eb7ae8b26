//! Tests of roles: their list, the files that define them, and typos in those files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world
}

/// Writes the project's file of roles.
fn in_project(world: &Sealed, text: &str) {
    fs::create_dir_all(world.project().join(".consort")).unwrap();
    fs::write(world.project().join(".consort/roles.toml"), text).unwrap();
}

/// Returns the path of the user's own file of roles.
fn own_file(world: &Sealed) -> PathBuf {
    let paths: Value = serde_json::from_str(&world.run("config path --json").stdout).unwrap();
    let file = paths["paths"]["user"].as_str().unwrap().replace("$WORLD", world.path().to_str().unwrap());
    PathBuf::from(file).with_file_name("roles.toml")
}

#[test]
fn the_shipped_roles_are_there_without_any_file() {
    let world = world();
    expect![[r#"
        ROLE           RUNS ON  MAY                  DOES
        dev            any      auto-edit            does a task, whatever it is; used where no role is named
        scout          any      read-only            explores and answers a question; changes nothing
        planner        any      read-only            turns a task into a plan that somebody else can follow
        builder        any      auto-edit            carries out a plan or a well described task, with its tests
        reviewer       any      read-only            reviews a change for mistakes; changes nothing
        plan-reviewer  any      read-only            looks for what is missing or wrong in a plan; changes nothing
        documenter     any      auto-edit            writes documentation that is true of the code
        red-team       any      auto-edit, worktree  tries to break a change or a program, in a worktree of its own
        [exit 0]
    "#]].assert_eq(&world.run("roles list").to_string());
    expect![[r#"
        scout (read-only): explores and answers a question; changes nothing
          tools         read, grep, find, ls # shipped
          read_only     true               # shipped
          tier          any                # shipped
          reasoning     low                # shipped
          max_turns     25                 # shipped
          timeout_s     600                # shipped
          tags          explore            # shipped
          system_prompt # shipped
            You explore a code base to answer one question. You change nothing and run nothing that changes anything. Search broadly first, then read only what matters. Stop as soon as you can answer.
            Answer in at most thirty lines: the answer first, then the evidence as `path:line` with a few words each, then what you did not look at. Say plainly what you have not found; do not guess.
        [exit 0]
    "#]].assert_eq(&world.run("roles show scout").to_string());
    expect![[r#"
        Sound: 8 roles, all of them shipped.
        [exit 0]
    "#]]
    .assert_eq(&world.run("roles validate").to_string());
    expect![[r#"
        [stderr] Error: there is no role scuot
        [stderr] Hint: did you mean `scout`?
        [exit 1]
    "#]]
    .assert_eq(&world.run("roles show scuot").to_string());
    assert!(!own_file(&world).exists(), "looking makes no file");
}

#[test]
fn a_value_is_set_in_the_users_file() {
    let world = world();
    let file = own_file(&world);
    expect![[r#"
        reviewer.model = opus in $WORLD/home/.config/consort/roles.toml
        [exit 0]
    "#]]
    .assert_eq(&world.run("roles set reviewer model opus").to_string());
    assert_eq!(fs::read_to_string(&file).unwrap(), "[reviewer]\nmodel = \"opus\"\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = "# mine\n[reviewer] # strict\nmodel = \"opus\" # for now\n";
    fs::write(&file, text).unwrap();
    assert_eq!(world.run("roles set reviewer model sonnet").code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text.replace("opus", "sonnet"));
    assert_eq!(world.run("roles set tester cli pi --new").code, 0);
    let list: Value = serde_json::from_str(&world.run("roles list --json").stdout).unwrap();
    let role =
        |name: &str| list["items"].as_array().unwrap().iter().find(|role| role["name"] == name).cloned();
    assert_eq!(role("tester").unwrap()["cli"], "pi");
    let reviewer = role("reviewer").unwrap();
    assert_eq!((&reviewer["model"], &reviewer["read_only"]), (&"sonnet".into(), &true.into()));
    let sources = reviewer["sources"].as_array().unwrap();
    let of = |key: &str| sources.iter().find(|one| one["key"] == key).unwrap()["source"].clone();
    assert_eq!(of("read_only"), "shipped");
    assert!(of("model")["user"].as_str().unwrap().ends_with("roles.toml"));
}

#[test]
fn a_typo_is_an_error_and_costs_nothing() {
    let world = world();
    let file = own_file(&world);
    for (words, code, said) in [
        (&["roles", "set", "reviewer", "modle", "opus"][..], 1, "did you mean `model`?"),
        (&["roles", "set", "reviwer", "model", "opus"], 1, "did you mean `reviewer`?"),
        (&["roles", "set", "reviewer", "tier", "best"], 1, "use one of: frontier, mid, any"),
        (&["roles", "set", "reviewer", "cli", "claud"], 1, "there is no CLI claud"),
        (&["roles", "set", "a b", "cli", "claude", "--new"], 1, "is no name of a role"),
        (&["roles", "set", "reviewer", "model", "--", "--yolo"], 1, "is no value of `model`"),
    ] {
        let ran = world.run_as(None, words);
        assert_eq!(ran.code, code, "{words:?}: {ran}");
        assert!(ran.stderr.contains(said), "{words:?}: {ran}");
        assert!(!file.exists(), "{words:?}");
    }
    let text = "[reviewer]\nmodel = \"opus\"\nmax_turn = 5 # a typo\n";
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    expect![[r#"
        [stderr] Error: $WORLD/home/.config/consort/roles.toml, line 3, column 1: a role has no key max_turn
        [stderr] Hint: fix the file, then try again; nothing was changed
        [exit 1]
    "#]]
    .assert_eq(&world.run("roles set reviewer model haiku").to_string());
    expect![[r#"
        [stderr] Error: $WORLD/home/.config/consort/roles.toml, line 3, column 1: a role has no key max_turn
        [stderr] Hint: did you mean `max_turns`?
        [exit 1]
    "#]]
    .assert_eq(&world.run("roles list").to_string());
    expect![[r#"
        $WORLD/home/.config/consort/roles.toml, line 3, column 1: a role has no key max_turn (did you mean `max_turns`?)
        [exit 1]
    "#]].assert_eq(&world.run("roles validate").to_string());
    let json: Value = serde_json::from_str(&world.run("roles validate --json").stdout).unwrap();
    assert_eq!((&json["items"][0]["line"], &json["items"][0]["column"]), (&3.into(), &1.into()));
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "nothing of it was written anew");
    fs::write(&file, "[reviewer\n").unwrap();
    let ran = world.run("roles set reviewer model haiku");
    assert!(ran.code == 1 && ran.stderr.contains("line 1, column "), "{ran}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "[reviewer\n");
}

#[test]
fn only_the_person_sets_and_what_loosens_takes_a_word() {
    let world = world().with_falcon_and_raven();
    let refused = world.run_as(Some("s1"), &["roles", "set", "dev", "model", "opus"]);
    assert!(refused.code == 1 && !own_file(&world).exists(), "{refused}");
    let set = |words: &[&str], types: bool| {
        let mut command = world.command(world.program());
        consort_testkit::attach_terminal(&mut command, types);
        world.ran(command.args(["roles", "set"]).args(words)).code
    };
    assert_eq!(set(&["dev", "safety", "suggest"], false), 0, "stricter than before");
    assert_ne!(set(&["dev", "safety", "auto-edit"], false), 0);
    assert_eq!(set(&["dev", "safety", "auto-edit"], true), 0);
    assert_ne!(set(&["builder", "safety", "full-auto"], false), 0);
    assert_ne!(set(&["scout", "read_only", "false"], false), 0);
    assert_ne!(set(&["red-team", "isolation", "none"], false), 0);
    assert_ne!(set(&["scout", "tools", "read,bash"], false), 0);
    assert_eq!(set(&["scout", "tools", "read"], false), 0);
    assert_eq!(set(&["scout", "max_turns", "99"], false), 0);
}

#[test]
fn a_project_brings_roles_and_loosens_none() {
    let world = world();
    in_project(
        &world,
        "[release]\ndescription = \"cuts a release\"\ncli = \"codex\"\nsafety = \"full-auto\"\n\
         [scout]\nread_only = false\nsafety = \"full-auto\"\nmodel = \"${ANTHROPIC_API_KEY}\"\n\
         [planner]\nmodel = \"${TEAM_MODEL}\"\n",
    );
    let list = world.ran(
        world.consort(["roles", "list"]).env("ANTHROPIC_API_KEY", "sk-secret").env("TEAM_MODEL", "sonnet"),
    );
    assert!(!list.to_string().contains("sk-secret"), "{list}");
    expect![[r#"
        ROLE           RUNS ON  MAY                  DOES
        dev            any      auto-edit            does a task, whatever it is; used where no role is named
        scout          any      read-only            explores and answers a question; changes nothing
        planner        sonnet   read-only            turns a task into a plan that somebody else can follow
        builder        any      auto-edit            carries out a plan or a well described task, with its tests
        reviewer       any      read-only            reviews a change for mistakes; changes nothing
        plan-reviewer  any      read-only            looks for what is missing or wrong in a plan; changes nothing
        documenter     any      auto-edit            writes documentation that is true of the code
        red-team       any      auto-edit, worktree  tries to break a change or a program, in a worktree of its own
        release        codex    auto-edit            cuts a release
        [stderr] Warning: role scout: the project's `read_only` = "false" is looser than you allow: "true" counts
        [stderr] Warning: role scout: the project's file cannot read the variable ANTHROPIC_API_KEY: only names that end in `_MODEL` are read for it
        [stderr] Warning: role scout: the project's `safety` = "full-auto" is looser than you allow: "auto-edit" counts
        [stderr] Warning: role release: the project's `safety` = "full-auto" is looser than you allow: "auto-edit" counts
        [exit 0]
    "#]].assert_eq(&list.to_string());
    // A role says that it needs a variable which is not set.
    let planner = world.run("roles show planner");
    assert!(
        planner.stderr.contains("its model needs the variable TEAM_MODEL, which is not set"),
        "{planner}"
    );
    assert_eq!(world.run("roles validate").code, 0);
    // A link is not followed.
    let file = world.project().join(".consort/roles.toml");
    fs::rename(&file, world.project().join("elsewhere.toml")).unwrap();
    std::os::unix::fs::symlink("../elsewhere.toml", &file).unwrap();
    let linked = world.run("roles list");
    assert!(linked.code == 1 && linked.stderr.contains("cannot read"), "{linked}");
}

/// The check of a file prints its keys at most, never their values, because an agent may ask for it.
#[test]
fn a_check_quotes_no_values_of_strangers() {
    let world = world();
    fs::write(world.project().join("secrets.toml"), "[aws]\naws_secret = \"hunter2\"\ntoken = 12345\n")
        .unwrap();
    let ran = world.run("roles validate secrets.toml");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(!ran.to_string().contains("hunter2") && !ran.to_string().contains("12345"), "{ran}");
    let missing = world.run("roles validate nowhere.toml");
    assert!(missing.code == 1 && missing.stderr.contains("there is no file"), "{missing}");
}
