//! Starts the worker of a run so that it dies with its supervisor, reads what it prints, and ends it
//! together with all processes that it has started.
//!
//! The supervisor adopts the orphans of its worker (it is a *subreaper*), so that it sees the whole
//! process tree while it lives. If the supervisor itself is killed, the kernel ends the worker; the
//! processes that the worker had started have [`RUN`] in their environment, by which the next command
//! that looks for them finds them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use std::time::Instant;

use consort_core::dispatch::WorkerExit;
use consort_core::host::Process;
use consort_core::host::Processes as _;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::WaitId;
use rustix::process::WaitIdOptions;
use rustix::process::WaitOptions;
use rustix::process::WaitStatus;

use crate::Machine;
use crate::env::RUN;
use crate::process;

/// The command of a worker.
#[derive(Debug)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// The whole environment of the worker.
    pub environment: BTreeMap<String, String>,
    pub cwd: PathBuf,
    /// The file on its standard input; `None` for an empty input.
    pub stdin: Option<PathBuf>,
}

/// An event of a worker.
#[derive(Debug)]
pub enum WorkerProcessEvent {
    /// A line of the worker's standard output.
    Line(String),
    /// A part of the worker's standard error.
    Complaint(String),
    /// The end of both outputs.
    Silence,
    /// The end of the worker's process.
    Ended,
}

/// A worker that was started.
#[derive(Debug)]
pub struct Worker {
    pid: Pid,
    exit: Option<WorkerExit>,
}

/// Most bytes of a line; a longer line is split.
const LONGEST_LINE: u64 = 16 << 20;

/// Time between two looks whether processes that were signalled are gone.
const BEAT: Duration = Duration::from_millis(20);

/// Time that the kernel has to end processes that were killed.
const FORCED: Duration = Duration::from_secs(3);

impl Worker {
    /// Starts a worker in a process group of its own; its output is sent to `heard`, and the worker waits
    /// while that is full. Must be called by the main thread: the worker is ended with the thread that
    /// started it.
    pub fn start(command: &WorkerCommand, heard: SyncSender<WorkerProcessEvent>) -> io::Result<Self> {
        adopt_orphans();
        let stdin = match &command.stdin {
            Some(file) => Stdio::from(File::open(file)?),
            None => Stdio::null(),
        };
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).env_clear().envs(&command.environment).current_dir(&command.cwd);
        process.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        die_with_parent(&mut process);
        let mut child = process.spawn()?;
        let pid = Pid::from_child(&child);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (complaints, ended) = (heard.clone(), heard.clone());
        std::thread::spawn(move || {
            wait_for(pid);
            let _ = ended.send(WorkerProcessEvent::Ended);
        });
        let reader = std::thread::spawn(move || {
            if let Some(stderr) = stderr {
                send_complaints(stderr, &complaints);
            }
        });
        std::thread::spawn(move || {
            if let Some(stdout) = stdout {
                send_lines(stdout, &heard);
            }
            let _ = reader.join();
            let _ = heard.send(WorkerProcessEvent::Silence);
        });
        Ok(Self { pid, exit: None })
    }

    /// Returns the id of the worker's process.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get() as u32
    }

    /// Returns how the worker ended, if it has. Also reaps its orphans that have ended.
    pub fn exit_if_ended(&mut self) -> Option<&WorkerExit> {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == self.pid {
                self.exit = Some(exit_of(status));
            }
        }
        self.exit.as_ref()
    }

    /// Ends the worker and every process below this one: asks them, and kills those that are left after
    /// `patience`, or as soon as `is_hurry` says so. Returns the processes that still live.
    pub fn end(
        &mut self,
        machine: &Machine,
        patience: Duration,
        is_hurry: &dyn Fn() -> bool,
    ) -> Vec<Process> {
        if self.exit_if_ended().is_none() {
            let _ = rustix::process::kill_process_group(self.pid, Signal::TERM);
        }
        let mut asked: Vec<Process> = Vec::new();
        let is_gone = self.wait_for_all(machine, patience, is_hurry, |process| {
            if !asked.iter().any(|one| one.is(process)) {
                signal(machine, process, Signal::TERM);
                asked.push(process.clone());
            }
        });
        if !is_gone {
            self.wait_for_all(machine, FORCED, &|| false, |process| signal(machine, process, Signal::KILL));
        }
        self.left(machine)
    }

    /// Lists the processes below this one.
    fn left(&mut self, machine: &Machine) -> Vec<Process> {
        self.exit_if_ended();
        machine.tree(std::process::id()).into_iter().skip(1).map(|one| one.process).collect()
    }

    /// Calls `act` for each process below this one until none is left, or for `longest`; whether none is
    /// left.
    fn wait_for_all(
        &mut self,
        machine: &Machine,
        longest: Duration,
        is_hurry: &dyn Fn() -> bool,
        mut act: impl FnMut(&Process),
    ) -> bool {
        let end = Instant::now() + longest;
        loop {
            let left = self.left(machine);
            if left.is_empty() {
                return true;
            }
            left.iter().for_each(&mut act);
            if Instant::now() >= end || is_hurry() {
                return false;
            }
            std::thread::sleep(BEAT);
        }
    }
}

/// Ends the processes that a run without a supervisor has left behind: those that have its id in their
/// environment. Returns those that live on.
pub fn end_orphans(machine: &Machine, run: &str, patience: Duration) -> Vec<Process> {
    let find = || -> Vec<Process> {
        let is_its = |process: &Process| {
            let environment = process::read_proc(process.pid, "environ").unwrap_or_default();
            process.pid != std::process::id()
                && process::variable_in(&environment, RUN).is_some_and(|value| value == run)
        };
        machine.all().into_iter().filter(is_its).collect()
    };
    let (mut left, start) = (find(), Instant::now());
    while !left.is_empty() && start.elapsed() < patience + FORCED {
        let how = if start.elapsed() < patience { Signal::TERM } else { Signal::KILL };
        left.iter().for_each(|process| signal(machine, process, how));
        std::thread::sleep(BEAT * 5);
        left = find();
    }
    left
}

/// Signals a process, unless its id was given to another since.
fn signal(machine: &Machine, process: &Process, how: Signal) {
    if let Some(pid) = Pid::from_raw(process.pid as i32).filter(|_| machine.is_alive(process)) {
        let _ = rustix::process::kill_process(pid, how);
    }
}

/// Waits for the end of a child without reaping it, which is left to [`Worker::exit_if_ended`].
fn wait_for(pid: Pid) {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(pid), how) {}
}

fn exit_of(status: WaitStatus) -> WorkerExit {
    WorkerExit { code: status.exit_status(), signal: status.terminating_signal(), stderr: String::new() }
}

fn send_lines(stdout: impl io::Read, heard: &SyncSender<WorkerProcessEvent>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if heard.send(WorkerProcessEvent::Line(line)).is_err() {
                    return;
                }
            }
        }
    }
}

fn send_complaints(mut stderr: impl io::Read, heard: &SyncSender<WorkerProcessEvent>) {
    let mut part = vec![0; 64 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut part) {
        if heard
            .send(WorkerProcessEvent::Complaint(String::from_utf8_lossy(&part[..count]).into_owned()))
            .is_err()
        {
            return;
        }
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Has the kernel end the command's process when the thread that starts it ends.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "between fork and exec only system calls are made")]
fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let set = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before that call.
        match rustix::process::getppid() {
            Some(now) if now == parent => Ok(()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    };
    // SAFETY: the closure makes two system calls, and allocates nothing.
    unsafe { command.pre_exec(set) };
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}
