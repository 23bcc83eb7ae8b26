//! The parts that benchmarks and counter tests share: stores of a given size, and hooks
//! run the way an agent CLI runs them.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

pub mod evaluation;
mod generated;

use std::fs;
use std::fs::File;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use consort_core::App;
use consort_core::engine::Engine as _;
use consort_core::host::Clock as _;
use consort_core::host::Processes as _;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::EntryId;
use consort_core::journal::NewEntry;
use consort_core::messages::Letter;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::Agent;
use consort_core::presence::AgentName;
use consort_core::presence::CallerFacts;
use consort_core::presence::Location;
use consort_core::presence::PresenceChange;
use consort_core::project::Project;
use consort_host::Machine;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use rustix::process::Pid;
use rustix::process::WaitId;
use rustix::process::WaitIdOptions;

/// Copies a program of this workspace that was built for release, as installing it
/// does, and returns the copy's path. Build it first: `cargo build --release --workspace`.
///
/// Call it for each program before any thread starts: a program cannot be started while it is
/// still open for writing in a process that another thread has just forked.
pub fn release(program: &str) -> PathBuf {
    static INSTALLED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| tempfile::tempdir().unwrap()).path().join(program);
    if !installed.exists() {
        fs::copy(built(program), &installed).unwrap();
    }
    installed
}

/// Drops a program from the page cache, so that its first start reads it from disk. A file
/// that was just written is cached in larger pieces, and a large program starts quicker from it.
pub fn drop_from_cache(program: &Path) {
    let file = File::open(program).unwrap();
    file.sync_all().unwrap();
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

/// Returns the path of a built program; `CONSORT` names another `consort`, as `scripts/release` makes.
fn built(program: &str) -> PathBuf {
    if program == "consort"
        && let Some(path) = std::env::var_os("CONSORT")
    {
        return path.into();
    }
    let here = std::env::current_exe().unwrap();
    let target =
        here.ancestors().find(|dir| dir.join("release").is_dir() || dir.ends_with("release")).unwrap();
    let dir = if target.ends_with("release") { target.to_owned() } else { target.join("release") };
    let path = dir.join(program);
    assert!(path.exists(), "{} is missing: run `cargo build --release --workspace`", path.display());
    path
}

/// A home with a store of `agents` present agents (`s0`, `s1`, …) and at least
/// `entries` journal entries. This process hosts `s0`, so the commands that it starts
/// are `s0`'s.
pub struct Home {
    pub dir: tempfile::TempDir,
    /// The project: a repository without a commit.
    pub cwd: PathBuf,
    /// The process that hosts the other agents; it has no children.
    host: Child,
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.host.kill();
        let _ = self.host.wait();
        // `enter` may have made the project, which is removed now, the current directory.
        let _ = std::env::set_current_dir("/");
    }
}

impl Home {
    pub fn new(agents: usize, entries: usize) -> Self {
        Self::with(agents, entries, false)
    }

    /// Makes a home all of whose agents this process hosts: `CONSORT_SESSION` says for
    /// which agent it starts a command.
    pub fn together(agents: usize, entries: usize) -> Self {
        Self::with(agents, entries, true)
    }

