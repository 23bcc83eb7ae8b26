//! Benchmarks of the screen: the time to its first paint, the time until it shows a journal entry,
//! and its processor time while nothing happens and while much does. Its terminal is read here.

use std::fs::File;
use std::io::Read as _;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Child;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::Sample;
use consort_core::journal::Actor;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::LeaveReason;
use consort_core::presence::Status;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::panes::share;
use crate::panes::used;

/// The title of the panel of agents.
const PANEL: &str = "Agents";

pub(crate) fn run(rounds: usize, entries: usize, seconds: u64) {
    let home = home(51, entries);
    let starts = (0..rounds.min(100)).map(|_| {
        let (shown, _) = Shown::begin(&home, PANEL);
        shown
    });
    let starts = Sample::new(starts.collect());
    println!("the screen, 50 agents, {entries} entries");
    tell("first paint, after its start", &starts);

    let (_, screen) = Shown::begin(&home, "Agent9");
    screen.settle();
    // The feed always shows its newest line; only its difference from the line before is drawn.
    screen.press("9");
    screen.settle();
    let seen = (0..rounds.min(100)).map(|n| {
        let text = char::from(b'a' + (n % 26) as u8).to_string().repeat(12);
        home.send("s3", "@me", &text);
        let committed = Instant::now();
        screen.until(&text).saturating_duration_since(committed)
    });
    tell("a message, after its commit", &Sample::new(seen.collect()));
    // Waiting mail is looked at on every update, so it is read before the idle screen is measured.
    let app = &mut home.app();
    let letters =
        app.inbox(&UnreadLettersRequest { mailbox: Actor::Person, from: None, peek: false }).unwrap();
    app.mark_read(&Actor::Person, &letters).unwrap();
    screen.settle();
    let idle = share(seconds, || used(screen.child.id()));
    println!("{:46} {idle:>6.2} % of a core", "nothing happens");
    drop(screen);

    let home = self::home(101, 1_000);
    let (_, screen) = Shown::begin(&home, "Agent1");
    screen.settle();
    let app = &mut home.app();
    let (before, began) = (used(screen.child.id()), Instant::now());
    for turn in 0..seconds * 20 {
        let doing = Some(format!("Bash make {turn}"));
        let update = ActivityUpdate { doing, ..ActivityUpdate::of(Status::Working) };
        app.note_activity(&format!("s{}", 1 + turn % 100).into(), &update).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    let busy = 100.0 * (used(screen.child.id()) - before) / began.elapsed().as_secs_f64();
    println!("{:46} {busy:>6.2} % of a core\n", "100 agents, 20 changes a second");
}

fn tell(what: &str, sample: &Sample) {
    let (median, p95) = (sample.quantile(0.5) / 1e3, sample.quantile(0.95) / 1e3);
    println!("{what:46} {median:>6.1} ms, p95 {p95:.1}");
}

/// Makes a home in which this process hosts no agent, so that the person calls from it.
fn home(agents: usize, entries: usize) -> Home {
    let home = Home::new(agents, entries);
    home.app().leave(&"s0".into(), LeaveReason::Ended, Actor::Person).unwrap();
    home
}

/// A running screen with its own terminal. It ends when dropped.
struct Shown {
    child: Child,
    /// The pieces of output that were drawn, each with its time.
    pieces: Receiver<(Instant, Vec<u8>)>,
    keys: File,
}

impl Shown {
    /// Starts a screen; returns it with the time until `awaited` was drawn.
    fn begin(home: &Home, awaited: &str) -> (Duration, Self) {
        let (master, slave) = terminal();
        let mut command = home.consort(&["up", "--here", "--yes"]);
        let piece = || Stdio::from(slave.try_clone().unwrap());
        command.current_dir(&home.cwd).env("TERM", "xterm-256color");
        command.stdin(piece()).stdout(piece()).stderr(piece());
        take_terminal(&mut command);
        let began = Instant::now();
        let child = command.spawn().unwrap();
        drop((command, slave));
        let keys = File::from(master.try_clone().unwrap());
        let (sender, pieces) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (mut master, mut buffer) = (File::from(master), vec![0; 65_536]);
            while let Ok(count) = master.read(&mut buffer) {
                let _ = sender.send((Instant::now(), buffer[..count].to_vec()));
            }
        });
        let screen = Self { child, pieces, keys };
        let at = screen.until(awaited);
        (at - began, screen)
    }

    fn press(&self, key: &str) {
        (&self.keys).write_all(key.as_bytes()).unwrap();
    }

    /// Waits until `awaited` was drawn; returns the time.
    fn until(&self, awaited: &str) -> Instant {
        let mut drawn = Vec::new();
        loop {
            let (at, piece) = self.pieces.recv_timeout(Duration::from_secs(20)).unwrap();
            drawn.extend_from_slice(&piece);
            if drawn.windows(awaited.len()).any(|window| window == awaited.as_bytes()) {
                return at;
            }
        }
    }

    /// Waits until nothing is drawn for a while.
    fn settle(&self) {
        while self.pieces.recv_timeout(Duration::from_millis(1_500)).is_ok() {}
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a terminal of 200 × 60; returns both ends.
fn terminal() -> (OwnedFd, OwnedFd) {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let slave = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(&slave, flags, Mode::empty()).unwrap();
    let size = Winsize { ws_row: 60, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&slave, size).unwrap();
    (master, slave)
}

/// Makes standard input the controlling terminal.
#[expect(unsafe_code, reason = "what happens between fork and exec is the caller's to answer for")]
fn take_terminal(command: &mut std::process::Command) {
    let take = || {
        rustix::process::setsid()?;
        Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
    };
    // SAFETY: system calls only; nothing is allocated.
    unsafe { command.pre_exec(take) };
}
