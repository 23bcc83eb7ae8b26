//! What agents ask is answered from elsewhere, once, by the person alone; the CLI's own dialog
//! stays usable meanwhile.

use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

/// A permission hook that is held.
struct Held {
    pid: u32,
    answer: JoinHandle<Value>,
}

impl Held {
    /// Starts one as Claude Code does where a person sits before it.
    fn start(world: &Sealed, session: &str, tool: &str, input: Value) -> Self {
        let call = json!({ "session_id": session, "cwd": world.project(), "tool_name": tool, "tool_input": input,
            "permission_suggestions": [{ "type": "addRules" }] });
        let mut hook = world.consort(["hook", "claude", "PermissionRequest"]);
        hook.env("CLAUDE_CODE_ENTRYPOINT", "cli");
        let hook = world.spawn_as_agent(&hook);
        let pid = hook.pid;
        let answer = std::thread::spawn(move || {
            let (stdout, _, code) = hook.output(call.to_string().as_bytes());
            assert!(code <= 0, "{code}");
            serde_json::from_slice::<Value>(&stdout).unwrap_or_default()["hookSpecificOutput"]["decision"]
                .take()
        });
        Self { pid, answer }
    }

    fn answer(self) -> Value {
        self.answer.join().unwrap()
    }
}

fn items(world: &Sealed) -> Vec<Value> {
    let ran = world.run("waiting --json");
    serde_json::from_str::<Value>(&ran.stdout).unwrap()["items"].as_array().unwrap().clone()
}

/// The list, once it has so many.
fn listed(world: &Sealed, count: usize) -> Vec<Value> {
    let since = Instant::now();
    loop {
        let items = items(world);
        if items.len() == count {
            return items;
        }
        assert!(since.elapsed() < Duration::from_secs(30), "{items:?}");
    }
}

fn answer(world: &Sealed, item: &Value, words: &[&str]) -> consort_testkit::Ran {
    let number = item["number"].to_string();
    world.run_as(None, &[&["answer", &number], words].concat())
}

