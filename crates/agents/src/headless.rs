//! The types for running any agent CLI without a terminal: the request for a piece of work, the command line
//! for it, and the trait that reads the output.

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

/// A piece of work that a CLI is to do without a terminal.
pub struct Headless<'a> {
    pub prompt: &'a str,
    /// The instructions of the run's role, in addition to the CLI's own system prompt.
    pub system: Option<&'a str>,
    pub model: Option<&'a str>,
    /// The reasoning effort: `off`, `minimal`, `low`, `medium`, `high` or `xhigh`.
    pub reasoning: Option<&'a str>,
    pub safety: Safety,
    /// Whether the CLI runs as root.
    pub is_root: bool,
    pub max_turns: Option<u32>,
    pub budget: Option<Cost>,
    /// The id of the session to resume, as [`WorkerEvent::Session`] reported it.
    pub resume: Option<&'a str>,
    /// The run's own directory, for input that has to be in a file.
    pub dir: &'a Path,
    /// Tells whether the installed program has an option: [`crate::flags::Flags::knows`].
    pub knows: &'a dyn Fn(&str) -> bool,
    /// The person's environment variables: the command may extend some of them.
    pub environment: Environment<'a>,
}

/// The command line, variables and files for a piece of work, without those that connect the CLI to Consort.
///
/// The arguments that connect the CLI ([`AgentCli::single_run`]) come before these, and are made with these
/// variables in the environment: both may extend the same variable.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeadlessCommand {
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// The files to write first, together with their directories, readable by nobody else.
    pub files: Vec<(PathBuf, String)>,
    /// The text of the CLI's standard input, which then ends. It has the prompt, because arguments can be
    /// read by everyone on the machine and have a limit.
    pub stdin: Option<String>,
    /// The requested settings for which this CLI has no option: `model`, `reasoning`, `budget`. Turns are
    /// counted by the run's supervisor.
    pub ignored: Vec<&'static str>,
    /// The id of the session, if we could choose it: the CLI may print it only at the end.
    pub session: Option<String>,
}

impl HeadlessCommand {
    pub(crate) fn argue(&mut self, words: impl IntoIterator<Item = impl Into<String>>) {
        self.arguments.extend(words.into_iter().map(Into::into));
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.into(), value.into()));
    }

    /// Adds a file with this text to write in the run's directory, and returns its path.
    pub(crate) fn write(&mut self, work: &Headless<'_>, name: &str, text: impl Into<String>) -> String {
        let path = work.dir.join(name);
        let shown = path.to_string_lossy().into_owned();
        self.files.push((path, text.into()));
        shown
    }

    /// Notes a setting as ignored if it was requested.
    pub(crate) fn ignore(&mut self, what: &'static str, is_asked: bool) {
        if is_asked {
            self.ignored.push(what);
        }
    }
}

/// Reads the output of a worker. **Work has succeeded if its process ended with 0 and no
/// [`WorkerEvent::Failed`] was reported**: exit codes alone are not reliable.
///
/// Lines that are not understood are ignored. The result of the work is the text of [`WorkerEvent::Result`],
/// else of the last [`WorkerEvent::Said`].
pub trait OutputReader: Send {
    /// Reads a line of standard output.
    fn line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent>;

    /// Reads a line of standard error, for retries and refused tools.
    fn error_line(&mut self, _line: &str, _now: Timestamp) -> Vec<WorkerEvent> {
        Vec::new()
    }

    /// Returns what the output says about the worker's end, once its process has ended.
    fn end_report(&mut self, over: &WorkerEnd<'_>) -> EndReport;

    /// Returns the remaining events once the worker's process has ended; `read` returns the text of a file,
    /// or only the end of a large file.
    fn end(
        &mut self,
        exit: &WorkerExit,
        now: Timestamp,
        config_dir: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Vec<WorkerEvent> {
        let EndReport { mut told, failure, has_ended } =
            self.end_report(&WorkerEnd { exit, now, config_dir, read });
        let unsaid = || worker_output::failure_without_end(exit, now).filter(|_| !has_ended);
        told.extend(failure.or_else(unsaid).map(WorkerEvent::Failed));
        told
    }
}

/// The facts about a worker whose process has ended.
pub struct WorkerEnd<'a> {
    pub exit: &'a WorkerExit,
    pub now: Timestamp,
    /// The CLI's configuration directory.
    pub config_dir: &'a Path,
    /// Returns the text of a file, or only the end of a large file.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
}

/// The facts about a worker's end that its output has.
#[derive(Debug, Default)]
pub struct EndReport {
    /// The events that were not reported yet.
    pub told: Vec<WorkerEvent>,
    pub failure: Option<Failure>,
    /// Whether the output says that the work is done: otherwise the failure is taken from the process's exit.
    pub has_ended: bool,
}

/// Tells whether a worker of this CLI needs a variable of the person's environment: a key, an address, or a
/// setting of the CLI. Variables of another session are never needed.
pub fn needs_variable(cli: &dyn AgentCli, variable: &str) -> bool {
    let is_it = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(prefix) => variable.starts_with(prefix),
        None => variable == *pattern,
    };
    !is_of_session(variable) && cli.key_variables().iter().any(is_it)
}
