//! Tests of the command line as a whole: JSON in one envelope, errors that say what to do, and
//! `consort` without a command.

use consort_testkit::Ran;
use consort_testkit::Sealed;
use consort_testkit::tokens;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git(&["init", "-q", "-b", "main"]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
    std::fs::write(world.project().join("spec.md"), "- [ ] T-1: first\n- [ ] T-2: second\n").unwrap();
    for (session, name) in [("s1", "GrandZenith"), ("s2", "GrandMarten")] {
        let line = format!("agent join --pid $OTHER --kind claude --session {session} --name {name}");
        assert_eq!(world.run(&line).code, 0);
    }
    world
}

/// Asserts that every time is RFC 3339 in a field named for it, and that agents have their fields.
fn assert_contract(value: &Value, command: &str) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| assert_contract(value, command)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_time = name == "at" || name.ends_with("_at");
                let is_moment = value.as_str().is_some_and(|text| {
                    text.len() == 24 && text.as_bytes()[10] == b'T' && text.ends_with('Z')
                });
                assert!(!is_time || is_moment || value.is_null(), "{command}: {name}: {value}");
                assert!(is_time || !is_moment, "{command}: `{name}` is a time");
                let is_stamp = value.as_i64().is_some_and(|number| number > 1_000_000_000_000);
                assert!(!is_stamp, "{command}: {name}: {value}");
                let is_session = value.as_str().is_some_and(|text| text.starts_with("agent:"));
                assert!(!is_session, "{command}: {name}: {value}");
                assert_contract(value, command);
            }
            if fields.contains_key("session") && fields.contains_key("name") {
                let is_whole = fields.contains_key("cli") && fields.contains_key("machine");
                assert!(is_whole, "{command}: {value}");
            }
        }
        _ => {}
    }
}

/// The reading commands that are tried here, each with the field of its answer.
const READING: &[(&str, &str)] = &[
    ("pane list", "items"),
    ("runs list", "items"),
    ("runs cost", "items"),
    ("runs audit", "audit"),
    ("who", "items"),
    ("who GrandZenith", "agent"),
    ("who --all", "items"),
    ("whoami", "caller"),
    ("status", "status"),
    ("inbox --peek", "items"),
    ("inbox --all", "items"),
    ("inbox --sent", "items"),
    ("inbox --thread 1", "items"),
    ("explain src/auth/a.rs", "path"),
    ("task --spec spec.md", "items"),
    ("task list --spec spec.md", "items"),
    ("holds list", "items"),
    ("pane list", "items"),
    ("waiting", "items"),
    ("policy list", "items"),
    ("policy test", "items"),
    ("radar", "items"),
    ("radar list", "items"),
    ("radar history", "items"),
    ("radar topics", "items"),
    ("radar merges --quiet", "items"),
    ("agent handoff GrandZenith", "handoff"),
    ("agent handoff all", "items"),
    ("doctor", "items"),
    ("config list", "items"),
    ("config get context.mode", "setting"),
    ("config path", "paths"),
    ("roles list", "items"),
    ("roles show dev", "role"),
    ("roles validate", "items"),
    ("token list", "items"),
    ("journal verify", "journal"),
    ("journal tail", "items"),
];

/// The changing commands that are tried here, each with the field of its answer.
const CHANGING: &[(&str, &str)] = &[
    ("send GrandMarten hello", "message"),
    ("reply 1 hello", "message"),
    ("reserve docs/", "items"),
    ("release docs/", "items"),
    ("holds contest lib/", "reservation"),
    ("task next --spec spec.md", "task"),
    ("task drop --spec spec.md", "task"),
    ("task claim T-2 --spec spec.md", "task"),
    ("task done --spec spec.md", "task"),
    ("agent rename Falcon", "agent"),
    ("agent leave", "agent"),
];

