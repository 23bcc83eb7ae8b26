//! Tests that a hook ends within two seconds, whatever hangs, and never lets a reserved
//! write through because of that.

use std::fs;
use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

/// Longest time of a hook: two seconds, and what a busy machine adds.
const LONGEST: Duration = Duration::from_millis(8_000);

/// Makes a world in which Falcon has reserved `src/auth/`.
fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    world
}

fn write_of(world: &Sealed, path: &str) -> Value {
    let path = world.project().join(path);
    json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Edit", "tool_input": { "file_path": path } })
}

fn start(world: &Sealed, event: &str) -> Child {
    let mut hook = world.consort(["hook", "claude", event]);
    hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a hook; returns its output and the time that it took.
fn end(mut hook: Child, since: Instant) -> (String, Duration) {
    let status = hook.wait().unwrap();
    let took = since.elapsed();
    assert_eq!((status.code(), status.signal()), (Some(0), None));
    assert!(took < LONGEST, "{took:?}");
    let (mut said, mut noise) = (String::new(), String::new());
    let _ = hook.stdout.take().unwrap().read_to_string(&mut said);
    hook.stderr.take().unwrap().read_to_string(&mut noise).unwrap();
    assert_eq!(noise, "");
    (said, took)
}

fn is_refused(world: &Sealed, path: &str) -> bool {
    let since = Instant::now();
    let mut hook = start(world, "PreToolUse");
    hook.stdin.take().unwrap().write_all(write_of(world, path).to_string().as_bytes()).unwrap();
    let (said, _) = end(hook, since);
    said.contains("\"permissionDecision\":\"deny\"")
}

fn mkfifo(path: PathBuf) {
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn an_open_input_holds_up_nobody() {
    let world = world();
    // Without a payload the hook waits until its time is up; with one it does its work.
    let since = Instant::now();
    let mut hook = start(&world, "PreToolUse");
    let input = hook.stdin.take().unwrap();
    let (said, took) = end(hook, since);
    assert!(said.is_empty() && took >= Duration::from_millis(1_500), "{said} {took:?}");
    drop(input);

    let since = Instant::now();
    let mut hook = start(&world, "PreToolUse");
    let mut input = hook.stdin.take().unwrap();
    input.write_all(write_of(&world, "src/auth/login.rs").to_string().as_bytes()).unwrap();
    let (said, _) = end(hook, since);
    assert!(said.contains("reserved by Falcon"), "{said}");
}

#[test]
fn a_full_output_holds_up_nobody() {
    let world = world();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    // A pipe holds 64 KiB by default; a thread waits to write the rest.
    let full = std::thread::spawn(move || filler.write_all(&vec![b' '; 1 << 20]).is_ok());
    std::thread::sleep(Duration::from_millis(200));
    let since = Instant::now();
    // The command keeps its end of the pipe until it is dropped.
    let mut hook = {
        let mut hook = world.consort(["hook", "claude", "PreToolUse"]);
        hook.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap()
    };
    hook.stdin.take().unwrap().write_all(write_of(&world, "src/auth/a.rs").to_string().as_bytes()).unwrap();
    let status = hook.wait().unwrap();
    assert!(status.success() && since.elapsed() < LONGEST);
    drop(hook);
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert!(full.join().unwrap());
}

#[test]
fn pipes_and_directories_in_place_of_our_files_let_nothing_through() {
    let world = world();
    for file in ["sessions/s2/state", "sessions/s2/log", "slots/writers", "published/store", "hook.log"] {
        let _ = fs::remove_file(world.data().join(file));
        mkfifo(world.data().join(file));
        assert!(is_refused(&world, "src/auth/login.rs"), "{file}");
        assert!(!is_refused(&world, "src/other.rs"), "{file}");
        // A hook may have replaced the pipe by a file.
        let _ = fs::remove_file(world.data().join(file));
        fs::create_dir(world.data().join(file)).unwrap();
        assert!(is_refused(&world, "src/auth/login.rs"), "{file}");
        let _ = fs::remove_dir(world.data().join(file));
    }
}

#[test]
fn a_store_that_stays_busy_lets_nothing_through() {
    let world = world();
    // Another process locks the database exclusively and keeps it locked.
    let lock = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],isolation_level=None)\n\
                c.execute('PRAGMA locking_mode=EXCLUSIVE')\nc.execute('BEGIN EXCLUSIVE')\n\
                print('locked',flush=True)\nsys.stdin.read()";
    let mut python = world.command("python3");
    python.args(["-c", lock]).arg(world.data().join("consort.db"));
    let mut holder = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    holder.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    // The published lines alone suffice for the refusal, without an answer of the store.
    let since = Instant::now();
    let mut hook = start(&world, "PreToolUse");
    hook.stdin.take().unwrap().write_all(write_of(&world, "src/auth/a.rs").to_string().as_bytes()).unwrap();
    let (said, _) = end(hook, since);
    assert!(said.contains("is reserved by Falcon"), "{said}");
    assert!(!is_refused(&world, "README.md"));
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert!(is_refused(&world, "src/auth/a.rs"));
}

