//! Benchmarks of runs: the time that `consort run` adds before its CLI starts, the cost of a long
//! ledger, and that of many supervisors at once. The CLI is this program under another name.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;

use consort_bench::Home;
use consort_bench::Sample;
use consort_bench::once;
use consort_bench::release;
use consort_core::dispatch::Cost;
use consort_core::dispatch::DispatchChange;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunSpec;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::host::Clock as _;
use consort_core::host::MachineProcess;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::EntryId;
use consort_core::journal::NewEntry;
use consort_host::Machine;
use serde_json::json;

use crate::candidate;
use crate::floor;
use crate::interleaved;

/// The name under which this program is an agent CLI.
pub(crate) const CLI: &str = "claude";

/// The number of supervisors at once.
const MANY: usize = 32;

pub(crate) fn run(rounds: usize, ledger_of: usize) {
    until_exec(rounds);
    ledger(rounds, ledger_of);
    side_by_side();
}

/// Reads the clock that two processes share.
#[expect(clippy::disallowed_methods, reason = "two processes are timed")]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap()
}

/// Plays the agent CLI: notes when it began, and works for as many tenths of a second as its prompt says.
pub(crate) fn be_a_cli() {
    let now = since_1970();
    if let Some(home) = std::env::var_os("CONSORT_HOME") {
        let _ = fs::write(Path::new(&home).join("began"), now.as_nanos().to_string());
    }
    let prompt = std::io::read_to_string(std::io::stdin()).unwrap();
    let tell = |event: serde_json::Value| {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{event}");
        let _ = out.flush();
    };
    tell(json!({ "type": "system", "subtype": "init", "session_id": "s", "model": "stub" }));
    for step in 0..prompt.trim().parse().unwrap_or(0) {
        let (id, tool) = (format!("m{step}"), format!("t{step}"));
        tell(json!({ "type": "assistant", "message": { "id": id, "usage": { "input_tokens": 9 },
            "content": [{ "type": "tool_use", "id": tool, "name": "Bash", "input": { "command": "make" } }] } }));
        std::thread::sleep(Duration::from_millis(100));
        tell(json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "tool_use_id": tool, "content": "ok" }] } }));
    }
    tell(json!({ "type": "result", "subtype": "success", "is_error": false, "result": "done" }));
}