    fn with(agents: usize, entries: usize, hosts_all: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::new(dir.path().join("consort.db"), StoreUser::Command);
        let machine = Machine::new(dir.path());
        let project = Project { id: "example.com/acme/shop".into(), name: "shop".into() };
        let cwd = fs::canonicalize(dir.path()).unwrap().join("shop");
        fs::create_dir_all(cwd.join(".git")).unwrap();
        fs::write(cwd.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir(cwd.join("src")).unwrap();
        for file in ["login.rs", "free.rs", "file3.rs"] {
            fs::write(cwd.join("src").join(file), "").unwrap();
        }
        // `cat` ends with this process, however that ends, because its input is closed.
        let host = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let now = machine.now();
        let (files, notes) = (store.side_files(), store.side_files());
        let mut tx = store.write().unwrap();
        let entry = |change: PresenceChange| NewEntry {
            id: EntryId::new(now, machine.random()),
            at: now,
            project: Some(project.id.clone()),
            actor: Actor::Person,
            changes: vec![Change::Presence(change)],
        };
        let repository = cwd.join(".git");
        tx.record(&entry(PresenceChange::RepositorySeen {
            machine: machine.name(),
            repository,
            project: project.clone(),
        }))
        .unwrap();
        for n in 0..agents {
            let agent = Agent {
                session: format!("s{n}").into(),
                name: format!("Agent{n}").into(),
                kind: "claude".into(),
                project: project.clone(),
                branch: Some("main".into()),
                model: None,
                joined_at: now,
                spec: None,
                location: Location {
                    machine: machine.name(),
                    process: machine
                        .process(if hosts_all || n == 0 { std::process::id() } else { host.id() })
                        .unwrap(),
                    cwd: cwd.clone(),
                    worktree: cwd.clone(),
                    terminal: Default::default(),
                    spec_file: None,
                },
            };
            files.start_activity(&agent.session, now).unwrap();
            files.note_host(&agent);
            notes.begin_or_continue_trail(&agent.session, &project.id, &cwd).unwrap();
            tx.record(&entry(PresenceChange::Joined(Box::new(agent)))).unwrap();
        }
        for n in agents..entries {
            let session = format!("s{}", n % agents.max(1)).into();
            let name: AgentName = format!("Agent{}", n % agents.max(1)).into();
            tx.record(&entry(PresenceChange::Renamed { session, from: name.clone(), name })).unwrap();
        }
        tx.commit().unwrap();
        Self { dir, cwd, host }
    }

    /// Makes the project the current directory of this process, and of the commands it starts. A
    /// command that is given another directory is forked, which costs a millisecond for a process
    /// of this size.
    pub fn enter(&self) {
        std::env::set_current_dir(&self.cwd).unwrap();
    }

    /// Makes this process the host of a session.
    pub fn take_over(&self, session: &str) {
        let mut app = self.app();
        let agent = app.engine_mut().read().unwrap().agent(&session.into()).unwrap();
        if let Some((mut agent, _)) = agent {
            agent.location.process = app.host().process(std::process::id()).unwrap();
            app.engine_mut().side_files().note_host(&agent);
        }
    }

    /// Writes a payload that Claude Code would send for this session, and makes this process the
    /// session's host.
    pub fn payload(&self, session: &str) -> PathBuf {
        self.take_over(session);
        let path = self.dir.path().join(format!("{session}.json"));
        let cwd = &self.cwd;
        let payload = serde_json::json!({
            "session_id": session, "cwd": cwd, "transcript_path": "/tmp/transcript.jsonl",
            "permission_mode": "default", "prompt": "please fix the login", "tool_name": "Edit",
            "tool_input": { "file_path": cwd.join("src/login.rs"), "old_string": "a", "new_string": "b" },
            "tool_use_id": "toolu_0123456789",
        });
        fs::write(&path, payload.to_string()).unwrap();
        path
    }

    /// Makes the command of a hook in this home that reads `payload`.
    pub fn hook(&self, event: &str, payload: &Path) -> Command {
        let mut hook = Command::new(release("consort"));
        hook.args(["hook", "claude", event]);
        sealed(&mut hook, payload);
        hook.env("CONSORT_HOME", self.dir.path());
        hook
    }

    /// Makes a command of `consort` in this home.
    pub fn consort(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(release("consort"));
        sealed(command.args(arguments), Path::new("/dev/null"));
        command.env("CONSORT_HOME", self.dir.path());
        command
    }

    /// Sends a message as another agent, in this process, because this is not measured.
    pub fn send(&self, from: &str, to: &str, text: &str) {
        let mut app = self.app();
        let caller = caller(&mut app, from);
        let to = Recipients::Named(vec![to.into()]);
        let request = SendRequest { caller, to, text: text.into(), ..Default::default() };
        app.send(&request).unwrap();
    }

    /// Makes an app in this process, for calls that are not measured.
    pub fn app(&self) -> App {
        let store = Store::new(self.dir.path().join("consort.db"), StoreUser::Command);
        App::new(store, Machine::new(self.dir.path()))
    }

    /// Returns the letters that wait for a session.
    pub fn waiting(&self, session: &str) -> Vec<Letter> {
        let mailbox = Actor::Agent(session.into());
        self.app().inbox(&UnreadLettersRequest { mailbox, from: None, peek: true }).unwrap()
    }

    pub fn last_seq(&self) -> i64 {
        let mut store = Store::new(self.dir.path().join("consort.db"), StoreUser::Command);
        store.read().unwrap().last_seq().unwrap()
    }

    pub fn is_sound(&self) -> bool {
        let mut store = Store::new(self.dir.path().join("consort.db"), StoreUser::Command);
        store.read().unwrap().verify().unwrap().is_sound()
    }
}

/// Gives a program the small environment that all compared programs have.
pub fn sealed(command: &mut Command, stdin: &Path) {
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .stdin(File::open(stdin).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
}

/// Whether [`once`] returns processor time.
static IN_PROCESSOR_TIME: AtomicBool = AtomicBool::new(false);

/// Makes [`once`] return how long a process had a processor, in its own code and in the
/// kernel's, from its start to its end. Other work on the machine changes that far less than the
/// elapsed time. Linux only.
pub fn measure_processor_time() {
    IN_PROCESSOR_TIME.store(true, Ordering::Relaxed);
}

/// Runs a command to its end; returns the time taken.
pub fn once(command: &mut Command) -> Duration {
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let processor_time = IN_PROCESSOR_TIME.load(Ordering::Relaxed).then(|| processor_time(&child));
    let status = child.wait().unwrap();
    let took = start.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    processor_time.unwrap_or(took)
}

/// Reads the processor time of a process after its end and before it is reaped.
fn processor_time(child: &Child) -> Duration {
    let end = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::Pid(Pid::from_child(child)), end).unwrap();
    let times = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap();
    Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
}

/// Starts `processes` threads that each run `turns` commands one after the other; `command` makes
/// thread `p`'s `n`-th. Returns every command's duration, and that of all together.
pub fn at_once(
    processes: usize,
    turns: usize,
    command: impl Fn(usize, usize) -> Command + Sync,
) -> (Vec<Duration>, Duration) {
    let start = Instant::now();
    let durations = std::thread::scope(|scope| {
        let command = &command;
        let run = move |p: usize| (0..turns).map(|n| once(&mut command(p, n))).collect::<Vec<_>>();
        let threads: Vec<_> = (0..processes).map(|p| scope.spawn(move || run(p))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    (durations, start.elapsed())
}

/// A sample of durations, sorted.
pub struct Sample(Vec<Duration>);

impl Sample {
    pub fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort();
        Self(durations)
    }

    /// Returns the duration below which this share of the sample lies, in µs.
    pub fn quantile(&self, share: f64) -> f64 {
        let index = ((self.0.len() - 1) as f64 * share).round() as usize;
        self.0[index].as_secs_f64() * 1e6
    }
}

/// Makes a command that runs `command` under another program.
pub fn under(program: &str, arguments: &[&str], command: &Command, stdin: &Path) -> Command {
    let mut outer = Command::new(program);
    outer.args(arguments).arg(command.get_program()).args(command.get_args());
    sealed(&mut outer, stdin);
    outer.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    outer
}

/// Returns the facts about a caller that is this agent.
pub fn caller(app: &mut App, session: &str) -> CallerFacts {
    let agent = app.engine_mut().read().unwrap().agent(&session.into()).unwrap();
    let ancestors = agent.into_iter().map(|(agent, _)| agent.location.process).collect();
    CallerFacts { ancestors, hints: vec![session.into()], ..Default::default() }
}
