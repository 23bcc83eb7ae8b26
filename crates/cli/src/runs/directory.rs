//! The directory of a run: its task, the log of its worker and supervisor, and its result.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::Read as _;
use std::io::Seek as _;
use std::io::SeekFrom;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::dispatch::Caps;
use consort_core::dispatch::LifeSign;
use consort_core::dispatch::ModelTier;
use consort_core::dispatch::WorkerEvent;
use consort_core::journal::ChangeId;
use consort_files::OurDir;
use consort_host::Paths;
use serde::Deserialize;
use serde::Serialize;

/// The terms of a run that its supervisor needs and the journal does not keep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) system: Option<String>,
    pub(crate) reasoning: Option<String>,
    /// The only tools that the worker has.
    pub(crate) tools: Option<Vec<String>>,
    /// The quality that its model has to have.
    pub(crate) tier: ModelTier,
    /// Whether its prompt is kept after its end.
    pub(crate) keeps_prompts: bool,
    /// Whether its work is reviewed.
    pub(crate) is_reviewed: bool,
    pub(crate) max_turns: Option<u32>,
    pub(crate) token_budget: Option<u64>,
    /// Number of tool calls that the worker is told it may make; it is ended at twice as many.
    pub(crate) max_tools: Option<u32>,
    pub(crate) caps: Caps,
    /// The files that a worktree of its own gets though they are not in git.
    pub(crate) copy: Vec<String>,
    /// The command that makes a worktree of its own ready.
    pub(crate) set_up: Option<String>,
    /// The session of the CLI to go on with.
    pub(crate) resume: Option<String>,
    /// Most times that it is tried again after the provider has failed.
    pub(crate) retries: u32,
    /// The person's variables that the worker gets besides the usual ones.
    pub(crate) variables: Vec<String>,
    /// Whether it goes on by itself after a usage limit.
    pub(crate) goes_on: bool,
}

/// A line of a run's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunLine {
    pub(crate) at: Timestamp,
    #[serde(flatten)]
    pub(crate) what: RunNote,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunNote {
    /// An event of its worker.
    Event(WorkerEvent),
    /// A sign of life from its supervisor, every few seconds.
    Heartbeat {
        turns: u32,
        tool: Option<String>,
        tokens: Option<u64>,
        /// Milliseconds for which the worker has reported nothing; 0 while the programs that it has started
        /// are at work.
        #[serde(default)]
        quiet: i64,
    },
    /// A remark of its supervisor.
    Note(String),
}

/// The directory of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunDir {
    pub(crate) path: PathBuf,
}

impl RunDir {
    pub(crate) fn of(paths: &Paths, run: ChangeId) -> Self {
        Self { path: paths.data.join("runs").join(run.to_string()) }
    }

    /// Makes the directory, with the files that the supervisor reads. A half-made one belongs to no run.
    pub(crate) fn make(&self, prompt: &str, work: &Work) -> io::Result<()> {
        OurDir::create(&self.path)?;
        private(&self.prompt())?.write_all(prompt.as_bytes())?;
        private(&self.path.join("work.json"))?.write_all(&serde_json::to_vec(work)?)
    }

    pub(crate) fn work(&self) -> io::Result<Work> {
        Ok(serde_json::from_slice(&fs::read(self.path.join("work.json"))?)?)
    }

    pub(crate) fn prompt(&self) -> PathBuf {
        self.path.join("prompt")
    }

    /// Returns the path of the file that its CLI reads as standard input.
    pub(crate) fn stdin(&self) -> PathBuf {
        self.path.join("stdin")
    }

    pub(crate) fn result(&self) -> PathBuf {
        self.path.join("result")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.path.join("events")
    }

    pub(crate) fn complaints(&self) -> PathBuf {
        self.path.join("stderr")
    }

    /// Returns the path of the file that asks its supervisor to stop; with `now` in it, at once.
    pub(crate) fn stop_file(&self) -> PathBuf {
        self.path.join("stop")
    }

    /// Asks its supervisor to stop, if `now` at once.
    pub(crate) fn ask_to_stop(&self, now: bool) -> io::Result<()> {
        private(&self.stop_file())?.write_all(if now { b"now" } else { b"" })
    }

    /// Tells whether its supervisor is asked to stop at once; `None` if it is not asked to stop.
    pub(crate) fn asked_to_stop(&self) -> Option<bool> {
        fs::read(self.stop_file()).ok().map(|text| text == b"now")
    }

    /// Reads its result, or as much of it as there is.
    pub(crate) fn read_result(&self) -> String {
        fs::read_to_string(self.result()).unwrap_or_default()
    }

    /// Returns its last sign of life; `None` while its supervisor is busy with something of its own.
    pub(crate) fn life_sign(&self) -> Option<LifeSign> {
        let line = last_line(&self.events()).and_then(|line| serde_json::from_str::<RunLine>(&line).ok())?;
        match line.what {
            RunNote::Heartbeat { quiet, .. } => Some(LifeSign { at: line.at, quiet }),
            RunNote::Event(_) => Some(LifeSign { at: line.at, quiet: 0 }),
            RunNote::Note(_) => None,
        }
    }

    /// Reads its log so far.
    pub(crate) fn lines(&self) -> Vec<RunLine> {
        let text = fs::read_to_string(self.events()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Longest log of a run's events, in bytes.
const MOST: u64 = 16 << 20;

/// A writer of a run's log, up to a bound. Beyond it, only the events are written that are needed to see the
/// state of the run, and beyond twice of it no event of the worker.
pub(crate) struct EventLog {
    file: File,
    written: u64,
    most: u64,
    /// Whether the log says that not everything is kept.
    is_cut: bool,
}

impl EventLog {
    pub(crate) fn open(dir: &RunDir) -> io::Result<Self> {
        let mut open = OpenOptions::new();
        let file = open.append(true).create(true).mode(0o600).open(dir.events())?;
        let written = file.metadata()?.len();
        Ok(Self { file, written, most: MOST, is_cut: false })
    }

    /// Writes a line. A full disk costs lines, not the run.
    pub(crate) fn tell(&mut self, at: Timestamp, what: RunNote) {
        let most = match &what {
            RunNote::Event(WorkerEvent::Session(_) | WorkerEvent::Failed(_)) => self.most * 2,
            RunNote::Event(_) => self.most,
            // The supervisor's own lines are short and few.
            RunNote::Heartbeat { .. } | RunNote::Note(_) => u64::MAX,
        };
        let Ok(mut line) = serde_json::to_vec(&RunLine { at, what }) else { return };
        line.push(b'\n');
        if self.written.saturating_add(line.len() as u64) > most {
            if !std::mem::replace(&mut self.is_cut, true) {
                self.tell(at, RunNote::Note("it tells more than is kept: some of it is not here".into()));
            }
            return;
        }
        self.written += line.len() as u64;
        let _ = self.file.write_all(&line);
    }
}

/// Reads the last whole line of a file, unless it is too long to be one of ours.
fn last_line(path: &Path) -> Option<String> {
    const LONGEST: u64 = 64 << 10;
    let mut file = File::open(path).ok()?;
    let from = file.metadata().ok()?.len().saturating_sub(LONGEST);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = text.rsplit_once('\n')?.0;
    Some(whole.rsplit('\n').next().unwrap_or(whole).to_owned())
}

/// Makes or empties a file that only this user can read.
pub(crate) fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}
