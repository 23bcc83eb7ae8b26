//! Tests of mail between many real processes, some killed at any moment.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::Command;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;

use consort_testkit::Sealed;
use consort_testkit::random_below;
use consort_testkit::rounds;
use serde_json::Value;
use serde_json::json;

/// Runs a process, and kills it after a delay if asked to; returns its output and whether it succeeded.
fn ran_until(
    world: &Sealed,
    command: &Command,
    killed_after: Option<Duration>,
    input: &str,
) -> (String, bool) {
    use std::io::Write as _;
    let mut child = world.spawn_as_agent(command);
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    if let Some(delay) = killed_after {
        std::thread::sleep(delay);
        child.kill();
    }
    let mut said = String::new();
    child.stdout.read_to_string(&mut said).unwrap();
    (said, child.wait() == 0)
}

/// Decides whether and when to kill a process: one in `n`, at any moment of its life.
fn fate(n: u64) -> Option<Duration> {
    (random_below(n) == 0).then(|| Duration::from_micros(random_below(9_000)))
}

/// The texts that were shown, and whether each was marked as shown again.
type Sightings = Mutex<Vec<(String, bool)>>;

/// Notes the messages in a hook's output.
fn note_context(said: &str, seen: &Sightings) {
    let Ok(answer) = serde_json::from_str::<Value>(said) else { return };
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    let mut again = false;
    for line in text.lines() {
        match line.strip_prefix("> ") {
            Some(text) => seen.lock().unwrap().push((text.to_owned(), again)),
            // A line about the sender may come between the heading and the text.
            None if line.starts_with("Message #") => again = line.contains("shown again"),
            None => {}
        }
    }
}

/// Notes the messages in the output of `inbox --json`.
fn note_letters(said: &str, seen: &Sightings) {
    let said: Value = serde_json::from_str(said).unwrap_or_default();
    let letters = said["items"].as_array().cloned().unwrap_or_default();
    let noted = letters
        .iter()
        .map(|letter| (letter["text"].as_str().unwrap().to_owned(), letter["again"] == json!(true)));
    seen.lock().unwrap().extend(noted);
}

#[test]
fn every_message_is_found_once_with_senders_and_readers_killed() {
    const SENDERS: usize = 12;
    let each = rounds(170, 1_000);
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    for (session, name) in [("s0", "Raven"), ("s1", "Falcon")] {
        let line = format!("agent join --pid $OTHER --kind claude --session {session} --name {name}");
        assert_eq!(world.run(&line).code, 0);
    }
    let call = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": "Bash" }).to_string();
    let hook = |event: &str| world.consort(["hook", "claude", event]);
    let inbox = |arguments: &[&'static str]| {
        let mut inbox = world.consort(arguments.iter().copied());
        inbox.env("CONSORT_SESSION", "s1");
        inbox
    };

    let acknowledged = Mutex::new(BTreeSet::new());
    let tried = Mutex::new(BTreeSet::new());
    let seen = Sightings::default();
    let is_over = AtomicBool::new(false);
    let killed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let (world, acknowledged, tried) = (&world, &acknowledged, &tried);
                scope.spawn(move || {
                    for n in 0..each {
                        let text = format!("m{sender}-{n}");
                        tried.lock().unwrap().insert(text.clone());
                        let mut send = world.consort(["send", "Falcon", &text]);
                        send.env("CONSORT_SESSION", "s0");
                        let (said, ended) = ran_until(world, &send, fate(5), "");
                        if said.starts_with("Sent message #") {
                            acknowledged.lock().unwrap().insert(text);
                        } else {
                            assert!(!ended, "{text} was refused");
                        }
                    }
                })
            })
            .collect();
        // The session works: its hooks run, and beside them `inbox --wait`.
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let event = if random_below(2) == 0 { "PreToolUse" } else { "Stop" };
                for event in ["PostToolUse", event] {
                    let (said, ended) = ran_until(&world, &hook(event), fate(3), &call);
                    killed.fetch_add(usize::from(!ended), Ordering::Relaxed);
                    note_context(&said, &seen);
                }
            }
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let wait = inbox(&["inbox", "--wait", "--timeout", "1s", "--json"]);
                note_letters(&ran_until(&world, &wait, fate(3), "").0, &seen);
            }
        });
        for sender in senders {
            sender.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    // Reads the remaining messages, with no process killed.
    for _ in 0..SENDERS * each {
        let before = seen.lock().unwrap().len();
        note_context(&ran_until(&world, &hook("PostToolUse"), None, &call).0, &seen);
        note_context(&ran_until(&world, &hook("Stop"), None, &call).0, &seen);
        note_letters(&ran_until(&world, &inbox(&["inbox", "--json"]), None, "").0, &seen);
        if seen.lock().unwrap().len() == before {
            break;
        }
    }

    let mut times: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (text, again) in seen.into_inner().unwrap() {
        let (first, repeated) = times.entry(text).or_default();
        *(if again { repeated } else { first }) += 1;
    }
    let (acknowledged, tried) = (acknowledged.into_inner().unwrap(), tried.into_inner().unwrap());
    let lost: Vec<_> = acknowledged.iter().filter(|text| !times.contains_key(*text)).collect();
    assert!(lost.is_empty(), "acknowledged and never shown: {lost:?}");
    let doubled: Vec<_> = times.iter().filter(|(_, (first, _))| *first > 1).collect();
    assert!(doubled.is_empty(), "shown twice without a word: {doubled:?}");
    assert!(times.keys().all(|text| tried.contains(text)), "something nobody sent");
    // The test proves nothing unless enough processes were killed in time.
    let killed = killed.into_inner();
    assert!(acknowledged.len() < tried.len() && killed > 10, "{} {killed}", acknowledged.len());

    // No letter is left, and the tables are what the journal says.
    let verify: Value = serde_json::from_str(&world.run("journal verify --json").stdout).unwrap();
    for check in ["missing", "differences", "integrity", "unknown"] {
        assert_eq!(verify["journal"][check], json!([]), "{check}");
    }
    let left = world.ran(&mut inbox(&["inbox", "--peek", "--json"])).stdout;
    assert!(left.contains("\"items\":[]"), "{left}");
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    assert!(who["items"].as_array().unwrap().iter().all(|agent| agent["unread"] == 0), "{who}");
}