#[test]
fn the_guard_needs_no_room_on_the_disk() {
    let world = world();
    let script = "ulimit -f 0; exec \"$0\" hook claude PreToolUse";
    let mut hook = world.command("sh");
    hook.args(["-c", script, env!("CARGO_BIN_EXE_consort")]);
    let ran = world.ran_with(&mut hook, write_of(&world, "src/auth/a.rs").to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("reserved by Falcon"), "{ran}");
}

#[test]
fn a_crash_is_silent_and_exits_with_zero() {
    let world = world();
    for signal in ["SEGV", "ABRT", "BUS", "ALRM", "ILL", "FPE", "SYS", "TRAP", "XCPU"] {
        let since = Instant::now();
        let hook = start(&world, "PreToolUse");
        // By now the hook waits for its input.
        std::thread::sleep(Duration::from_millis(100));
        let kill = Command::new("kill").args(["-s", signal, &hook.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let (said, _) = end(hook, since);
        assert_eq!(said, "", "{signal}");
    }
    // Limits: too little memory to read the payload, and too little stack.
    let payload = json!({ "session_id": "s2", "cwd": "/", "prompt": "x".repeat(60 << 20) }).to_string();
    for limit in ["-v 58000", "-s 24"] {
        let mut hook = world.command("sh");
        let script = format!("ulimit {limit}; exec \"$0\" hook claude PreToolUse");
        hook.args(["-c", &script, env!("CARGO_BIN_EXE_consort")]);
        let ran = world.ran_with(&mut hook, payload.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.as_str()), (0, "", ""), "{limit}");
    }
}

#[test]
fn what_nobody_can_have_read_stays_unread() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["send", "Raven", "are you there?"]).code, 0);
    let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Bash", "tool_input": {} });
    for output in [">&-", ">/dev/full"] {
        let mut hook = world.command("sh");
        hook.args([
            "-c",
            &format!("exec \"$0\" hook claude PostToolUse {output}"),
            env!("CARGO_BIN_EXE_consort"),
        ]);
        assert_eq!(world.ran_with(&mut hook, call.to_string().as_bytes()).code, 0);
        // The model's next tool call would prove that it has read what it was shown.
        std::thread::sleep(Duration::from_millis(150));
        assert_eq!(world.hook("PreToolUse", &call).code, 0);
        let told = world.hook_text("s2", "PostToolUse", &json!({})).unwrap_or_default();
        assert!(told.contains("are you there?"), "{output}: {told}");
        world.run_as(Some("s1"), &["send", "Raven", "are you there?"]);
    }
}

#[test]
fn long_commands_and_broken_text_are_guarded() {
    let world = world();
    let told = |command: &str| {
        let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Bash",
                           "tool_input": { "command": command } });
        world.hook("PreToolUse", &call).stdout
    };
    let long = format!("echo {} > /dev/null; tee src/auth/login.rs", "x".repeat(40_000));
    assert!(told(&long).contains("reserved by Falcon"));
    let document = format!("cat > src/auth/login.rs <<'EOF'\n{}\nEOF\n", "let x = \"$(`{\";\n".repeat(8_000));
    assert!(told(&document).contains("reserved by Falcon"));
    let raw = r#"{"session_id":"s2","cwd":"$CWD","tool_name":"Bash","tool_input":{"command":"echo \ud800 > src/auth/x"}}"#;
    let raw = raw.replace("$CWD", world.project().to_str().unwrap());
    let ran = world.ran_with(&mut world.consort(["hook", "claude", "PreToolUse"]), raw.as_bytes());
    assert!(ran.stdout.contains("reserved by Falcon"), "{ran}");
}