/// Commands with `--json` that other tests try, or that need the person or a CLI.
const ELSEWHERE: &[&str] = &[
    "agent join",
    "agent suggest",
    "demo",
    "holds override",
    "holds restore",
    "open",
    "pane close",
    "pane explain",
    "pane screen",
    "policy add",
    "pane watch",
    "radar show",
];

#[test]
fn every_command_that_has_json_is_tried() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let all = consort_agents::allow::ALLOWED.iter().chain(consort_agents::allow::ASKED);
    for verb in all.filter(|verb| !is_tried_elsewhere(verb)) {
        let help = world.run(&format!("{verb} --help")).stdout;
        let is_tried = READING
            .iter()
            .chain(CHANGING)
            .any(|(line, _)| line.split(' ').zip(verb.split(' ')).all(|(word, part)| word == part));
        let is_meant = is_tried || ELSEWHERE.contains(verb);
        assert!(is_meant || !help.contains("--json"), "`{verb}` has `--json`, and nobody tries it");
    }
}

/// Tells whether a command is tried elsewhere: queries have their own language, and runs need a CLI.
fn is_tried_elsewhere(verb: &str) -> bool {
    matches!(verb.split(' ').next(), Some("know" | "run" | "runs"))
}

#[test]
fn what_changes_something_tells_it_in_the_same_way() {
    let world = world();
    assert_eq!(world.run_as(Some("s2"), &["reserve", "lib/"]).code, 0);
    assert_eq!(world.run_as(Some("s2"), &["send", "GrandZenith", "hello"]).code, 0);
    for (line, noun) in CHANGING {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let ran = world.run_as(Some("s1"), &words);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{line}: {ran}"));
        assert!(json["at"].is_string() && !json[noun].is_null(), "{line}: {ran}");
        assert_contract(&json, line);
    }
}

#[test]
fn every_reading_command_has_the_envelope() {
    let world = world();
    let done = |session: &str, words: &[&str]| {
        let ran = world.run_as(Some(session), words);
        assert_eq!(ran.code, 0, "{words:?}: {ran}");
    };
    done("s1", &["reserve", "src/auth/", "--reason", "because", "--ttl", "1h"]);
    done("s2", &["holds", "contest", "src/auth/"]);
    done("s2", &["send", "GrandZenith", "hello"]);
    done("s2", &["send", "@me", "hello"]);
    done("s1", &["task", "next", "--spec", "spec.md"]);
    for (line, noun) in READING {
        let ran = world.run(&format!("{line} --json"));
        let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{line}: {ran}"));
        assert!(json["at"].is_string(), "{line}: {ran}");
        assert!(!json[noun].is_null(), "{line}: {ran}");
        assert_eq!(*noun == "items", json["items"].is_array(), "{line}: {ran}");
        // The changes of an entry are printed as they are stored, so the contract does not apply.
        if !line.starts_with("journal") {
            assert_contract(&json, line);
        }
    }
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    let is_holder = |agent: &&Value| agent["name"] == "GrandZenith";
    let holder = who["items"].as_array().unwrap().iter().find(is_holder).unwrap();
    for field in ["cli", "session", "machine", "status", "doing", "branch", "worktree", "model"] {
        assert!(holder.get(field).is_some(), "{field}: {holder}");
    }
    assert_eq!((&holder["task"], &holder["unread"]), (&"T-1".into(), &2.into()));
    let holds: Value = serde_json::from_str(&world.run("holds list --json").stdout).unwrap();
    assert_eq!(holds["items"][0]["holder"]["name"], "GrandZenith");
    assert_eq!(holds["items"][0]["contest"]["by"]["session"], "s2");
}

/// Returns a command's exit code and all its output.
fn told(ran: &Ran) -> (i32, String) {
    (ran.code, format!("{}{}", ran.stdout, ran.stderr))
}

