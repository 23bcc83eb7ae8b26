//! Tests that an agent's question can be answered from elsewhere, once, by the person alone, while the
//! CLI's own dialog stays usable.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;
use consort_testkit::random_below;
use consort_testkit::rounds;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

/// A permission hook that waits for the person's answer.
struct Held {
    pid: u32,
    answer: JoinHandle<Value>,
}

impl Held {
    /// Starts a hook as Claude Code does when a person is at the session.
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

/// Waits until the list has `count` items, and returns it.
fn listed(world: &Sealed, count: usize) -> Vec<Value> {
    let since = Instant::now();
    loop {
        let items = items(world);
        if items.len() == count {
            return items;
        }
        let log = || fs::read_to_string(world.data().join("hook.log")).unwrap_or_default();
        assert!(
            since.elapsed() < Duration::from_secs(30),
            "{items:?}\n{}\n{}",
            log(),
            world.run("journal tail")
        );
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
    for line in [
        "Falcon asks (#1): Bash cargo test",
        "you: Falcon is allowed to",
        "you: Falcon is refused: Your user refused",
    ] {
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
    assert!(ran.stderr.contains("was already answered"), "{ran}");
    assert!(world.run("answer 77 allow").stderr.contains("77 does not wait for an answer"));
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
    // The next question gets the next number, and closes the one that was left.
    let held = Held::start(&world, "s1", "Bash", json!({ "command": "pwd" }));
    let item = listed(&world, 1).remove(0);
    assert_eq!(item["number"], 2);
    let tail = world.run("journal tail").stdout;
    assert!(
        tail.contains("Falcon asks (#2): Bash pwd; Falcon was answered in its terminal, or left it"),
        "{tail}"
    );
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
fn what_is_too_long_to_be_shown_is_not_allowed_from_here() {
    let world = world();
    let command = format!("echo {}; rm -rf x", "a".repeat(9_000));
    let held = Held::start(&world, "s1", "Bash", json!({ "command": command }));
    let item = listed(&world, 1).remove(0);
    assert_eq!(item["options"], json!(["deny"]));
    assert_eq!(answer(&world, &item, &["allow"]).code, 1);
    assert_eq!(answer(&world, &item, &["deny"]).code, 0);
    assert_eq!(held.answer()["behavior"], "deny");
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
    // A permission cannot be given by an agent's name: another question might be meant by then.
    assert_eq!(world.run("answer Falcon allow").code, 1);
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
    // An agent is not shown the person's mail.
    let ran = world.run_as(Some("s2"), &["waiting", "--json"]);
    assert!(!ran.stdout.contains("Which branch"), "{ran}");
    assert_eq!(answer(&world, &all[1], &["main"]).code, 0);
    let told = world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap();
    assert!(told.contains("main"), "{told}");
}

/// A running `waiting --follow` on a terminal of the person's.
struct Follow(std::process::Child);

impl Follow {
    fn start(world: &Sealed) -> Self {
        let mut script = world.command("script");
        let follow = format!("{} waiting --follow", world.program().display());
        script.args(["-qfec", &follow, "/dev/null"]);
        script.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(script.spawn().unwrap())
    }

    fn types(&mut self, line: &str) {
        self.0.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A CLI that hides its dialog while a hook is open asks here only while the person looks.
#[test]
fn while_the_person_looks_those_ask_here_that_hide_their_dialog() {
    let world = world();
    assert_eq!(world.run("agent join --pid $OTHER --kind codex --session s3 --name Heron").code, 0);
    let call = json!({ "session_id": "s3", "cwd": world.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let asks = || {
        let hook = world.spawn_as_agent(&world.consort(["hook", "codex", "PermissionRequest"]));
        let (stdout, _, _) = hook.output(call.to_string().as_bytes());
        String::from_utf8(stdout).unwrap()
    };
    assert_eq!(asks(), "");
    let mut follow = Follow::start(&world);
    let since = Instant::now();
    // A published text with two times says that the person looks.
    let is_looking = |text: &str| {
        text.split_once(' ')
            .is_some_and(|(drawn, key)| [drawn, key].iter().all(|at| at.parse::<u64>().is_ok()))
    };
    let texts = || fs::read_dir(world.data().join("published")).unwrap().flatten().map(|file| file.path());
    let looks = || texts().filter_map(|path| fs::read_to_string(path).ok()).find(|text| is_looking(text));
    // Waits for a second drawing: an old one does not count, and a busy machine draws slowly.
    let (mut first, mut now) = (None, None);
    while first.is_none() || now == first {
        first = first.or_else(looks);
        now = looks();
        assert!(since.elapsed() < Duration::from_secs(30));
    }
    let answered = std::thread::scope(|scope| {
        let answered = scope.spawn(asks);
        let item = listed(&world, 1).remove(0);
        assert_eq!(item["agent"]["name"], "Heron");
        follow.types(&format!("{} allow\n", item["number"]));
        answered.join().unwrap()
    });
    assert!(answered.contains(r#""behavior":"allow""#), "{answered}");
    // When the person stops looking, a held question is given back to the CLI's own dialog.
    let answered = std::thread::scope(|scope| {
        let answered = scope.spawn(asks);
        listed(&world, 1);
        drop(follow);
        answered.join().unwrap()
    });
    assert_eq!(answered, "");
}

/// With answers, rules, terminals and killed hooks in any order, there is one answer at most, and never
/// one without a cause.
#[test]
fn nothing_is_approved_without_cause_in_any_order() {
    let world = world();
    for round in 0..rounds(20, 500) {
        let command = format!("make target{round}");
        let rule = ["allow", "deny", "none", "none"][random_below(4) as usize];
        if rule != "none" {
            assert_eq!(world.run_as(None, &["policy", "add", rule, "Bash", &command]).code, 0);
        }
        let held = Held::start(&world, "s1", "Bash", json!({ "command": command }));
        let mut acts: Vec<&str> = vec!["allow", "deny", "terminal", "kill"];
        acts.truncate(1 + random_below(4) as usize);
        let pauses: Vec<u64> = acts.iter().map(|_| random_below(120)).collect();
        let (pid, world) = (held.pid, &world);
        let done: Vec<(&str, bool)> = std::thread::scope(|scope| {
            let acting = acts.iter().zip(&pauses).map(|(act, pause)| {
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(*pause));
                    (*act, acts_on(world, act, pid))
                })
            });
            let acting: Vec<_> = acting.collect();
            acting.into_iter().map(|one| one.join().unwrap()).collect()
        });
        // A question that is still open is answered in the terminal.
        acts_on(world, "terminal", pid);
        let answer = held.answer();
        let has = |wanted: &str| done.contains(&(wanted, true));
        match answer["behavior"].as_str() {
            Some("allow") => {
                assert!(rule == "allow" || rule == "none" && has("allow"), "{round} {rule} {done:?}")
            }
            Some("deny") => {
                assert!(rule == "deny" || rule == "none" && has("deny"), "{round} {rule} {done:?}")
            }
            _ => assert!(rule == "none" || has("kill"), "{round} {rule} {done:?}"),
        }
        assert!(!(has("allow") && has("deny")), "{round} {done:?}");
    }
    let tail = world.run("journal tail -n 5000").stdout;
    let answers = tail.matches("Falcon is allowed to").count() + tail.matches("Falcon is refused").count();
    assert!(answers <= tail.matches(" asks (#").count(), "{tail}");
    assert_eq!(world.run("journal verify").code, 0);
}

/// Does one thing to a question; returns whether it had an effect, as far as it knows.
fn acts_on(world: &Sealed, act: &str, pid: u32) -> bool {
    match act {
        "terminal" => {
            let used = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": "Bash",
                "tool_input": { "command": "x" } });
            world.hook("PostToolUse", &used).code == 0
        }
        "kill" => std::process::Command::new("kill")
            .args(["-9", &pid.to_string()])
            .output()
            .unwrap()
            .status
            .success(),
        // Code 7 means that no hook took the answer in time; a hook may still have taken it.
        word => {
            let item = items(world).into_iter().find(|item| item["agent"]["name"] == "Falcon");
            item.is_some_and(|item| [0, 7].contains(&answer(world, &item, &[word]).code))
        }
    }
}
