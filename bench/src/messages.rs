//! Benchmarks of messages: the costs of sending, delivering and waiting.

use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::Sample;
use consort_bench::at_once;
use consort_bench::once;
use consort_bench::release;
use consort_bench::sealed;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::Status;

use crate::shuffle;
use crate::table;

pub(crate) fn run(rounds: usize) {
    crowd(128, 20);
    if let Ok(hcom) = std::env::var("HCOM") {
        peer(&hcom, 128, 4);
    }
    one_by_one(rounds);
    full_inbox(rounds.min(100));
    woken(rounds.min(300));
}

fn one_by_one(rounds: usize) {
    let home = Home::new(50, 10_000);
    let (empty, full) = (home.payload("s9"), home.payload("s11"));
    // The sender is working, and its hooks have noted that.
    home.payload("s0");
    home.app().note_activity(&"s0".into(), &ActivityUpdate::of(Status::Working)).unwrap();
    let mut taken: Vec<Vec<Duration>> = vec![Vec::new(); 5];
    let mut order: Vec<usize> = (0..taken.len()).collect();
    for round in 0..rounds {
        let text = format!("message {round}: the login is ready for review");
        for n in 0..20 {
            home.send("s1", "Agent11", &format!("{n}: {text}"));
        }
        shuffle(&mut order, round);
        for which in &order {
            let mut command = match which {
                0 => floor(),
                1 => noop(),
                2 => home.consort(&["send", "Agent7", &text]),
                3 => home.hook("PostToolUse", &empty),
                _ => home.hook("PostToolUse", &full),
            };
            taken[*which].push(once(&mut command));
        }
        // All twenty were delivered; the Stop hook then notes that the model has read them.
        assert!(home.waiting("s11").is_empty());
        once(&mut home.hook("Stop", &full));
    }
    let names = [
        "floor: a process that does nothing",
        "consort, doing nothing",
        "send",
        "PostToolUse, no mail",
        "PostToolUse, delivering 20",
    ];
    let title = format!("messages, {rounds} rounds interleaved, spawn + wait, µs");
    table(&title, names.map(str::to_owned).into_iter().zip(taken));
}

/// Measures the hooks of a session that has a thousand unread messages.
fn full_inbox(rounds: usize) {
    let home = Home::new(50, 10_000);
    let full = home.payload("s11");
    let mut taken: Vec<Vec<Duration>> = vec![Vec::new(); 5];
    for round in 0..rounds {
        for n in home.waiting("s11").len()..1_000 {
            home.send("s1", "Agent11", &format!("{round} {n}: the login is ready for review"));
        }
        taken[0].push(once(&mut floor()));
        // The first hook delivers what fits; the second and the last note that as read.
        for (event, taken) in
            ["PostToolUse", "PreToolUse", "UserPromptSubmit", "Stop"].iter().zip(&mut taken[1..])
        {
            taken.push(once(&mut home.hook(event, &full)));
        }
    }
    let names = ["floor", "PostToolUse", "PreToolUse", "UserPromptSubmit", "Stop"].map(str::to_owned);
    table(&format!("1,000 unread messages, {rounds} rounds, spawn + wait, µs"), names.into_iter().zip(taken));
}

/// Measures the time from the start of `send` to the line that a blocked `inbox --wait` prints.
fn woken(rounds: usize) {
    let home = Home::together(2, 100);
    let (mut floors, mut sends, mut arrivals) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let mut waiter = home.consort(&["inbox", "--wait"]);
        let mut waiter = waiter.env("CONSORT_SESSION", "s1").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(waiter.stdout.take().unwrap());
        while std::fs::read_dir(home.dir.path().join("listeners")).map_or(0, Iterator::count) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        // The waiter has opened its pipe and now looks for mail; wait until it sleeps.
        std::thread::sleep(Duration::from_millis(10));
        floors.push(once(&mut floor()));
        let start = Instant::now();
        let mut send = home.consort(&["send", "Agent1", "wake up"]);
        let mut send = send.env("CONSORT_SESSION", "s0").spawn().unwrap();
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        arrivals.push(start.elapsed());
        send.wait().unwrap();
        sends.push(start.elapsed());
        waiter.wait().unwrap();
    }
    let (floors, sends, arrivals) = (Sample::new(floors), Sample::new(sends), Sample::new(arrivals));
    let ms = |sample: &Sample, share| sample.quantile(share) / 1e3;
    println!("send to a blocked `inbox --wait`, {rounds} rounds, ms: median (p95)");
    println!(
        "  floor {:.2} ({:.2}), send ended {:.2} ({:.2}), printed {:.2} ({:.2})\n",
        ms(&floors, 0.5),
        ms(&floors, 0.95),
        ms(&sends, 0.5),
        ms(&sends, 0.95),
        ms(&arrivals, 0.5),
        ms(&arrivals, 0.95)
    );
}