#[test]
fn errors_say_what_to_do() {
    let world = world();
    std::fs::write(world.project().join("empty.md"), "nothing\n").unwrap();
    for (words, code, said) in [
        (&["send", "GrandZenith"][..], 2, "the text is missing\nHint: consort send GrandZenith '…'"),
        (&["send", "Bob"], 2, "the text is missing\nHint: consort send Bob '…'"),
        (&["send", "please look"], 2, "no recipient is named\nHint: consort send <name> '<text>'"),
        (&["send", "Nobody", "please", "look"], 1, "a text of several words is put in quotes"),
        (&["mesage", "x"], 2, "there is no command `mesage`\nHint: did you mean `send`?"),
        (&["whoo"], 2, "there is no command `whoo`\nHint: did you mean `who`?"),
        (&["frobnicate"], 2, "there is no command `frobnicate`\nHint: there are: up, who, status, send, "),
        (&["explain", "prediction"], 1, "which prediction?\nHint: `consort radar` lists them"),
        (&["task", "list", "--spec", "empty.md"], 0, "no tasks found; a task line looks like `- [ ] T-1: …`"),
        (&["reserve", "src/[a"], 1, "has a `[` without its `]`"),
        (&["reserve", "nope.rs"], 0, "Note: nope.rs does not exist. It is reserved as a file"),
        (&["reserve", "nonexist/dir"], 0, "a directory ends in `/`"),
        (&["reserve", "/etc/passwd"], 0, "Note: /etc/passwd is in no git repository"),
        (&["reserve", "x.rs", "--ttl", "soon"], 2, "expected a time, as in `30s`, `5m`, `2h30m` or `1d`"),
    ] {
        let (found, all) = told(&world.run_as(Some("s1"), words));
        assert_eq!(found, code, "{words:?}: {all}");
        assert!(all.contains(said), "{words:?}: {all}");
    }
}

#[test]
fn what_is_part_of_a_reservation_is_not_released_alone() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    let (code, said) = told(&world.run_as(Some("s1"), &["release", "src/auth/a.rs"]));
    assert_eq!(code, 1);
    assert!(said.contains("`src/auth/a.rs` is part of `src/auth/`, which you have reserved"), "{said}");
    assert!(said.contains("Hint: `consort release 'src/auth/'` gives up all of it"), "{said}");
}

#[test]
fn hints_about_tasks_name_the_spec_that_was_named() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["task", "next", "--spec", "spec.md"]).code, 0);
    let (_, said) = told(&world.run_as(Some("s1"), &["task", "claim", "T-2", "--spec", "spec.md"]));
    assert!(said.contains("`consort task done T-1 --spec 'spec.md'`"), "{said}");
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let world = world();
    for (words, kind, code) in [
        (&["radar", "show", "99", "--json"][..], "user", 1),
        (&["who", "--jsn", "--json"], "usage", 2),
        (&["release", "a.rs", "--json"], "user", 1),
    ] {
        let ran = world.run_as(Some("s1"), words);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{words:?}: {ran}"));
        assert_eq!(json["error"]["kind"], kind, "{ran}");
        assert!(json["error"]["message"].is_string() && json["error"]["hints"].is_array(), "{ran}");
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{words:?}");
    }
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/"]).code, 0);
    let ran = world.run_as(Some("s2"), &["reserve", "src/", "--json"]);
    assert!(ran.stdout.contains("\"kind\":\"conflict\"") && ran.code == 4, "{ran}");
}

#[test]
fn recipients_are_meant_by_what_is_at_hand() {
    let world = world();
    let send = |to: &str| world.run_as(Some("s2"), &["send", to, "hello"]);
    for to in ["GrandZenith", "grandzenith", "@GrandZenith", "GrandZ", "@grandz"] {
        let ran = send(to);
        assert!(ran.stdout.contains("to GrandZenith."), "{to}: {ran}");
    }
    for to in ["me", "user", "@me", "you", "person"] {
        let ran = send(to);
        assert!(ran.stdout.contains("to your user."), "{to}: {ran}");
    }
    let several = world.run_as(None, &["send", "Grand", "hello"]);
    assert!(several.stderr.contains("`Grand` may be Grand"), "{several}");
    assert_eq!(send("Gr").code, 1, "two letters would reach somebody else tomorrow");
    let nobody = send("bottom-left");
    assert!(nobody.stderr.contains("no agent is at bottom-left"), "{nobody}");
}

