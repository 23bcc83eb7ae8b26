//! The program that runs all benchmarks: candidates are interleaved in one run, and reported as
//! ratios to the cost of a process that does nothing.
//!
//! `cargo build --release --workspace && cargo run --release -p consort-bench`

#![expect(clippy::print_stdout, reason = "its output is its purpose")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

mod claims;
mod convergence;
mod disk;
mod knowledge;
mod mcp;
mod messages;
mod panes;
mod runs;
mod screen;
mod served;

use std::fs::File;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use consort_bench::Home;
use consort_bench::Sample;
use consort_bench::at_once;
use consort_bench::drop_from_cache;
use consort_bench::once;
use consort_bench::release;
use consort_bench::sealed;
use consort_core::App;
use consort_core::journal::Actor;
use consort_core::presence::LeaveReason;
use consort_core::text;
use consort_host::Machine;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;

/// The parts that can be measured by themselves.
const PARTS: [&str; 11] = [
    "claims",
    "messages",
    "convergence",
    "mcp",
    "knowledge",
    "served",
    "disk",
    "panes",
    "runs",
    "screen",
    "hooks",
];

fn main() {
    if std::env::args_os().next().is_some_and(|name| Path::new(&name).ends_with(runs::CLI)) {
        return runs::be_a_cli();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, home, sessions] = arguments.as_slice()
        && mode == WORKER
    {
        return work(home.as_ref(), sessions);
    }
    if let [mode, what, home, session] = arguments.as_slice()
        && mode == claims::RACER
    {
        return claims::be_a_racer(what, home.as_ref(), session);
    }
    if let [mode, how] = arguments.as_slice()
        && mode == panes::PROGRAM
    {
        return panes::be_a_pane(how == "draws");
    }
    let is_known = |word: &String| PARTS.iter().chain(&["--quick", "--cpu"]).any(|known| known == word);
    if !arguments.iter().all(is_known) {
        println!("usage: bench [--quick] [--cpu] [{}]", PARTS.join("|"));
        std::process::exit(2);
    }
    ["consort", "floor", "bench"].map(release).iter().for_each(|program| drop_from_cache(program));
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let quick = has("--quick");
    if has("--cpu") {
        consort_bench::measure_processor_time();
        println!("of single processes: processor time, not how long they took\n");
    }
    let rounds = if quick { 60 } else { 1_000 };
    // The parts that are named; else all.
    let is_wanted = |part: &str| has(part) || !PARTS.iter().any(|part| has(part));
    if is_wanted("claims") {
        claims::run(rounds, if quick { 100 } else { 10_000 });
    }
    if is_wanted("messages") {
        messages::run(rounds);
    }
    if is_wanted("convergence") {
        convergence::run(rounds);
    }
    if is_wanted("mcp") {
        mcp::run(rounds.min(300));
    }
    if is_wanted("knowledge") {
        knowledge::run(rounds.min(200), if quick { 20_000 } else { 100_000 });
    }
    if is_wanted("served") {
        served::run(rounds.min(200), if quick { 100 } else { 1_000 });
    }
    if is_wanted("disk") {
        disk::run(if quick { 2_500 } else { 10_000 });
    }
    if is_wanted("panes") {
        panes::run(if quick { 5 } else { 30 });
    }
    if is_wanted("runs") {
        runs::run(rounds, if quick { 20_000 } else { 100_000 });
    }
    if is_wanted("screen") {
        screen::run(rounds.min(100), if quick { 10_000 } else { 100_000 }, if quick { 5 } else { 30 });
    }
    if !is_wanted("hooks") {
        return;
    }
    hooks(rounds, if quick { 20_000 } else { 1_000_000 });
    for processes in [32, 128] {
        writers(processes, if quick { 5 } else { 50 });
    }
}

/// Measures hooks one after the other, interleaved with everything they are compared with.
fn hooks(rounds: usize, many: usize) {
    let small = Home::new(50, 10_000);
    let large = Home::new(50, many);
    let (in_small, in_large) = (small.payload("s7"), large.payload("s7"));
    let crowded = Home::new(200, 200);
    let who = crowded.consort(&["who"]);
    crowded.enter();
    let mut candidates = vec![
        candidate("floor: a process that does nothing", floor(&in_small), &in_small),
        candidate("PreToolUse, 10,000 entries", small.hook("PreToolUse", &in_small), &in_small),
        candidate(&format!("PreToolUse, {many} entries"), large.hook("PreToolUse", &in_large), &in_large),
        candidate("PostToolUse, 10,000 entries", small.hook("PostToolUse", &in_small), &in_small),
        candidate("UserPromptSubmit, 10,000 entries", small.hook("UserPromptSubmit", &in_small), &in_small),
        candidate(
            &format!("UserPromptSubmit, {many} entries"),
            large.hook("UserPromptSubmit", &in_large),
            &in_large,
        ),
        candidate("SessionStart, going on (told of 49)", small.hook("SessionStart", &in_small), &in_small),
        candidate("who, among 200", who, &in_small),
        candidate("python3 -c pass", program("python3", &["-c", "pass"], &in_small), &in_small),
    ];
    // The direct peer, where it is installed: HCOM=/path/to/venv/bin/hcom
    if let Ok(hcom) = std::env::var("HCOM") {
        let mut peer = program(&hcom, &["pre"], &in_small);
        peer.env("HOME", small.dir.path());
        candidates.push(candidate("hcom PreToolUse", peer, &in_small));
    }
    interleaved("hooks", rounds, candidates);
    starts(rounds.min(300));
}

