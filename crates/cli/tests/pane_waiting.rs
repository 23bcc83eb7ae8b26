//! Tests of the list of waiting agents, and of the answers to them.

use consort_testkit::PaneWorld;
use consort_testkit::until;
use serde_json::Value;
use serde_json::json;

fn waiting(world: &PaneWorld) -> Vec<Value> {
    let ran = world.run(&["waiting", "--json"]);
    let listed: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    listed["items"].as_array().unwrap().clone()
}

fn opened(ways: &[(&str, &str)], prompt: &str) -> PaneWorld {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), ways);
    world.run(&["open", "claude", "--name", "Falcon", "--prompt", prompt]);
    world
}

#[test]
fn a_question_is_listed_and_answered_by_label() {
    let world = opened(&[], "ask me a question");
    let items = until("a question", || waiting(&world), |items| items.len() == 1);
    let item = &items[0];
    assert_eq!((&item["why"], &item["number"]), (&"question".into(), &1.into()), "{item}");
    assert_eq!(item["agent"]["name"], "Falcon");
    assert!(item["agent"]["machine"].is_string(), "{item}");
    assert_eq!(item["options"], json!(["Red", "Blue", "Type something."]));
    let wrong = world.run(&["answer", "1", "green"]);
    assert!(wrong.code == 4 && wrong.stderr.contains("one of: Red, Blue"), "{wrong}");
    let answered = world.run(&["answer", "1", "blue"]);
    assert_eq!((answered.code, answered.stdout.as_str()), (0, "Answered Falcon: Blue\n"), "{answered}");
    assert!(
        world.cli.submitted_texts().contains(&"answered: Blue".to_owned()),
        "{:?}",
        world.cli.submitted_texts()
    );
    assert!(waiting(&world).is_empty());
    let again = world.run(&["answer", "Falcon", "blue"]);
    assert!(again.code == 1 && again.stderr.contains("does not wait"), "{again}");
}

#[test]
fn a_permission_is_answered_by_keys_for_the_person_alone() {
    let world = opened(&[], "ask for permission");
    until("a permission", || waiting(&world), |items| items.len() == 1 && items[0]["why"] == "permission");
    let shown = world.run(&["waiting"]).stdout;
    assert!(
        shown.contains("1  Falcon (claude) permission") && shown.contains("| Do you want to proceed?\n"),
        "{shown}"
    );
    let joined =
        ["agent", "join", "--pid", "$OTHER", "--kind", "claude", "--session", "s1", "--name", "Raven"];
    assert_eq!(world.run(&joined).code, 0);
    let refused = world.run_as_agent(&["answer", "Falcon", "allow"]);
    assert_ne!(refused.code, 0, "{refused}");
    for option in ["perhaps", "nudge", "9"] {
        let refused = world.run(&["answer", "1", option]);
        assert_eq!(refused.code, 4, "{refused}");
    }
    assert_eq!(world.cli.submitted_texts(), ["submitted: ask for permission"]);
    let answered = world.run(&["answer", "1", "deny"]);
    assert_eq!((answered.code, answered.stdout.as_str()), (0, "Answered Falcon: No\n"), "{answered}");
    assert!(
        world.cli.submitted_texts().contains(&"answered: No".to_owned()),
        "{:?}",
        world.cli.submitted_texts()
    );
}

#[test]
fn a_prompt_that_was_lost_is_typed() {
    let world = opened(&[("FAKE_LOSE", "1")], "fix the tests\nand the docs");
    assert_eq!(world.cli.submitted_texts(), ["submitted: fix the tests\\nand the docs"]);
    assert!(waiting(&world).is_empty());
}

/// A prompt that does not arrive in two tries is left for the person to decide about.
#[test]
fn a_prompt_that_never_arrives_waits_for_somebody() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_LOSE", "1"), ("FAKE_DEAF", "99")]);
    let opened = world.run(&["open", "claude", "--name", "Falcon", "--prompt", "fix the tests"]);
    assert!(opened.code == 1 && opened.stdout.contains("its prompt was not seen to arrive"), "{opened}");
    let items = waiting(&world);
    assert_eq!(items.len(), 1, "{items:?}");
    assert_eq!(items[0]["why"], "unconfirmed", "{items:?}");
    assert_eq!(items[0]["options"], json!(["nudge", "wait", "close", "take over"]));
    assert!(items[0]["since_at"].is_string(), "{items:?}");
    let nudged = world.run(&["answer", "Falcon", "nudge"]);
    assert!(nudged.code == 1 && nudged.stdout.contains("has a draft in its composer"), "{nudged}");
    let left = world.run(&["answer", "Falcon", "wait"]);
    assert_eq!(left.stdout, "Falcon is left alone.\n", "{left}");
    assert!(waiting(&world).is_empty());
    assert_eq!(world.cli.submitted_texts(), [""; 0]);
}

#[test]
fn a_limit_is_listed_with_its_end() {
    let world = opened(&[], "reach the limit");
    let items = until("a limit", || waiting(&world), |items| items.len() == 1);
    let reset = items[0]["reset_at"].as_str().unwrap_or_else(|| panic!("{items:?}"));
    assert!(items[0]["why"] == "limit" && reset.ends_with("T19:00:00.000Z"), "{items:?}");
    let closed = world.run(&["answer", "Falcon", "close"]);
    assert!(closed.code == 0 && closed.stdout.contains("Closed: Falcon"), "{closed}");
    assert!(world.panes().is_empty());
}