#[test]
fn without_a_command_an_agent_gets_a_summary_with_a_next_step() {
    let world = world();
    let ran = world.run_as(Some("s1"), &[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("GrandZenith (claude"), "{ran}");
    assert!(ran.stdout.contains("Next") && ran.stdout.contains("consort send <name>"), "{ran}");
    let piped = world.ran(&mut world.consort([]));
    assert!(piped.stdout.contains("Next"), "{piped}");
}

/// Runs `consort` alone in a terminal where `q` is typed; returns what it shows.
fn shown_in_a_terminal(world: &Sealed, session: Option<&str>) -> String {
    let mut python = world.command("python3");
    python.args(["-c", "import pty, sys; pty.spawn(sys.argv[1:])"]).arg(world.program());
    python.env("TERM", "xterm").envs(session.map(|session| ("CONSORT_SESSION", session)));
    world.ran_with(&mut python, b"q\n").stdout
}

#[test]
fn without_a_command_the_person_gets_the_live_view_and_an_agent_in_a_terminal_does_not() {
    let world = world();
    let live = shown_in_a_terminal(&world, None);
    assert!(live.contains("q quit") && live.contains("GrandZenith"), "{live}");
    let made_by_an_agent = shown_in_a_terminal(&world, Some("s1"));
    assert!(made_by_an_agent.contains("Next"), "{made_by_an_agent}");
    assert!(!made_by_an_agent.contains("q quit"), "{made_by_an_agent}");
}

#[test]
fn a_home_that_does_not_exist_is_not_made() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let home = world.path().join("nobody/here");
    let ran = world.ran(world.consort(["who"]).env("HOME", &home));
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("does not exist"), "{ran}");
    assert!(!world.path().join("nobody").exists());
}

