//! Tests how much work a hook does, by counters that noise cannot touch. Each limit is a
//! measured figure with a margin.
//!
//! These need the release build (`cargo build --release --workspace`), strace
//! and valgrind; `scripts/test` brings all three.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::path::Path;
use std::process::Command;

use consort_bench::Home;
use consort_bench::release;
use consort_bench::under;

/// Most page faults of a hook that opens no database.
const PAGE_FAULTS: u64 = 77 * 13 / 10;
/// Most system calls of a hook that opens no database. Some look at each part of a path, to
/// find where the file really is; twenty set the deadline timer and find the session.
const SYSCALLS: usize = 67 * 12 / 10;
/// Most instructions beyond those of a process that does nothing and starts as Rust programs start.
/// The hook does not start so, which saves forty thousand under valgrind, where there
/// is more memory to read about.
const INSTRUCTIONS: i64 = 25_000 * 12 / 10;

/// Most page faults of a hook that opens the database.
const PAGE_FAULTS_WITH_STORE: u64 = 131 * 13 / 10;
/// Most system calls of a hook that opens the database. Eleven of them file away the session's trail.
const SYSCALLS_WITH_STORE: usize = 155 * 12 / 10;
const INSTRUCTIONS_WITH_STORE: u64 = 1_080_000 * 12 / 10;

#[test]
fn a_pre_tool_use_hook_does_little() {
    let home = Home::new(50, 10_000);
    let payload = home.payload("s7");
    let hook = || home.hook("PreToolUse", &payload);
    let calls = syscalls(&hook(), &payload);
    assert!(calls.len() <= SYSCALLS, "{} syscalls:\n{}", calls.len(), calls.join("\n"));
    assert!(!calls.iter().any(|call| call.contains("sync(")), "{calls:#?}");
    // The place at which the loader puts the stack changes the count by one or two.
    let faults = (0..7).map(|_| page_faults(hook())).min().unwrap_or_default();
    assert!(faults <= PAGE_FAULTS, "{faults} page faults");
    let floor = instructions(&Command::new(release("floor")), &payload);
    let instructions = instructions(&hook(), &payload).cast_signed() - floor.cast_signed();
    assert!(instructions <= INSTRUCTIONS, "{instructions} instructions more than the floor's {floor}");
}

/// The end of a session is one entry in the store.
#[test]
fn a_hook_that_records_an_entry_does_not_do_much() {
    let home = Home::new(50, 10_000);
    // Another process has the store open, as is usual where two agents are at work.
    let _holder = Holder::open(&home);
    let payload = home.payload("s1");
    let calls = syscalls(&home.hook("SessionEnd", &payload), &payload);
    assert!(calls.len() <= SYSCALLS_WITH_STORE, "{} syscalls:\n{}", calls.len(), calls.join("\n"));
    assert!(!calls.iter().any(|call| call.contains("sync(")), "{calls:#?}");
    let faults = page_faults(home.hook("SessionEnd", &home.payload("s2")));
    assert!(faults <= PAGE_FAULTS_WITH_STORE, "{faults} page faults");
    let payload = home.payload("s3");
    let instructions = instructions(&home.hook("SessionEnd", &payload), &payload);
    assert!(instructions <= INSTRUCTIONS_WITH_STORE, "{instructions} instructions");
}

/// The cost of a hook does not grow with the journal.
#[test]
fn history_costs_a_hook_nothing() {
    let count = |entries| {
        let home = Home::new(50, entries);
        let payload = home.payload("s7");
        let hook = |event: &str| instructions(&home.hook(event, &payload), &payload);
        [hook("PreToolUse"), hook("UserPromptSubmit"), hook("SessionEnd")]
    };
    let (few, many) = (count(1_000), count(100_000));
    for (few, many) in few.into_iter().zip(many) {
        assert!(many * 10 <= few * 12, "{many} instructions with a long journal, {few} with a short one");
    }
}

struct Holder {
    process: std::process::Child,
}

impl Holder {
    fn open(home: &Home) -> Self {
        use std::io::BufRead as _;
        let mut follow = Command::new(release("consort"));
        follow
            .args(["journal", "tail", "--follow", "-n", "1"])
            .env_clear()
            .env("CONSORT_HOME", home.dir.path());
        let mut process = follow.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn syscalls(command: &Command, stdin: &Path) -> Vec<String> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let arguments = ["-f", "-o", log.path().to_str().unwrap()];
    assert!(under("strace", &arguments, command, stdin).status().unwrap().success());
    let text = std::fs::read_to_string(log.path()).unwrap();
    text.lines().filter(|line| line.contains('(')).map(str::to_owned).collect()
}

fn instructions(command: &Command, stdin: &Path) -> u64 {
    let arguments = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let mut valgrind = under("valgrind", &arguments, command, stdin);
    let output = valgrind.stderr(std::process::Stdio::piped()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().find_map(|line| line.split("Collected : ").nth(1));
    line.unwrap_or_else(|| panic!("{text}")).trim().parse().unwrap()
}

/// Reads the page faults of a process after its end and before it is reaped.
fn page_faults(mut command: Command) -> u64 {
    use rustix::process::WaitId;
    use rustix::process::WaitIdOptions;
    let mut child = command.spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    child.wait().unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    fields[7].parse().unwrap()
}
