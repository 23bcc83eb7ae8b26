//! What an agent CLI is called with to work without a terminal, and how what it prints is
//! read.

use std::path::Path;
use std::path::PathBuf;

use consort_core::dispatch::Cost;
use consort_core::dispatch::Safety;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;

/// A piece of work for a CLI.
pub struct Headless<'a> {
    pub prompt: &'a str,
    /// What it is told about its role, besides its own system prompt.
    pub system: Option<&'a str>,
    pub model: Option<&'a str>,
    /// `off`, `minimal`, `low`, `medium`, `high`, `xhigh`.
    pub reasoning: Option<&'a str>,
    pub safety: Safety,
    pub max_turns: Option<u32>,
    pub budget: Option<Cost>,
    /// The session to go on with, as [`WorkerEvent::Session`] told it.
    pub resume: Option<&'a str>,
    /// The run's own directory, for what has to be in a file.
    pub dir: &'a Path,
    /// Which options the installed program knows.
    pub knows: &'a dyn Fn(&str) -> bool,
}

/// What that takes, besides what connects it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeadlessCommand {
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// To be written first.
    pub files: Vec<(PathBuf, String)>,
    /// What was asked for and this CLI cannot be told.
    pub ignored: Vec<&'static str>,
}

/// Reads what a worker prints.
pub trait OutputReader {
    /// What a line of standard output tells.
    fn line(&mut self, line: &str) -> Vec<WorkerEvent>;

    /// What is left to tell when its process has ended; `read` gives the text of a file.
    fn end(
        &mut self,
        _exit: &WorkerExit,
        _config_dir: &Path,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Vec<WorkerEvent> {
        Vec::new()
    }
}