#[test]
fn the_json_of_messages_is_a_contract() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    let pretty = |ran: Ran| {
        let mut value: Value = serde_json::from_str(&ran.stdout).unwrap();
        hide_times(&mut value);
        serde_json::to_string_pretty(&value).unwrap()
    };
    world.run_as(None, &["agent", "leave", "--agent", "Raven"]);
    let send = ["send", "Falcon", "Raven", "-t", "block", "--json", "stuck"];
    expect![[r#"
        {
          "at": "$TIME",
          "message": {
            "duplicate": false,
            "failed": [
              {
                "gone": {
                  "name": "Raven"
                }
              }
            ],
            "id": "$ID",
            "number": 1,
            "project": "$PROJECT",
            "to": [
              {
                "cli": "claude",
                "machine": "$MACHINE",
                "name": "Falcon",
                "session": "s1"
              }
            ]
          }
        }"#]]
    .assert_eq(&pretty(world.run_as(None, &send)));
    expect![[r#"
        {
          "at": "$TIME",
          "items": [
            {
              "again": false,
              "at": "$TIME",
              "delivered_at": null,
              "from": {
                "name": "you",
                "who": "person"
              },
              "id": "$ID",
              "number": 1,
              "priority": "urgent",
              "project": "$PROJECT",
              "text": "stuck",
              "to": [
                {
                  "cli": "claude",
                  "machine": "$MACHINE",
                  "name": "Falcon",
                  "session": "s1"
                }
              ],
              "type": "block"
            }
          ]
        }"#]]
    .assert_eq(&pretty(world.run_as(Some("s1"), &["inbox", "--json"])));
    expect![[r#"
        {
          "at": "$TIME",
          "items": [
            {
              "at": "$TIME",
              "from": {
                "name": "you",
                "who": "person"
              },
              "id": "$ID",
              "number": 1,
              "priority": "urgent",
              "project": "$PROJECT",
              "receipts": [
                {
                  "at": "$TIME",
                  "name": "Falcon",
                  "state": "read",
                  "to": {
                    "cli": "claude",
                    "machine": "$MACHINE",
                    "name": "Falcon",
                    "session": "s1"
                  }
                }
              ],
              "text": "stuck",
              "to": [
                {
                  "cli": "claude",
                  "machine": "$MACHINE",
                  "name": "Falcon",
                  "session": "s1"
                }
              ],
              "type": "block"
            }
          ]
        }"#]]
    .assert_eq(&pretty(world.run_as(None, &["inbox", "--sent", "--json"])));
}

fn hide_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if matches!(name.as_str(), "at" | "delivered_at") && value.is_string() {
                    *value = json!("$TIME");
                }
                if matches!(name.as_str(), "id" | "project" | "machine") && value.is_string() {
                    *value = json!(format!("${}", name.to_uppercase()));
                }
                hide_times(value);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(hide_times),
        _ => {}
    }
}

/// Every session carries the two tools for knowledge in its context.
#[test]
fn the_tools_for_knowledge_are_small() {
    let tools: Vec<Value> = serde_json::from_str(&world().run("mcp --schemas").stdout).unwrap();
    let knowledge: Vec<&Value> =
        tools.iter().filter(|tool| tool["name"] == "query" || tool["name"] == "act").collect();
    let cost = tokens(&serde_json::to_string(&knowledge).unwrap());
    assert!(knowledge.len() == 2 && cost < 900, "{cost} tokens");
}

/// Every agent carries schemas and primer in its context; a real model's tokenizer measures them.
#[test]
fn schemas_and_primer_are_small() {
    let world = world();
    let schemas = world.run("mcp --schemas").stdout;
    let tools = tokens(schemas.trim());
    assert!(tools <= 2_600, "{tools} tokens");
    let primer = tokens(&consort_core::primer::for_tools());
    assert!(primer <= 500, "{primer} tokens");
}

#[test]
fn a_guess_leads_to_what_was_meant() {
    let world = world();
    for (typed, hint) in [
        ("join", "did you mean `agent join`?"),
        ("contest src/", "did you mean `holds contest`?"),
        ("handoff GrandZenith", "did you mean `agent handoff`?"),
        ("inbxo", "did you mean `inbox`?"),
        ("know serach retry", "did you mean `know search`?"),
        ("task frobnicate", "there are: list, next, claim, drop, done"),
        ("broadcast hello", "did you mean `send all '<text>'`?"),
        ("task complete T-1", "did you mean `task done <id>`?"),
        ("know find retry", "did you mean `know search <words>`?"),
        ("inbox --unread", "usage: consort inbox [OPTIONS]\n"),
        ("inbox --unread", "its options: --all, --from <NAME>, --json, --peek, --sent, "),
        ("know add", "for example: consort know add principle "),
        ("reserve topic:auth", "consort reserve --advisory 'topic:auth'"),
        ("reply GrandZenith hello", "consort send <name>"),
        ("wait GrandZenith", "consort wait --idle GrandZenith"),
    ] {
        let ran = world.run_as(Some("s2"), &typed.split(' ').collect::<Vec<_>>());
        assert!(ran.code != 0 && ran.stderr.contains(hint), "{typed}: {ran}");
    }
    let ran = world.run_as(Some("s2"), &["send", "everyone", "hello"]);
    assert!(ran.stderr.contains("did you mean `all`?"), "{ran}");
    let ran = world.run_as(Some("s2"), &["send", "GrandZenith", "--message", "hello"]);
    assert!(ran.code == 2 && !ran.stderr.contains("use '--"), "{ran}");
    // A group of commands alone runs its `list`, or prints its help.
    assert_eq!(world.run("holds").stdout, "Nothing is reserved.\n");
    let ran = world.run("agent");
    assert!(ran.code == 2 && ran.stderr.contains("\n  join"), "{ran}");
}