/// Measures the starts and ends of sessions that were never here before, among fifty.
fn starts(rounds: usize) {
    let home = Home::new(50, 10_000);
    let (mut floors, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let payload = home.payload(&format!("new{round}"));
        floors.push(once(&mut floor(&payload)));
        starts.push(once(&mut home.hook("SessionStart", &payload)));
        ends.push(once(&mut home.hook("SessionEnd", &payload)));
    }
    let names = ["floor", "SessionStart of a new session", "its SessionEnd"].map(str::to_owned);
    table(
        &format!("starts, {rounds} rounds, spawn + wait, µs"),
        names.into_iter().zip([floors, starts, ends]),
    );
}

/// A program to measure: its name, its command, and the file of its standard input.
pub(crate) type Candidate = (String, Command, PathBuf);

pub(crate) fn candidate(name: &str, command: Command, stdin: &Path) -> Candidate {
    (name.to_owned(), command, stdin.to_owned())
}

/// Shuffles the order of a round: a program that runs after one with much work finds colder
/// caches, so over the rounds every program runs after every other.
pub(crate) fn shuffle(order: &mut [usize], round: usize) {
    order.sort_by_key(|n| text::stable_hash(format!("{round} {n}").as_bytes()));
}

/// Runs every candidate once in each round, and prints the table. The first is the floor.
pub(crate) fn interleaved(title: &str, rounds: usize, mut candidates: Vec<Candidate>) {
    let mut taken: Vec<Vec<Duration>> = candidates.iter().map(|_| Vec::with_capacity(rounds)).collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    for round in 0..rounds {
        shuffle(&mut order, round);
        for &n in &order {
            let ((_, command, stdin), taken) = (&mut candidates[n], &mut taken[n]);
            // A slow candidate needs fewer rounds for a stable figure.
            if round < 20 || taken[0] < Duration::from_millis(8) {
                command.stdin(File::open(stdin).unwrap());
                taken.push(once(command));
            }
        }
    }
    let names = candidates.into_iter().map(|(name, ..)| name);
    table(&format!("{title}, {rounds} rounds interleaved, spawn + wait, µs"), names.zip(taken));
}

/// Prints durations as medians and ratios to the first row, which is the floor.
pub(crate) fn table(title: &str, rows: impl IntoIterator<Item = (String, Vec<Duration>)>) {
    println!("{title}");
    println!("{:42} {:>8} {:>8} {:>8}", "", "median", "p95", "ratio");
    let mut floor = None;
    for (name, taken) in rows {
        let sample = Sample::new(taken);
        let (median, p95) = (sample.quantile(0.5), sample.quantile(0.95));
        println!("{name:42} {median:8.0} {p95:8.0} {:8.2}", median / *floor.get_or_insert(median));
    }
    println!();
}

/// Runs many processes at once that each end `each` sessions, with one recorded entry per
/// session. First each process records all its entries in one life, as a server
/// does; then every entry has a process of its own, as with hooks.
fn writers(processes: usize, each: usize) {
    let total = processes * each;
    let home = Home::new(2 * total, 0);
    let payloads: Vec<_> = (0..2 * total).map(|n| home.payload(&format!("s{n}"))).collect();
    let before = home.last_seq();
    let (noop, noop_took) = at_once(processes, each, |_, _| floor(&payloads[0]));
    let (lives, lives_took) = at_once(processes, 1, |p, _| {
        let sessions = (p * each..(p + 1) * each).map(|n| format!("s{n}")).collect::<Vec<_>>().join(",");
        let mut worker = Command::new(release("bench"));
        sealed(worker.args([WORKER, home.dir.path().to_str().unwrap(), &sessions]), &payloads[0]);
        worker
    });
    let end = |p: usize, n: usize| home.hook("SessionEnd", &payloads[total + p * each + n]);
    let (hooks, hooks_took) = at_once(processes, each, end);

    println!("{processes} processes × {each} entries");
    let rate = |took: Duration| total as f64 / took.as_secs_f64();
    for (name, took, durations) in [
        ("no-op processes", noop_took, noop),
        ("entries, all of a process's in one life", lives_took, lives),
        ("entries, a process (SessionEnd) each", hooks_took, hooks),
    ] {
        let sample = Sample::new(durations);
        println!(
            "{name:40} {:6.0}/s  {:4.0} %   process p50 {:6.1}  p99 {:6.1}  max {:6.1} ms",
            rate(took),
            100.0 * rate(took) / rate(noop_took),
            sample.quantile(0.5) / 1e3,
            sample.quantile(0.99) / 1e3,
            sample.quantile(1.0) / 1e3,
        );
    }
    let refused = std::fs::read_to_string(home.dir.path().join("hook.log")).unwrap_or_default();
    println!(
        "{} of {} recorded, {} refused, journal {}\n",
        home.last_seq() - before,
        2 * total,
        refused.lines().count(),
        if home.is_sound() { "sound and gap-free" } else { "DAMAGED" },
    );
}

const WORKER: &str = "worker";

/// Ends these sessions, with one verb and one transaction each.
fn work(home: &Path, sessions: &str) {
    let store = Store::new(home.join("consort.db"), StoreUser::Command);
    let mut app = App::new(store, Machine::new(home));
    for session in sessions.split(',') {
        app.leave(&session.into(), LeaveReason::Ended, Actor::Person).unwrap().unwrap();
    }
}

pub(crate) fn floor(stdin: &Path) -> Command {
    program(release("floor").to_str().unwrap(), &[], stdin)
}

fn program(name: &str, arguments: &[&str], stdin: &Path) -> Command {
    let mut command = Command::new(name);
    sealed(command.args(arguments), stdin);
    command
}
