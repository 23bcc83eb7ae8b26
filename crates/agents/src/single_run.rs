//! What `consort with` needs to connect one run of an agent CLI: the arguments,
//! variables and files, with its settings left alone.

use std::path::Path;
use std::path::PathBuf;

use crate::Environment;

/// What a run is to be connected with.
pub struct SingleRun<'a> {
    /// How to call us.
    pub program: &'a str,
    /// A directory of our own, for what has to be in a file.
    pub dir: &'a Path,
    /// Where the CLI keeps its own things.
    pub config_dir: &'a Path,
    /// The worktree that it works in, for which it may be connected as well.
    pub worktree: &'a Path,
    /// Whether we are to hear of what it does; otherwise we do already.
    pub hooks: bool,
    /// Whether it is to be able to call us; otherwise it is already.
    pub mcp: bool,
    /// Whether its commands are to run behind the shield; otherwise they do already, or
    /// cannot.
    pub shield: bool,
    /// What the person calls it with.
    pub arguments: &'a [String],
    pub environment: Environment<'a>,
    /// A file's text.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// What is in a directory.
    pub list: &'a dyn Fn(&Path) -> Vec<PathBuf>,
}

/// What that takes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunSetup {
    /// Before the person's own.
    pub arguments: Vec<String>,
    /// Which of the person's own are part of ours now, by their place.
    pub replaced: Vec<usize>,
    pub variables: Vec<(&'static str, String)>,
    /// To be written in our own directory first.
    pub files: Vec<(PathBuf, String)>,
    /// To be linked there: what, and to what.
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl RunSetup {
    pub(crate) fn argue(&mut self, words: impl IntoIterator<Item = impl Into<String>>) {
        self.arguments.extend(words.into_iter().map(Into::into));
    }

    /// The file of that name, which is to say this.
    pub(crate) fn write(&mut self, once: &SingleRun<'_>, name: &str, text: String) -> String {
        let path = once.dir.join(name);
        let shown = path.to_string_lossy().into_owned();
        self.files.push((path, text));
        shown
    }
}
