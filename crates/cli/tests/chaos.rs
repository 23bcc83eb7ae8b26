//! A test of everything at once: forty agents at work while processes are killed and
//! stopped, the disk is full or read-only, the files beside the store are damaged,
//! and an older store is put back.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::RwLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;
use consort_testkit::mounts;
use consort_testkit::random_below;
use consort_testkit::rounds;
use serde_json::Value;
use serde_json::json;

const WORKERS: usize = 40;

/// Longest time of a hook: its two seconds, and what forty processes on a few cores add.
const LONGEST: Duration = Duration::from_secs(8);

/// The messages that are known from the output of processes.
#[derive(Clone, Default)]
struct Ledger {
    /// Messages that were acknowledged, with their recipients.
    sent: BTreeMap<String, usize>,
    /// Messages whose sender was told that they were not sent.
    refused: BTreeSet<String>,
    /// Messages that a worker was shown, and whether they were marked as shown again.
    shown: Vec<(usize, String, bool)>,
}

struct Chaos {
    world: Sealed,
    ledger: Mutex<Ledger>,
    /// Files whose reservation was acknowledged, with their holders.
    held: Mutex<BTreeMap<usize, usize>>,
    /// A lock that workers hold for reading while a process of theirs runs; the holder of the
    /// write lock knows that none runs.
    peace: RwLock<()>,
    is_over: AtomicBool,
    hooks: Mutex<Vec<Duration>>,
    refusals: AtomicUsize,
    killed: AtomicUsize,
    stopped: AtomicUsize,
}

/// The end of a process.
struct Ended {
    said: String,
    code: Option<i32>,
    /// Whether the process was killed or stopped.
    was_hurt: bool,
    took: Duration,
}

impl Chaos {
    fn new() -> Self {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        mounts::memory(&world.home(), 32);
        world.git_init();
        Self {
            world,
            ledger: Mutex::default(),
            held: Mutex::default(),
            peace: RwLock::default(),
            is_over: AtomicBool::new(false),
            hooks: Mutex::default(),
            refusals: AtomicUsize::new(0),
            killed: AtomicUsize::new(0),
            stopped: AtomicUsize::new(0),
        }
    }

