//! The request and the result of connecting one run of an agent CLI for `consort with`: arguments, variables
//! and files, with the CLI's settings left unchanged.

use std::path::Path;
use std::path::PathBuf;

use crate::Environment;

/// A run of a CLI that is to be connected.
pub struct SingleRun<'a> {
    /// The path or name by which to call our program.
    pub program: &'a str,
    /// A directory of our own, for the files that connect the run.
    pub dir: &'a Path,
    /// The CLI's configuration directory.
    pub config_dir: &'a Path,
    /// The worktree of the run, whose project files may connect the CLI too.
    pub worktree: &'a Path,
    /// Whether to add our hooks; otherwise the CLI's settings have them already.
    pub hooks: bool,
    /// Whether to add our MCP server; otherwise the CLI's settings have it already.
    pub mcp: bool,
    /// Whether to run the CLI's commands behind the shield; otherwise they run behind it already, or cannot.
    pub shield: bool,
    /// The arguments that the person gives the CLI.
    pub arguments: &'a [String],
    pub environment: Environment<'a>,
    /// Returns the text of a file.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// Returns the paths in a directory.
    pub list: &'a dyn Fn(&Path) -> Vec<PathBuf>,
}

/// The arguments, variables and files that connect a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunSetup {
    /// The arguments to put before the person's own.
    pub arguments: Vec<String>,
    /// The indices of the person's arguments to leave out, because ours include them.
    pub replaced: Vec<usize>,
    pub variables: Vec<(&'static str, String)>,
    /// The files to write below our own directory first.
    pub files: Vec<(PathBuf, String)>,
    /// The links to make below our own directory, each with its target.
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl RunSetup {
    pub(crate) fn argue(&mut self, words: impl IntoIterator<Item = impl Into<String>>) {
        self.arguments.extend(words.into_iter().map(Into::into));
    }

    /// Adds a file with this text to write in our directory, and returns its path.
    pub(crate) fn write(&mut self, once: &SingleRun<'_>, name: &str, text: String) -> String {
        let path = once.dir.join(name);
        let shown = path.to_string_lossy().into_owned();
        self.files.push((path, text));
        shown
    }
}
