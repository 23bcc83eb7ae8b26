//! What an agent CLI is called with to work without a terminal, and how what it prints is
//! read.

use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::Failure;
use consort_core::dispatch::Safety;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;

use crate::AgentCli;
use crate::Environment;
use crate::is_of_session;
use crate::worker_output;

/// A piece of work for a CLI.
pub struct Headless<'a> {
    pub prompt: &'a str,
    /// What it is told about its role, besides its own system prompt.
    pub system: Option<&'a str>,
    pub model: Option<&'a str>,
    /// `off`, `minimal`, `low`, `medium`, `high`, `xhigh`.
    pub reasoning: Option<&'a str>,
    pub safety: Safety,
    /// Whether it runs as root.
    pub is_root: bool,
    pub max_turns: Option<u32>,
    pub budget: Option<Cost>,
    /// The session to go on with, as [`WorkerEvent::Session`] told it.
    pub resume: Option<&'a str>,
    /// The run's own directory, for what has to be in a file.
    pub dir: &'a Path,
    /// Which options the installed program knows: [`crate::flags::Flags::knows`].
    pub knows: &'a dyn Fn(&str) -> bool,
    /// The person's variables: some of them are added to.
    pub environment: Environment<'a>,
}

/// What that takes, besides what connects it.
///
/// What connects it ([`AgentCli::single_run`]) comes before these arguments, and is asked
/// for with these variables in its environment: both may add to the same one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeadlessCommand {
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// To be written first, for nobody else to read, with the directories they are in.
    pub files: Vec<(PathBuf, String)>,
    /// What it reads on its standard input, which then ends. Arguments can be read by
    /// everyone on the machine and have a limit: the prompt is in here.
    pub stdin: Option<String>,
    /// What was asked for and this CLI cannot be told: `model`, `reasoning`, `budget`. Turns are
    /// counted by who runs it.
    pub ignored: Vec<&'static str>,
    /// The id of its session, where it could be chosen: it may tell it only at the end.
    pub session: Option<String>,
}

impl HeadlessCommand {
    pub(crate) fn argue(&mut self, words: impl IntoIterator<Item = impl Into<String>>) {
        self.arguments.extend(words.into_iter().map(Into::into));
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.into(), value.into()));
    }

    /// The file of that name in the run's directory, which is to say this.
    pub(crate) fn write(&mut self, work: &Headless<'_>, name: &str, text: impl Into<String>) -> String {
        let path = work.dir.join(name);
        let shown = path.to_string_lossy().into_owned();
        self.files.push((path, text.into()));
        shown
    }

    /// Notes that this was asked for, and is not to be had.
    pub(crate) fn ignore(&mut self, what: &'static str, is_asked: bool) {
        if is_asked {
            self.ignored.push(what);
        }
    }
}

/// Reads what a worker prints. **Work has succeeded if its process ended with 0 and no
/// [`WorkerEvent::Failed`] was told**: exit codes alone are not to be believed.
///
/// A line that is not understood tells nothing. The text of the work is the
/// [`WorkerEvent::Result`], else the last [`WorkerEvent::Said`].
pub trait OutputReader: Send {
    /// What a line of standard output tells.
    fn line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent>;

    /// What a line of standard error tells: that it tries again, that a tool was refused.
    fn error_line(&mut self, _line: &str, _now: Timestamp) -> Vec<WorkerEvent> {
        Vec::new()
    }

    /// What its output has told of its end, now that its process has ended.
    fn last_words(&mut self, over: &Over<'_>) -> LastWords;

    /// What is left to tell when its process has ended; `read` gives the text of a file, or
    /// the end of it if it is large.
    fn end(
        &mut self,
        exit: &WorkerExit,
        now: Timestamp,
        config_dir: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Vec<WorkerEvent> {
        let LastWords { mut told, failure, has_ended } =
            self.last_words(&Over { exit, now, config_dir, read });
        let unsaid = || worker_output::cut_short(exit, now).filter(|_| !has_ended);
        told.extend(failure.or_else(unsaid).map(WorkerEvent::Failed));
        told
    }
}

/// What is known when a worker's process has ended.
pub struct Over<'a> {
    pub exit: &'a WorkerExit,
    pub now: Timestamp,
    /// Where its CLI keeps its own things.
    pub config_dir: &'a Path,
    /// The text of a file, or the end of it if it is large.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
}

/// What the output of a worker has told of its end.
#[derive(Debug, Default)]
pub struct LastWords {
    /// What is left to tell.
    pub told: Vec<WorkerEvent>,
    pub failure: Option<Failure>,
    /// Whether it told that it ends: otherwise its exit says how.
    pub has_ended: bool,
}

/// Whether a CLI needs a variable of the person's: a key, an address, a setting of its
/// own. What belongs to another session is none of its business.
pub fn needs(cli: &dyn AgentCli, variable: &str) -> bool {
    let is_it = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(prefix) => variable.starts_with(prefix),
        None => variable == *pattern,
    };
    !is_of_session(variable) && cli.key_variables().iter().any(is_it)
}
