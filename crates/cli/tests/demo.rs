//! Tests of `consort demo`, from its first scene to the removal of its files.

use std::fs;

use consort_testkit::Sealed;
use serde_json::Value;

/// Lists the files that the demo has left in the directory for temporary files.
fn left(world: &Sealed) -> Vec<String> {
    let entries = fs::read_dir(world.path().join("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    fs::create_dir(world.path().join("tmp")).unwrap();
    world
}

#[test]
fn it_shows_what_happens_and_leaves_nothing() {
    let world = world();
    let mut demo = world.consort(["demo"]);
    let ran = world.ran(demo.env("TMPDIR", world.path().join("tmp")));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    for shown in [
        "   │ - Falcon (claude)",
        "   │ > I am changing how sessions end.",
        "   │ [consort] Blocked: src/session.rs is reserved by Falcon",
        "   │ [consort] Falcon is deepening in cookie, session",
        "   │      consort answer 1 allow",
        "it is yours to decide: nudge, wait, close or take over",
        "   │ decision \"session lifetime\": One hour: tablets sleep.",
        "4 agents, 1 message heard, 1 write refused, 1 shielded, 1 collision foreseen, 1\nquestion answered, 1 stall triaged, 1 note reused.\n",
    ] {
        assert!(ran.stdout.contains(shown), "{shown}\n{ran}");
    }
    assert!(!ran.stdout.contains("consort-demo-"), "{ran}");
    assert_eq!(left(&world), [""; 0]);
    // The person's own store is not touched.
    assert!(!world.data().join("consort.db").exists());
}

#[test]
fn it_counts_for_programs() {
    let world = world();
    let mut demo = world.consort(["demo", "--json"]);
    let ran = world.ran(demo.env("TMPDIR", world.path().join("tmp")));
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    for (what, count) in told["demo"].as_object().unwrap() {
        assert!(count.as_u64() > Some(0), "{what}: {ran}");
    }
    assert_eq!(left(&world), [""; 0]);
}

/// The person ends the demo early with Ctrl-C: it removes its directory and ends its processes.
#[test]
fn it_can_be_ended_at_any_moment() {
    let world = world();
    for milliseconds in [0, 40, 90, 160, 250] {
        let mut demo = world.consort(["demo"]);
        let mut demo = demo.env("TMPDIR", world.path().join("tmp")).spawn().unwrap();
        // The demo may be anywhere by then; nothing must be left in any case.
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let pid = rustix::process::Pid::from_raw(demo.id() as i32).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        demo.wait().unwrap();
        assert_eq!(left(&world), [""; 0], "after {milliseconds} ms");
    }
}
