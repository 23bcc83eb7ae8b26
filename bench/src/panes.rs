//! Benchmarks of panes: the cost of watching 50 of them, the time until a dialog is reported, and
//! the time to classify a screen.
//!
//! The panes run this program, which draws what Claude Code draws; a line on its input makes
//! it draw a permission dialog.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::time::Duration;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::Sample;
use consort_bench::release;
use consort_core::App;
use consort_core::journal::Actor;
use consort_core::monitor::OpenedPane;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::PaneLook;
use consort_host::Machine;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;

/// The argument that makes this program the one that runs in a pane.
pub(crate) const PROGRAM: &str = "pane";

const PANES: usize = 50;

/// The number of panes that draw something every second: those are looked at every second, the
/// rest only when they have drawn something.
const SCENARIOS: [(&str, usize); 3] =
    [("all at rest", 0), ("10 of them draw every second", 10), ("all draw every second", PANES)];

/// The number of times that each screen is classified.
const READINGS: usize = 200;

/// The number of panes in which a dialog comes up.
const ASKING: usize = 25;

const RULE: &str = "────────────────────────────────────────";

/// Draws a screen until it is ended.
pub(crate) fn be_a_pane(draws: bool) {
    let show = |text: &str| {
        let mut out = std::io::stdout();
        out.write_all(format!("\x1b[H\x1b[2J{text}").as_bytes()).and_then(|()| out.flush()).unwrap();
    };
    let idle = format!("{RULE}\r\n❯ \r\n{RULE}\r\n  ⏸ manual mode on · ? for shortcuts");
    show(&idle);
    if draws {
        for second in 0.. {
            show(&format!("✻ Baking… ({second}s · ↓ 10 tokens)\r\n\r\n{idle} · esc to interrupt"));
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    for _ in std::io::stdin().lines() {
        show(" Do you want to proceed?\r\n ❯ 1. Yes\r\n   2. No\r\n\r\n Esc to cancel · Tab to amend");
    }
}

pub(crate) fn run(seconds: u64) {
    println!("{PANES} panes watched for {seconds} s, processor time as a share of one core");
    println!("{:42} {:>10} {:>22}", "", "watcher", "tmux, on top");
    for (name, drawing) in SCENARIOS {
        let server = Server::start(drawing);
        let alone = share(seconds, || server.used());
        let mut watch = server.watch();
        // The first look at each pane costs more.
        std::thread::sleep(Duration::from_secs(3));
        let (before, watcher) = (server.used(), used(watch.child.id()));
        let began = Instant::now();
        std::thread::sleep(Duration::from_secs(seconds));
        let share = |used: f64| 100.0 * used / began.elapsed().as_secs_f64();
        let (watcher, on_top) =
            (share(used(watch.child.id()) - watcher), share(server.used() - before) - alone);
        println!("{name:42} {watcher:8.2} % {on_top:20.2} %");
        if drawing == 0 {
            server.time_dialogs(&mut watch);
        }
    }
    time_readings();
    println!();
}

/// Measures the time to classify a screen of 50 lines, for every screen that the signatures are
/// tested with, filled up with lines above.
fn time_readings() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/agents/tests/captures");
    let index = std::fs::read_to_string(captures.join("index.jsonl")).unwrap();
    let mut taken = Vec::new();
    for line in index.lines() {
        let capture: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| capture[key].as_str().unwrap().to_owned();
        let cli = consort_agents::find(&text("cli")).unwrap();
        let signature = consort_agents::screen::signature(cli.screen()).unwrap();
        let screen = std::fs::read_to_string(captures.join(text("file"))).unwrap();
        let missing = 50usize.saturating_sub(screen.lines().count());
        let screen = "history\n".repeat(missing) + &screen;
        let facts = PaneFacts { title: text("title"), command: text("command"), ..PaneFacts::default() };
        let read = || {
            let (facts, screen) = (facts.clone(), screen.clone());
            let began = Instant::now();
            let look = PaneLook::new(facts, screen, &signature, Duration::MAX);
            let taken = began.elapsed();
            assert!(!look.reading.rule.is_empty());
            taken
        };
        let median = Sample::new((0..READINGS).map(|_| read()).collect()).quantile(0.5);
        taken.push(Duration::from_secs_f64(median / 1e6));
    }
    let (count, sample) = (taken.len(), Sample::new(taken));
    let (median, most) = (sample.quantile(0.5), sample.quantile(1.0));
    println!("a screen is read in {median:.0} µs (median of {count} screens; {most:.0} µs at most)");
}

/// A tmux server with panes that are recorded as opened by us. It ends when dropped.
struct Server {
    home: Home,
    socket: PathBuf,
    pid: u32,
    panes: Vec<String>,
}

impl Server {
    fn start(drawing: usize) -> Self {
        let home = Home::new(1, 0);
        let socket = home.dir.path().join("tmux.sock");
        let mut server = Self { home, socket, pid: 0, panes: Vec::new() };
        for n in 0..PANES {
            let how = if n < drawing { "draws" } else { "rests" };
            let window: &[&str] =
                if n == 0 { &["new-session", "-d", "-x", "200", "-y", "50"] } else { &["new-window"] };
            let program = release("bench");
            server.tmux(&[window, &[program.to_str().unwrap(), PROGRAM, how]].concat());
        }
        let listed = server.tmux(&["list-panes", "-a", "-F", "#{pid} #{pane_id} #{pane_pid}"]);
        let mut app = App::new(
            Store::new(server.home.dir.path().join("consort.db"), StoreUser::Command),
            Machine::new(server.home.dir.path()),
        );
        for line in listed.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [pid, id, pane_pid] = words[..] else { panic!("{line}") };
            server.pid = pid.parse().unwrap();
            server.panes.push(id.to_owned());
            let address = PaneAddress { server: server.socket.clone(), id: id.to_owned() };
            let opened = OpenedPane {
                place: app.pane_identity(&address, pane_pid.parse().unwrap()),
                name: format!("Pane{}", server.panes.len()).into(),
                cli: "claude".into(),
                project: None,
                cwd: server.home.cwd.clone(),
                by: Actor::Person,
                prompt: None,
                base: None,
                is_reviewed: false,
            };
            app.note_opened(opened).unwrap();
        }
        server
    }

    fn tmux(&self, words: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.args(["-u", "-f", "/dev/null", "-S"]).arg(&self.socket).args(words).env_remove("TMUX");
        let output = tmux.env("LANG", "C.UTF-8").env("TERM", "xterm-256color").output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn used(&self) -> f64 {
        used(self.pid)
    }

    fn watch(&self) -> Watch {
        let mut command = self.home.consort(&["pane", "watch", "--json"]);
        command.current_dir(&self.home.cwd).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines): (Sender<(Instant, String)>, _) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send((Instant::now(), line));
            }
        });
        Watch { child, lines }
    }

    /// Makes dialogs come up one after the other, and measures the time until each is reported.
    fn time_dialogs(&self, watch: &mut Watch) {
        let mut taken = Vec::new();
        for pane in self.panes.iter().rev().take(ASKING) {
            let drawn = Instant::now();
            self.tmux(&["send-keys", "-t", pane, "Enter"]);
            let told = watch.lines.iter().find(|(_, line)| line.contains("\"to\":\"permission\"")).unwrap().0;
            taken.push(told - drawn);
        }
        let sample = Sample::new(taken);
        let (median, most) = (sample.quantile(0.5) / 1e6, sample.quantile(1.0) / 1e6);
        println!("a dialog is told after {median:.2} s (median of {ASKING}; {most:.2} s at most)");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

struct Watch {
    child: Child,
    lines: Receiver<(Instant, String)>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the share of a core that something uses, in percent, over some seconds.
pub(crate) fn share(seconds: u64, used: impl Fn() -> f64) -> f64 {
    let (before, began) = (used(), Instant::now());
    std::thread::sleep(Duration::from_secs(seconds));
    100.0 * (used() - before) / began.elapsed().as_secs_f64()
}

/// Returns the processor time of a process and of its children that have ended, in seconds.
pub(crate) fn used(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap();
    // The program's name before these fields may have spaces in it.
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let ticks: Vec<f64> = rest.split(' ').skip(11).take(4).map(|ticks| ticks.parse().unwrap()).collect();
    ticks.iter().sum::<f64>() / 100.0
}
