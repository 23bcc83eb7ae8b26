//! A test of a long time: sessions come, work, talk and go beside a server, and nothing grows for ever.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use consort_testkit::Sealed;
use consort_testkit::rounds;
use serde_json::json;

use crate::http_server::HttpServer;

/// Most bytes that a session which has come and gone may leave behind: the entries of the journal that
/// say so, and what it has said.
const LEFT_BY_A_SESSION: u64 = 12 << 10;

/// Most bytes by which the server may grow in the second half.
const SERVER_GROWTH: u64 = 2 << 20;

struct Soak {
    world: Sealed,
    server: HttpServer,
    sessions: usize,
}

/// The sizes of everything that could grow.
#[derive(Debug)]
struct Sizes {
    disk: u64,
    /// Without the pages of the program itself, of which more are in memory the more of it has run.
    memory: u64,
    /// At rest: woken by what is recorded, the server opens the store for a moment.
    files: usize,
    listeners: usize,
    /// The sessions that count as present; of an ended one only the trail stays, for a handoff.
    states: usize,
}

impl Soak {
    /// Lets one session come, work on a file, write to the one before, read its mail, and go.
    fn session(&mut self) {
        self.sessions += 1;
        let (me, before) = (format!("soak{}", self.sessions), format!("Soak{}", self.sessions - 1));
        let hook = |event: &str, more: serde_json::Value| {
            let mut call = json!({ "session_id": me, "cwd": self.world.project(), "source": "startup" });
            call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            let mut command = self.world.consort(["hook", "claude", event]);
            command.env("CONSORT_NAME", format!("Soak{}", self.sessions));
            let ran = self.world.ran_with(&mut command, call.to_string().as_bytes());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{event}");
        };
        hook("SessionStart", json!({}));
        hook("UserPromptSubmit", json!({ "prompt": format!("fix the login, part {}", self.sessions) }));
        let path = self.world.project().join(format!("src/part{}.rs", self.sessions % 20));
        let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": path } });
        for event in ["PreToolUse", "PostToolUse", "PreToolUse", "PostToolUse"] {
            hook(event, edit.clone());
        }
        let file = format!("src/part{}.rs", self.sessions % 20);
        assert_eq!(self.world.run_as(Some(&me), &["reserve", &file]).code, 0);
        // The session before is gone already: its name is unknown, and nothing is kept for it.
        assert_ne!(self.world.run_as(Some(&me), &["send", &before, "are you there?"]).code, 0);
        assert_eq!(self.world.run(&format!("send Soak{} go-on", self.sessions)).code, 0);
        hook("Stop", json!({}));
        hook("UserPromptSubmit", json!({ "prompt": "go on" }));
        assert_eq!(self.server.get("who").0, 200);
        hook("SessionEnd", json!({ "reason": "exit" }));
    }

    fn sizes(&self) -> Sizes {
        let process = format!("/proc/{}", self.server.child.id());
        let status = fs::read_to_string(format!("{process}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon")).unwrap();
        let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        let count = |dir: &Path| fs::read_dir(dir).map_or(0, Iterator::count);
        let open_files = || count(Path::new(&format!("{process}/fd")));
        let at_rest = (0..50).map(|_| {
            sleep(Duration::from_millis(20));
            open_files()
        });
        let sessions = fs::read_dir(self.world.data().join("sessions")).unwrap();
        Sizes {
            disk: used(&self.world.data()),
            memory: kilobytes << 10,
            files: at_rest.min().unwrap(),
            listeners: count(&self.world.data().join("listeners")),
            states: sessions.flatten().filter(|session| session.path().join("state").exists()).count(),
        }
    }
}

/// Returns the bytes that a directory takes up on disk.
fn used(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            if path.is_dir() {
                used(&path)
            } else {
                fs::metadata(&path).map_or(0, |file| file.blocks() * 512)
            }
        })
        .sum()
}

#[test]
fn nothing_grows_while_sessions_come_and_go() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.seat();
    let server = HttpServer::start(&world);
    let mut soak = Soak { world, server, sessions: 0 };
    let half = rounds(15, 600);
    (0..half).for_each(|_| soak.session());
    let before = soak.sizes();
    (0..half).for_each(|_| soak.session());
    let after = soak.sizes();
    println!("{half} sessions later: {before:?} {after:?}");
    let left = after.disk.saturating_sub(before.disk) / half as u64;
    assert!(left <= LEFT_BY_A_SESSION, "{left} bytes a session: {before:?} {after:?}");
    assert!(after.memory <= before.memory + SERVER_GROWTH, "{before:?} {after:?}");
    assert!(after.files <= before.files + 2, "{before:?} {after:?}");
    assert_eq!(after.listeners, before.listeners);
    assert_eq!((before.states, after.states), (0, 0));
    assert_eq!(soak.world.run("journal verify").code, 0);
    assert_eq!(soak.world.run("who --json").stdout.matches("\"name\"").count(), 0);
}