/// Makes a command of the agent that this process hosts, with this program as the CLI for runs.
fn consort(home: &Home, arguments: &[&str]) -> Command {
    let bin = home.dir.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let _ = symlink(release("bench"), bin.join(CLI));
    let mut command = home.consort(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("CONSORT_SESSION", "s0");
    command.current_dir(&home.cwd);
    command
}

fn until_exec(rounds: usize) {
    let home = Home::new(1, 1_000);
    let mut run = consort(&home, &["run", "--safety", "suggest", "--cli", CLI, "0"]);
    let began = home.dir.path().join("began");
    let mut one = || {
        let since = since_1970().as_nanos();
        once(&mut run);
        let at: u128 = fs::read_to_string(&began).unwrap().parse().unwrap();
        Duration::from_nanos(at.saturating_sub(since) as u64)
    };
    // The first run also asks for the CLI's help, so it is not measured.
    one();
    let nothing = home.dir.path().join("nothing");
    fs::write(&nothing, "").unwrap();
    let mut idle = floor(&nothing);
    let (mut runs, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..rounds.min(200) {
        runs.push(one());
        floors.push(once(idle.stdin(fs::File::open(&nothing).unwrap())));
    }
    let (runs, floors) = (Sample::new(runs), Sample::new(floors));
    println!(
        "from `consort run` to its CLI's first instruction: median {:.1} ms, p10 {:.1} ms; a process that does nothing: {:.1} ms\n",
        runs.quantile(0.5) / 1e3,
        runs.quantile(0.1) / 1e3,
        floors.quantile(0.5) / 1e3,
    );
}

/// Measures `runs list` and `runs cost`, with many runs and with few.
fn ledger(rounds: usize, many: usize) {
    let (few, large) = (Home::new(1, 100), Home::new(1, 100));
    fill(&few, 100);
    fill(&large, many);
    let nothing = few.dir.path().join("nothing");
    fs::write(&nothing, "").unwrap();
    let mut candidates = vec![candidate("floor: a process that does nothing", floor(&nothing), &nothing)];
    for (words, name) in [(&["runs", "list"][..], "runs list"), (&["runs", "cost"], "runs cost")] {
        candidates.push(candidate(&format!("{name}, 100 runs"), consort(&few, words), &nothing));
        candidates.push(candidate(&format!("{name}, {many} runs"), consort(&large, words), &nothing));
    }
    interleaved("a ledger of runs", rounds.min(200), candidates);
}

/// Records runs that have ended, one for each of the last minutes.
fn fill(home: &Home, count: usize) {
    let machine = Machine::new(home.dir.path());
    let mut app = home.app();
    let now = machine.now();
    let tx = app.engine_mut();
    let mut tx = tx.write().unwrap();
    for n in 0..count {
        let at = now.plus(-((count - n) as i64) * 60_000);
        let spec = RunSpec {
            title: format!("fix the login, part {n}"),
            role: "dev".into(),
            cli: CLI.into(),
            model: Some("opus".into()),
            safety: Safety::AutoEdit,
            name: format!("Agent{n}").into(),
            cwd: home.cwd.clone(),
            has_worktree: false,
            timeout_s: Some(3_600),
            reserved: Cost(500_000),
            cap: None,
            prompt_hash: format!("{n:064}"),
            depth: 0,
            parent: None,
            batch: None,
            follows: None,
            takes: None,
            reviews: None,
        };
        let usage = Usage {
            input: Some(1_000),
            output: Some(300),
            cost: Some(Cost(20_000)),
            turns: Some(4),
            ..Usage::default()
        };
        let state = if n % 9 == 0 { RunState::Error } else { RunState::Done };
        let mut entry = NewEntry {
            id: EntryId::new(at, machine.random()),
            at,
            project: Some("example.com/acme/shop".into()),
            actor: Actor::Person,
            changes: vec![Change::Dispatch(DispatchChange::Asked {
                spec: Box::new(spec),
                by: Actor::Person,
                owner: MachineProcess::default(),
            })],
        };
        let (run, number) = (entry.change_id(0), n as i64 + 1);
        let end = RunEnd { usage, result_hash: Some(format!("{n:064}")), ..RunEnd::bare(state) };
        let owner = MachineProcess::default();
        entry.changes.push(Change::Dispatch(DispatchChange::Started { run, number, owner }));
        entry.changes.push(Change::Dispatch(DispatchChange::Ended { run, number, end: Box::new(end) }));
        tx.record(&entry).unwrap();
    }
    tx.commit().unwrap();
}

/// Measures the supervisors while their CLIs work, and the process that waits for them.
fn side_by_side() {
    let home = Home::new(1, 1_000);
    let tasks = vec!["200"; MANY];
    let most = MANY.to_string();
    let common =
        ["runs", "batch", "--safety", "suggest", "--cli", CLI, "--stagger", "0ms", "--concurrency", &most];
    let mut batch = consort(&home, &[&common[..], &tasks].concat()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(5));
    let (before, since) = (ours(home.dir.path()), Instant::now());
    std::thread::sleep(Duration::from_secs(10));
    let (after, took) = (ours(home.dir.path()), since.elapsed());
    let supervisors = after.values().filter(|one| one.is_supervisor).count();
    let spent = |is_supervisor: bool| -> f64 {
        let all = after.iter().filter(|(_, one)| one.is_supervisor == is_supervisor);
        let more = all.map(|(pid, one)| {
            one.time.saturating_sub(before.get(pid).map_or(Duration::ZERO, |one| one.time))
        });
        more.sum::<Duration>().as_secs_f64() / took.as_secs_f64() * 100.0
    };
    let memory = after.values().filter(|one| one.is_supervisor).map(|one| one.anonymous).max();
    println!(
        "{supervisors} supervisors of CLIs that tell ten things a second: {:.1} % of a core, and {:.1} % whoever waits for them; at most {} kB of anonymous memory each\n",
        spent(true),
        spent(false),
        memory.unwrap_or_default(),
    );
    assert!(batch.wait().unwrap().success());
}

/// A `consort` process of a home.
struct Ours {
    is_supervisor: bool,
    /// The time for which the process had a processor.
    time: Duration,
    anonymous: u64,
}

/// Finds the processes of `consort runs` that work in a home, by id.
fn ours(home: &Path) -> BTreeMap<u32, Ours> {
    let needle = format!("CONSORT_HOME={}", home.display());
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
        let has =
            |text: &[u8], wanted: &str| text.split(|byte| *byte == 0).any(|part| part == wanted.as_bytes());
        let line = read("cmdline");
        if !has(&read("environ"), &needle) || !has(&line, "runs") {
            continue;
        }
        let tasks = fs::read_dir(entry.path().join("task")).into_iter().flatten().flatten();
        let time = tasks.filter_map(|task| nanoseconds(task.path().join("schedstat"))).sum();
        let memory = String::from_utf8_lossy(&read("smaps_rollup")).into_owned();
        let anonymous = memory.lines().find_map(|line| line.strip_prefix("Anonymous:"));
        let anonymous = anonymous.and_then(|kilobytes| kilobytes.trim().trim_end_matches(" kB").parse().ok());
        let one = Ours {
            is_supervisor: has(&line, "supervise"),
            time: Duration::from_nanos(time),
            anonymous: anonymous.unwrap_or_default(),
        };
        found.insert(pid, one);
    }
    found
}

fn nanoseconds(file: PathBuf) -> Option<u64> {
    fs::read_to_string(file).ok()?.split(' ').next()?.parse().ok()
}
