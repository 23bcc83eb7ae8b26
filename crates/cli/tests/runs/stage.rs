//! A world for tests of runs, whose agent CLI is a stub that does what its prompt says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::process::Stdio;

use consort_testkit::Ran;
use consort_testkit::Sealed;
use consort_testkit::until;
use serde_json::Value;

pub(super) struct Stage {
    pub(super) world: Sealed,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::of(Sealed::new(env!("CARGO_BIN_EXE_consort")))
    }

    pub(super) fn of(world: Sealed) -> Self {
        world.git_init();
        let bin = world.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        for name in ["claude", "opencode"] {
            let stub = include_str!("stub.py").replace("@CONSORT@", &world.program().to_string_lossy());
            fs::write(bin.join(name), stub).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { world }
    }

    pub(super) fn path(&self) -> String {
        format!("{}:/usr/local/bin:/usr/bin:/bin", self.world.path().join("bin").display())
    }

    pub(super) fn consort(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.consort(arguments.iter().copied());
        command.env("PATH", self.path());
        command
    }

    pub(super) fn ran(&self, arguments: &[&str]) -> Ran {
        self.world.ran(&mut self.consort(arguments))
    }

    /// Runs `consort run` with this task to its end.
    pub(super) fn run(&self, task: &str) -> Ran {
        self.ran(&["run", task])
    }

    /// Runs a command with `--json`, and returns its output.
    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.ran(&[arguments, &["--json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {ran}"))
    }

    /// Starts a run and leaves it running; returns its number.
    pub(super) fn detach(&self, arguments: &[&str]) -> String {
        let run = self.json(&[&["run", "--detach"], arguments].concat());
        run["run"]["number"].to_string()
    }

    /// Returns a run as it is now.
    pub(super) fn show(&self, number: &str) -> Value {
        self.json(&["runs", "show", number])["run"].clone()
    }

    pub(super) fn state(&self, number: &str) -> String {
        self.show(number)["state"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of a run, and returns it.
    pub(super) fn ended(&self, number: &str) -> Value {
        until("the run ends", || self.show(number), |run| !run["ended_at"].is_null())
    }

    /// Lists all runs, the newest first.
    pub(super) fn list(&self) -> Vec<Value> {
        self.json(&["runs", "list", "-n", "1000"])["items"].as_array().unwrap().clone()
    }

    pub(super) fn set(&self, key: &str, value: &str) {
        let ran = self.ran(&["config", "set", key, value]);
        assert_eq!(ran.code, 0, "{ran}");
        // Accepts settings that loosen protection, for which a word is typed.
        self.ran(&["config", "accept"]);
        let shown = self.ran(&["config", "get", key]);
        assert!(shown.code == 0 && !shown.stderr.contains("not accepted"), "{shown}");
    }

    /// Starts a command and does not wait for it.
    pub(super) fn spawn(&self, arguments: &[&str]) -> std::process::Child {
        let mut command = self.consort(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Returns the calls of the stub, in order.
    pub(super) fn calls(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.world.home().join("calls")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits until the stub was called `times` times.
    pub(super) fn called(&self, times: usize) -> Vec<Value> {
        until("the stub is called", || self.calls(), |calls| calls.len() >= times)
    }

    /// Lists the processes that stubs have started.
    pub(super) fn children(&self) -> Vec<Child> {
        let text = fs::read_to_string(self.world.home().join("children")).unwrap_or_default();
        let whole = text.lines().filter_map(|line| line.split_once(' '));
        whole
            .filter_map(|(pid, start)| Some(Child { pid: pid.parse().ok()?, start: start.to_owned() }))
            .collect()
    }

    /// Checks that the receipts are complete, and that the tables are what the journal says. No run may be
    /// running.
    pub(super) fn is_sound(&self) {
        let audit = self.ran(&["runs", "audit"]);
        assert_eq!(audit.code, 0, "{audit}");
        let verify = self.json(&["journal", "verify"]);
        for check in ["missing", "differences", "integrity", "unknown"] {
            assert_eq!(verify["journal"][check], serde_json::json!([]), "{check}: {verify}");
        }
        let (list, cost) = (self.list(), self.json(&["runs", "cost"])["items"].clone());
        let rebuilt = self.ran(&["journal", "rebuild"]);
        assert_eq!(rebuilt.code, 0, "{rebuilt}");
        assert_eq!((self.list(), self.json(&["runs", "cost"])["items"].clone()), (list, cost));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.ran(&["runs", "stop", "--all", "--now"]);
        // Kills children that have left the run on purpose.
        for child in self.children() {
            if child.is_alive() {
                signal(child.pid, 9);
            }
        }
    }
}

/// A process that a stub has started. Process ids are reused within minutes, so its start time
/// identifies it too.
#[derive(Clone, Debug)]
pub(super) struct Child {
    pub(super) pid: u32,
    start: String,
}

impl Child {
    pub(super) fn is_alive(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let start = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(19));
        start == Some(&self.start) && is_alive(self.pid)
    }
}

/// Tells whether a process exists and is no zombie.
pub(super) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub(super) fn signal(pid: u32, signal: i32) {
    let (pid, signal) =
        (rustix::process::Pid::from_raw(pid as i32), rustix::process::Signal::from_named_raw(signal));
    if let Some((pid, signal)) = pid.zip(signal) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Returns the parent of a process.
pub(super) fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Lists the processes whose environment names a run of this world.
pub(super) fn of_runs(stage: &Stage) -> Vec<u32> {
    let home = format!("HOME={}", stage.world.home().display());
    let is_its = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let variables: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
        variables.contains(&home.as_bytes()) && variables.iter().any(|one| one.starts_with(b"CONSORT_RUN="))
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_its).filter(|pid| is_alive(*pid)).collect()
}
