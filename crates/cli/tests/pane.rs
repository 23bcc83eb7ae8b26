//! Tests of the command `consort pane`.

use std::fs;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

const LIMIT: &str = "\
❯ go on
  ⎿  You've hit your session limit · resets 7pm (Europe/Berlin)
✻ Worked for 1s · done 12:02 AM
────────────────
❯
────────────────
  ⏸ manual mode on · ? for shortcuts
";

const PERMISSION: &str = "\
 Bash command
 touch made.txt
 Do you want to proceed?
 ❯ 1. Yes
   2. No
 Esc to cancel · Tab to amend
";

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    fs::write(world.project().join("limit.txt"), LIMIT).unwrap();
    fs::write(world.project().join("asks.txt"), PERMISSION).unwrap();
    world
}

#[test]
fn a_saved_screen_is_explained() {
    let world = world();
    expect![[r#"
        permission, by the rule "permission"
          seen: Do you want to proceed?
          seen: ❯ 1. Yes
          seen: Esc to cancel · Tab to amend
        It asks: Do you want to proceed?
          > Yes
          - No
        [exit 0]
    "#]]
    .assert_eq(&world.run("pane explain --cli claude --capture asks.txt").to_string());

    let ran = world.run("pane explain --cli claude --capture asks.txt --json");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["pane"]["state"], "permission");
    assert_eq!(told["pane"]["options"], json!(["Yes", "No"]));
    assert_eq!(told["pane"]["selected"], "Yes");
    assert_eq!(told["pane"]["reset_at"], Value::Null);
    assert!(told["at"].as_str().unwrap().ends_with('Z'), "{ran}");
}

#[test]
fn a_limit_says_when_it_ends() {
    let ran = world().run("pane explain --cli claude --capture limit.txt --json");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["pane"]["state"], "limit");
    let reset = told["pane"]["reset_at"].as_str().unwrap();
    assert!(reset.contains("T17:00:00") || reset.contains("T18:00:00"), "{reset}");
}

#[test]
fn the_users_own_rules_come_first_and_are_checked() {
    let world = world();
    let rules = world.path().join("home/.config/consort/screens");
    fs::create_dir_all(&rules).unwrap();
    fs::write(
        rules.join("claude.toml"),
        "[[rule]]\nname = \"mine\"\nstate = \"question\"\nscreen = [\"proceed?\"]\n",
    )
    .unwrap();
    let ran = world.run("pane explain --cli claude --capture asks.txt");
    assert!(ran.stdout.starts_with("question, by the rule \"mine\""), "{ran}");
    fs::write(rules.join("claude.toml"), "[[rule]]\nname = \"mine\"\nstate = \"odd\"\n").unwrap();
    let ran = world.run("pane explain --cli claude --capture asks.txt");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("`state` of rule 1 is a state of a pane"), "{ran}");
}

#[test]
fn what_cannot_be_read_says_so() {
    let world = world();
    let ran = world.run("pane explain --cli claude --capture missing.txt");
    assert!(ran.code == 1 && ran.stderr.contains("cannot read"), "{ran}");
    assert_eq!(world.run("pane explain --cli emacs --capture asks.txt").code, 2);
}