/// Two agents write to each other while both are being renamed: every message
/// reaches the session that it was meant for.
#[test]
fn mail_follows_a_session_through_its_names() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    for session in ["s0", "s1"] {
        world.run(&format!("agent join --pid $OTHER --kind claude --session {session} --name {session}-0"));
    }
    let as_session = |session: &str, line: &[&str]| {
        let mut command = world.consort(line.iter().copied());
        world.ran(command.env("CONSORT_SESSION", session))
    };
    let sent: [AtomicU64; 2] = Default::default();
    std::thread::scope(|scope| {
        for me in 0..2usize {
            let (as_session, sent) = (&as_session, &sent);
            let (session, other) = (format!("s{me}"), format!("s{}", 1 - me));
            scope.spawn(move || {
                for n in 1..40 {
                    assert_eq!(as_session(&session, &["agent", "rename", &format!("{session}-{n}")]).code, 0);
                    let who: Value =
                        serde_json::from_str(&as_session(&session, &["who", "--json"]).stdout).unwrap();
                    let agents = who["items"].as_array().unwrap().iter();
                    let mut name =
                        agents.filter(|agent| agent["you"] == json!(false)).map(|agent| &agent["name"]);
                    let to = name.next_back().unwrap().as_str().unwrap();
                    // If the other agent was renamed meanwhile, the message is refused.
                    let text = format!("{session} to {other}");
                    if as_session(&session, &["send", to, &text]).code == 0 {
                        sent[me].fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    for me in 0..2usize {
        let (session, other) = (format!("s{me}"), format!("s{}", 1 - me));
        let letters: Value =
            serde_json::from_str(&as_session(&session, &["inbox", "--json"]).stdout).unwrap();
        let letters = letters["items"].as_array().unwrap();
        assert_eq!(letters.len() as u64, sent[1 - me].load(Ordering::Relaxed));
        assert!(letters.iter().all(|letter| letter["text"] == json!(format!("{other} to {session}"))));
    }
    assert!(sent.iter().all(|sent| sent.load(Ordering::Relaxed) > 0), "{sent:?}");
}

/// A broadcast reaches the agents that are present, and no others, while others come
/// and go.
#[test]
fn a_broadcast_reaches_who_is_there() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    for n in 0..4 {
        world.run(&format!("agent join --pid $OTHER --kind claude --session stays{n} --name Stays{n}"));
    }
    let reached = Mutex::new(BTreeMap::<String, Vec<i64>>::new());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let mut agent = world.command("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
                world.run(&format!(
                    "agent join --pid {} --kind claude --session goes{n} --name Goes{n}",
                    agent.id()
                ));
                agent.kill().unwrap();
                agent.wait().unwrap();
            }
        });
        for _ in 0..60 {
            let ran = world.run("send all --json hello");
            let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
            let names =
                outcome["message"]["to"].as_array().unwrap().iter().map(|to| to["name"].as_str().unwrap());
            for name in names {
                let number = outcome["message"]["number"].as_i64().unwrap();
                reached.lock().unwrap().entry(name.to_owned()).or_default().push(number);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let reached = reached.into_inner().unwrap();
    for n in 0..4 {
        assert_eq!(reached[&format!("Stays{n}")].len(), 60);
        let mut inbox = world.consort(["inbox", "--json"]);
        inbox.env("CONSORT_SESSION", format!("stays{n}"));
        let letters: Value = serde_json::from_str(&world.ran(&mut inbox).stdout).unwrap();
        let letters = letters["items"].as_array().unwrap();
        let numbers: Vec<i64> = letters.iter().map(|letter| letter["number"].as_i64().unwrap()).collect();
        assert_eq!(numbers, reached[&format!("Stays{n}")]);
    }
    assert_eq!(world.run("journal verify").code, 0);
}