/// Measures many senders to one inbox, with a process for each message, in turns with as many
/// processes that do nothing.
fn crowd(processes: usize, each: usize) {
    let home = Home::new(50, 1_000);
    let total = processes * each * TURNS;
    println!("{processes} processes × {each} messages to one inbox, {TURNS} times over");
    let mut taken = [(Vec::new(), Duration::ZERO), (Vec::new(), Duration::ZERO)];
    for turn in 0..TURNS {
        let send = |p: usize, n: usize| home.consort(&["send", "Agent1", &format!("{turn} {p} {n}")]);
        for (result, (all, whole)) in
            [at_once(processes, each, |_, _| noop()), at_once(processes, each, send)]
                .into_iter()
                .zip(&mut taken)
        {
            all.extend(result.0);
            *whole += result.1;
        }
    }
    let rate = |took: Duration| total as f64 / took.as_secs_f64();
    let spawned = rate(taken[0].1);
    for (name, (durations, took)) in ["consort, doing nothing", "send"].into_iter().zip(taken) {
        let sample = Sample::new(durations);
        println!(
            "{name:24} {:6.0}/s  {:4.0} %   process p50 {:6.1}  p99 {:6.1}  max {:6.1} ms",
            rate(took),
            100.0 * rate(took) / spawned,
            sample.quantile(0.5) / 1e3,
            sample.quantile(0.99) / 1e3,
            sample.quantile(1.0) / 1e3,
        );
    }
    let letters = home.waiting("s1");
    let texts: BTreeSet<&str> = letters.iter().map(|letter| letter.message.sent.text.as_str()).collect();
    let sound = if home.is_sound() { "sound" } else { "DAMAGED" };
    println!("{} of {total} arrived, {} different, journal {sound}\n", letters.len(), texts.len());
}

/// Measures the same crowd with hcom, if it is installed: HCOM=/path/to/venv/bin/hcom
fn peer(hcom: &str, processes: usize, each: usize) {
    let home = tempfile::tempdir().unwrap();
    let hcom = |arguments: &[&str]| {
        let mut command = alone(Path::new(hcom), arguments);
        command.env("HOME", home.path()).env("HCOM_DIR", home.path().join("hcom"));
        command
    };
    let joined = hcom(&["start"]).stdout(Stdio::piped()).output().unwrap();
    let joined = String::from_utf8_lossy(&joined.stdout).into_owned();
    let Some(name) = joined.split("[hcom:").nth(1).and_then(|rest| rest.split(']').next()) else {
        println!("hcom gave no name: {joined}");
        return;
    };
    let refused = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for p in 0..processes {
            let (hcom, refused) = (&hcom, &refused);
            scope.spawn(move || {
                for n in 0..each {
                    let (to, text) = (format!("@{name}"), format!("{p} {n}"));
                    let sent =
                        hcom(&["send", "--from", "bench", "--quiet", &to, "--", &text]).status().unwrap();
                    refused.fetch_add(usize::from(!sent.success()), Ordering::Relaxed);
                }
            });
        }
    });
    let total = processes * each;
    let rate = total as f64 / start.elapsed().as_secs_f64();
    println!("hcom send, {total} messages {rate:6.0}/s, {} refused\n", refused.into_inner());
}

/// The number of times that a crowd is measured: one measurement is easily off by a tenth.
const TURNS: usize = 6;

fn floor() -> Command {
    alone(&release("floor"), &[])
}

/// Makes a command of `consort` with nothing to do.
fn noop() -> Command {
    alone(&release("consort"), &["hook"])
}

fn alone(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    sealed(command.args(arguments), Path::new("/dev/null"));
    command
}