    /// Runs a process of a worker to its end, and may kill or stop it on the way.
    fn run(&self, worker: usize, arguments: &[&str], input: &str, is_safe: bool) -> Ended {
        let mut command = self.world.command(self.world.program());
        command.args(arguments).env("CONSORT_SESSION", format!("s{worker}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let since = Instant::now();
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let fate = if is_safe { u64::MAX } else { random_below(10) };
        if fate < 2 {
            std::thread::sleep(Duration::from_micros(random_below(30_000)));
        }
        match fate {
            0 => {
                let _ = child.kill();
                self.killed.fetch_add(1, Ordering::Relaxed);
            }
            1 => {
                signal("STOP", child.id());
                std::thread::sleep(Duration::from_millis(random_below(2_500)));
                signal("CONT", child.id());
                self.stopped.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        Ended { said, code, was_hurt: fate < 2, took: since.elapsed() }
    }

    /// Runs a hook, which must end in time and with 0, whatever else happens.
    fn hook(&self, worker: usize, event: &str, path: Option<&str>, is_safe: bool) -> Ended {
        let path = path.map(|path| self.world.project().join(path));
        let call = json!({ "session_id": format!("s{worker}"), "cwd": self.world.project(),
            "tool_name": if path.is_some() { "Edit" } else { "Bash" }, "tool_input": { "file_path": path, "command": "ls" } });
        let ended = self.run(worker, &["hook", "claude", event], &call.to_string(), is_safe);
        if !ended.was_hurt {
            assert_eq!(ended.code, Some(0), "{event}");
            assert!(ended.took < LONGEST, "{event} took {:?}", ended.took);
            self.hooks.lock().unwrap().push(ended.took);
        }
        ended
    }

    /// Does one random thing as an agent.
    fn act(&self, me: usize, round: usize) {
        let _here = self.peace.read().unwrap();
        match random_below(6) {
            0 => self.send(me, &format!("m{me}-{round}")),
            1 => {
                let is_letter = random_below(3) == 0;
                let ended = match is_letter {
                    true => self.run(me, &["inbox", "--json"], "", false),
                    false => self.hook(
                        me,
                        ["PostToolUse", "Stop", "UserPromptSubmit"][random_below(3) as usize],
                        None,
                        false,
                    ),
                };
                self.note(me, &ended.said);
            }
            // A write to a path that the keeper holds is refused.
            2 | 3 => {
                let ended = self.hook(me, "PreToolUse", Some("kept/file.rs"), false);
                assert!(ended.was_hurt || ended.said.contains("\"deny\""), "let through: {:?}", ended.said);
                self.refusals.fetch_add(usize::from(!ended.was_hurt), Ordering::Relaxed);
                self.note(me, &ended.said);
            }
            // A write to a free path passes.
            4 => {
                let ended = self.hook(me, "PreToolUse", Some("free.rs"), false);
                assert!(!ended.said.contains("\"deny\""), "held up: {:?}", ended.said);
                self.note(me, &ended.said);
            }
            _ => self.take_and_give_back(me),
        }
    }

    fn send(&self, me: usize, text: &str) {
        let to = random_below(WORKERS as u64) as usize;
        let ended = self.run(me, &["send", &format!("Agent{to}"), text], "", false);
        let mut ledger = self.ledger.lock().unwrap();
        if ended.said.starts_with("Sent message #") {
            ledger.sent.insert(text.to_owned(), to);
        } else if ended.code.is_some() {
            assert!(ended.code != Some(0) && ended.code != Some(101), "{:?} {:?}", ended.code, ended.said);
            ledger.refused.insert(text.to_owned());
        }
    }

    /// Reserves one of ten files and releases it. If the reservation is acknowledged, nobody else has one.
    fn take_and_give_back(&self, me: usize) {
        let file = random_below(10) as usize;
        let name = format!("shared/file{file}.rs");
        let ended = self.run(me, &["reserve", &name], "", false);
        if ended.said.starts_with("Reserved") {
            let before = self.held.lock().unwrap().insert(file, me);
            assert!(before.is_none_or(|before| before == me), "{name}: s{before:?} had it when s{me} got it");
        }
        // Others may get the file as soon as the release starts.
        let mut held = self.held.lock().unwrap();
        if held.get(&file) == Some(&me) {
            held.remove(&file);
        }
        drop(held);
        self.run(me, &["release", &name], "", false);
    }

    /// Notes the messages in a process's output.
    fn note(&self, me: usize, said: &str) {
        let mut ledger = self.ledger.lock().unwrap();
        let mut see = |text: &str, again| ledger.shown.push((me, text.to_owned(), again));
        match serde_json::from_str::<Value>(said) {
            Ok(said) if said["items"].is_array() => {
                for letter in said["items"].as_array().unwrap() {
                    see(letter["text"].as_str().unwrap(), letter["again"] == json!(true));
                }
            }
            Ok(answer) => {
                let context = &answer["hookSpecificOutput"]["additionalContext"];
                let text = context.as_str().or(answer["reason"].as_str()).unwrap_or_default();
                let mut again = false;
                for line in text.lines() {
                    match line.strip_prefix("> ") {
                        Some(text) => see(text, again),
                        // A line about the sender may come between the heading and the text.
                        None if line.starts_with("Message #") => again = line.contains("shown again"),
                        None => {}
                    }
                }
            }
            Err(_) => {}
        }
    }

    /// Makes trouble for the machine, one kind after the other.
    fn trouble(&self) {
        let (home, data) = (self.world.home(), self.world.data());
        let kept = self.world.path().join("backup");
        let mut backup = None;
        let mut turn = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(300 + random_below(500)));
            match turn % 6 {
                0 => {
                    // Fills the disk to the last byte.
                    let ballast = home.join("ballast");
                    let mut file = fs::File::create(&ballast).unwrap();
                    while file.write_all(&[0; 1 << 10]).is_ok() {}
                    std::thread::sleep(Duration::from_millis(300));
                    fs::remove_file(&ballast).unwrap();
                }
                1 => {
                    let peace = self.peace.write().unwrap();
                    mounts::read_only(&home, true);
                    drop(peace);
                    std::thread::sleep(Duration::from_millis(300));
                    mounts::read_only(&home, false);
                }
                2 | 4 => damage(&data),
                3 => {
                    let _peace = self.peace.write().unwrap();
                    copy_store(&data, &kept);
                    backup = Some(self.ledger.lock().unwrap().clone());
                }
                _ => {
                    let _peace = self.peace.write().unwrap();
                    if let Some(ledger) = &backup {
                        copy_store(&kept, &data);
                        // Messages after the backup are gone from the store, so the ledger forgets them.
                        *self.ledger.lock().unwrap() = ledger.clone();
                    }
                }
            }
            turn += 1;
        }
        assert!(turn >= 6, "there was time for {turn} kinds of trouble only");
    }
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap().success());
}

/// Copies the database's files while no process has them open.
fn copy_store(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["consort.db", "consort.db-wal", "consort.db-shm"] {
        let _ = fs::remove_file(to.join(name));
        if name != "consort.db-shm" && from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// Spoils one of the files beside the store.
fn damage(data: &Path) {
    let names = [
        "published/store",
        "slots/topics",
        "slots/hosts",
        "slots/writers",
        "sessions/s3/state",
        "sessions/s5/log",
        "sessions/s7/state",
        "hook.log",
    ];
    let path = data.join(names[random_below(names.len() as u64) as usize]);
    // If the disk is full, this fails and nothing is spoilt.
    let _ = match random_below(4) {
        0 => fs::remove_file(&path),
        1 => fs::write(&path, "consort \u{0} nonsense\nby\t"),
        2 => fs::write(&path, ""),
        _ => fs::read(&path).and_then(|bytes| fs::write(&path, &bytes[..bytes.len() / 2])),
    };
}

#[test]
fn nothing_is_lost_let_through_or_held_up() {
    if !mounts::ensure_own_mounts("chaos::nothing_is_lost_let_through_or_held_up") {
        return;
    }
    let chaos = Chaos::new();
    let keeper = WORKERS;
    for worker in 0..=keeper {
        let call = json!({ "session_id": format!("s{worker}"), "cwd": chaos.world.project() }).to_string();
        let mut start = chaos.world.command(chaos.world.program());
        start.args(["hook", "claude", "SessionStart"]).env("CONSORT_NAME", format!("Agent{worker}"));
        let mut child = start.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    let ended = chaos.run(keeper, &["reserve", "kept/"], "", true);
    assert_eq!(ended.code, Some(0), "{}", ended.said);

    let each = rounds(25, 500);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|me| {
                let chaos = &chaos;
                scope.spawn(move || (0..each).for_each(|round| chaos.act(me, round)))
            })
            .collect();
        scope.spawn(|| chaos.trouble());
        let failed = workers.into_iter().filter_map(|worker| worker.join().err()).count();
        chaos.is_over.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0, "workers failed");
    });