#[test]
fn a_permission_is_given_refused_or_given_for_good() {
    let world = world();
    let held = Held::start(&world, "s1", "Bash", json!({ "command": "cargo test\ncargo build" }));
    let item = &listed(&world, 1)[0];
    assert_eq!(item["question"], "cargo test\ncargo build");
    assert_eq!((&item["why"], &item["agent"]["name"]), (&json!("permission"), &json!("Falcon")));
    assert_eq!(item["options"], json!(["allow", "always", "deny"]));
    assert!(world.run("waiting").stdout.contains("     | cargo build\n"));
    let ran = answer(&world, item, &["allow"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Falcon is allowed to.\n"), "{ran}");
    assert_eq!(held.answer(), json!({ "behavior": "allow" }));
    assert_eq!(answer(&world, item, &["allow"]).code, 1);

    let held =
        Held::start(&world, "s1", "Edit", json!({ "file_path": "a", "old_string": "1", "new_string": "2" }));
    let item = &listed(&world, 1)[0];
    assert_eq!(item["question"], "a\n-1\n+2\n");
    assert_eq!(answer(&world, item, &["perhaps"]).code, 1);
    assert_eq!(answer(&world, item, &["deny", "use the other file"]).code, 0);
    assert_eq!(
        held.answer(),
        json!({ "behavior": "deny", "message": "Your user refused this: use the other file" })
    );

    let held = Held::start(&world, "s2", "Bash", json!({ "command": "ls" }));
    assert_eq!(answer(&world, &listed(&world, 1)[0], &["always"]).code, 0);
    assert_eq!(held.answer()["updatedPermissions"], json!([{ "type": "addRules" }]));
    let tail = world.run("journal tail").stdout;
    for line in
        ["Falcon asks (#1): Bash cargo test", "you: allowed by you", "refused by you: Your user refused"]
    {
        assert!(tail.contains(line), "{line}\n{tail}");
    }
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn questions_and_plans_are_answered() {
    let world = world();
    let questions = json!([
        { "question": "Which colour?", "options": [{ "label": "Red" }, { "label": "Blue" }] },
        { "question": "Which sizes?", "options": [{ "label": "S" }, { "label": "L" }], "multiSelect": true },
    ]);
    let held = Held::start(&world, "s1", "AskUserQuestion", json!({ "questions": questions }));
    let item = &listed(&world, 1)[0];
    assert_eq!(item["why"], "question");
    assert_eq!(answer(&world, item, &["Blue"]).code, 1, "two are asked");
    assert_eq!(answer(&world, item, &["2", "1,2"]).code, 0);
    let given = held.answer();
    assert_eq!(given["updatedInput"]["answers"], json!({ "Which colour?": "Blue", "Which sizes?": "S, L" }));
    assert_eq!(given["updatedInput"]["questions"], questions);

    let held = Held::start(&world, "s1", "ExitPlanMode", json!({ "plan": "# First\n1. do it" }));
    let item = &listed(&world, 1)[0];
    assert_eq!((&item["why"], &item["question"]), (&json!("plan"), &json!("# First\n1. do it")));
    assert_eq!(answer(&world, item, &["allow"]).code, 0);
    assert_eq!(held.answer(), json!({ "behavior": "allow", "updatedInput": {} }));
}

#[test]
fn what_is_answered_in_the_terminal_is_not_answered_here() {
    let world = world();
    let held = Held::start(&world, "s1", "Bash", json!({ "command": "ls" }));
    let item = listed(&world, 1).remove(0);
    let used = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    assert_eq!(world.hook("PostToolUse", &used).code, 0);
    assert_eq!(held.answer(), Value::Null);
    listed(&world, 0);
    let ran = answer(&world, &item, &["allow"]);
    assert_eq!(ran.code, 1, "{ran}");
}

#[test]
fn what_nobody_can_take_to_the_agent_is_not_listed() {
    let world = world();
    let held = Held::start(&world, "s1", "Bash", json!({ "command": "ls" }));
    listed(&world, 1);
    assert!(
        std::process::Command::new("kill").args(["-9", &held.pid.to_string()]).status().unwrap().success()
    );
    listed(&world, 0);
    assert_eq!(held.answer(), Value::Null);
    // The next is numbered on, and closes what was left.
    let held = Held::start(&world, "s1", "Bash", json!({ "command": "pwd" }));
    let item = listed(&world, 1).remove(0);
    assert_eq!(item["number"], 2);
    assert_eq!(answer(&world, &item, &["deny"]).code, 0);
    held.answer();
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn nobody_waits_where_no_person_sits() {
    let world = world();
    let call = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    for (kind, event, entrance) in [
        ("claude", "PermissionRequest", "sdk-cli"),
        ("codex", "PermissionRequest", "cli"),
        ("copilot", "permissionRequest", "cli"),
    ] {
        let mut hook = world.consort(["hook", kind, event]);
        hook.env("CLAUDE_CODE_ENTRYPOINT", entrance);
        let ran = world.ran_with(&mut hook, call.to_string().as_bytes());
        assert_eq!((ran.stdout.as_str(), ran.code), ("", 0), "{kind}: {ran}");
    }
    assert_eq!(items(&world), Vec::<Value>::new());
}

#[test]
fn an_agent_gives_no_permission() {
    let world = world();
    let held = Held::start(&world, "s1", "Bash", json!({ "command": "ls" }));
    let item = listed(&world, 1).remove(0);
    for session in ["s1", "s2"] {
        let ran = world.run_as(Some(session), &["answer", &item["number"].to_string(), "allow"]);
        assert_ne!(ran.code, 0, "{ran}");
    }
    assert_eq!(answer(&world, &item, &["deny"]).code, 0);
    assert_eq!(held.answer()["behavior"], "deny");
}

#[test]
fn the_first_of_two_answers_counts() {
    let world = world();
    for _ in 0..3 {
        let held = Held::start(&world, "s1", "Bash", json!({ "command": "ls" }));
        let item = listed(&world, 1).remove(0);
        let said: Vec<(i32, &str)> = std::thread::scope(|scope| {
            let one = |word: &'static str| {
                let (world, item) = (&world, &item);
                scope.spawn(move || (answer(world, item, &[word]).code, word))
            };
            let all = ["allow", "deny", "allow", "deny"].map(one);
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let won: Vec<&str> = said.iter().filter(|(code, _)| *code == 0).map(|(_, word)| *word).collect();
        assert_eq!(won.len(), 1, "{said:?}");
        assert_eq!(held.answer()["behavior"], won[0]);
    }
}

#[test]
fn mail_and_contests_are_listed_too() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["send", "@me", "Which branch?"]).code, 0);
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/"]).code, 0);
    assert_eq!(world.run_as(Some("s2"), &["holds", "contest", "src/"]).code, 0);
    let all = items(&world);
    let told: Vec<(&str, &str)> =
        all.iter().map(|item| (item["why"].as_str().unwrap(), item["about"].as_str().unwrap())).collect();
    assert_eq!(told, [("contest", "Raven (claude on main) wants src/"), ("message", "Which branch?")]);
    // An agent does not read the person's mail.
    let ran = world.run_as(Some("s2"), &["waiting", "--json"]);
    assert!(!ran.stdout.contains("Which branch"), "{ran}");
    assert_eq!(answer(&world, &all[1], &["main"]).code, 0);
    let told = world.told("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap();
    assert!(told.contains("main"), "{told}");
}