    // Reads the remaining messages, without trouble.
    for me in 0..WORKERS {
        loop {
            let before = chaos.ledger.lock().unwrap().shown.len();
            for event in ["PostToolUse", "Stop"] {
                chaos.note(me, &chaos.hook(me, event, None, true).said);
            }
            chaos.note(me, &chaos.run(me, &["inbox", "--json"], "", true).said);
            if chaos.ledger.lock().unwrap().shown.len() == before {
                break;
            }
        }
    }
    let ledger = chaos.ledger.lock().unwrap().clone();
    let mut first_shown: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (worker, text, again) in &ledger.shown {
        *first_shown.entry((*worker, text)).or_default() += usize::from(!again);
    }
    let is_shown = |(text, to): &(&String, &usize)| first_shown.contains_key(&(**to, text.as_str()));
    let lost: Vec<_> = ledger.sent.iter().filter(|letter| !is_shown(letter)).collect();
    assert!(lost.is_empty(), "acknowledged and never shown: {lost:?}");
    let doubled: Vec<_> = first_shown.iter().filter(|(_, times)| **times > 1).collect();
    assert!(doubled.is_empty(), "shown twice without a word: {doubled:?}");
    let journal = chaos.world.run("journal tail -n 1000000 --json").stdout;
    for text in ledger.sent.keys() {
        let times = journal.matches(&format!("\"text\":\"{text}\"")).count();
        assert_eq!(times, 1, "{text} is in the journal {times} times");
    }
    for text in &ledger.refused {
        assert!(!journal.contains(&format!("\"text\":\"{text}\"")), "{text} was refused and is there");
    }
    let verify: Value = serde_json::from_str(&chaos.world.run("journal verify --json").stdout).unwrap();
    for check in ["missing", "differences", "integrity", "unknown"] {
        assert_eq!(verify["journal"][check], json!([]), "{check}");
    }

    let mut hooks = chaos.hooks.into_inner().unwrap();
    hooks.sort();
    let [killed, stopped, refusals] =
        [&chaos.killed, &chaos.stopped, &chaos.refusals].map(|count| count.load(Ordering::Relaxed));
    let quantile = |part: f64| hooks[((hooks.len() - 1) as f64 * part) as usize];
    eprintln!(
        "{} hooks: median {:?}, p99 {:?}, longest {:?}, over 2.2 s: {}; {refusals} refused; {killed} killed, \
         {stopped} stopped; {} messages acknowledged, {} refused",
        hooks.len(),
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
        hooks.iter().filter(|took| **took > Duration::from_millis(2_200)).count(),
        ledger.sent.len(),
        ledger.refused.len(),
    );
    assert!(killed > 10 && stopped > 10 && refusals > 10, "this tried nothing");
}
