//! The shell kernel: which files a shell command would write, read from its text alone.
//!
//! Nothing is run here. The caller may provide the files that the command itself would read (a
//! script, a patch or a makefile), the state of the disk, and the names in a directory. The text
//! goes through bash's own grammar, because quoting, here-documents, substitutions and
//! `[[ a > b ]]` are grammar: a pattern that finds `> b` in a line also finds it in a commit
//! message, and misses it in `tee`. Then each known program is asked what it does with its
//! operands, `cd` and variables are followed, and so are the commands that wrappers run (`sudo`,
//! `bash -c`, `xargs`).
//!
//! **A write that is reported surely happens if the command runs to its end as it stands; if there
//! may be other writes, the reading says so.** For a variable, a program nobody described, or a
//! text that does not parse, [`Reading::is_certain`] is false, and no guess is made.
//!
//! The work is bounded, too: any text is answered, quickly and without a deep stack (see `parse_limits`).

mod aliases;
mod braces;
mod calls;
#[cfg(test)]
mod calls_tests;
mod conditions;
mod detours;
mod globs;
mod heredocs;
mod input;
mod links;
mod nodes;
mod output;
mod outside;
mod parse_limits;
mod place;
mod plain;
mod program_traits;
mod programs;
mod redirects;
mod substitutions;
mod variables;
mod walk;
mod words;

pub use aliases::shell_alias_in;
pub use calls::Calls;
pub use calls::ShellCall;
pub use calls::calls;
pub use detours::Detour;
pub use outside::UnconfinedReason;
use walk::Walk;

/// The files that a command would write and show, as far as its text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub writes: Vec<Write>,
    /// Files whose text the command shows, as paths like those that are written. The list may be
    /// incomplete: these are files that the agent has seen.
    pub reads: Vec<String>,
    /// Whether these are all writes; if false, some part of the command may write other files.
    pub is_certain: bool,
    /// The reason to run the command on the machine as it is, not in a restricted
    /// view of it; if there is one.
    pub outside: Option<UnconfinedReason>,
    /// Whether the command leaves a job running (`&`).
    pub leaves_job: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The path, absolute or relative to the directory the command starts in; `cd` is followed. `.`
    /// and `..` are resolved as text. In a glob, a backslash stands before each `*`, `?`, `[`, `]`
    /// and `\` that was quoted and so means itself.
    pub path: String,
    pub extent: Extent,
    /// The program that writes: `sed`, `git stash`, `>`.
    pub by: String,
    /// For [`Extent::Commits`]: the revisions that `git diff` has to compare.
    pub range: Vec<String>,
    /// Whether a link at the end of the path is written itself, and not followed.
    pub is_entry: bool,
    /// The state of the path that the write requires.
    pub needs: Needs,
}

/// The state of a path that a program requires to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    #[default]
    Nothing,
    /// Nothing exists at the path: `mkdir`, `cp -n`.
    Absent,
    /// Something exists at the path: `rm -r`, `chmod`.
    Present,
    /// Something exists at the path that is no directory: `rm`, `sed -i`.
    File,
    /// Nothing is changed in the worktree of the path: `npm version`.
    Clean,
    /// The directory of the path exists, which it does not now: `> deep/file`.
    Directory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The file at the path.
    File,
    /// The file at the path, or everything below the directory there.
    Tree,
    /// All files that match the path as a glob; `**` matches across directories.
    Glob,
    /// All files with uncommitted changes in the worktree of the directory.
    Changes,
    /// Any file of the worktree of the directory.
    Worktree,
    /// The files that differ between commits, in the worktree of the directory.
    Commits,
}

/// A function that returns the text of a small file, by its path from the command's start.
pub type ReadFile<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// A function that tells whether a directory, or anything, exists at a path from the command's start.
pub type PathTest<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// A function that returns the command an alias stands for.
pub type Alias<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// A function that lists a directory, by its path from the command's start; few commands need it.
pub type Entries<'a> = &'a (dyn Fn(&str) -> Option<Vec<String>> + Sync);

/// A function that returns the value of an environment variable.
pub type Variable<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The facts about the place a command starts in, as far as the caller provides them.
#[derive(Clone, Copy, Default)]
pub struct ShellContext<'a> {
    /// Reads the files that the command itself would read.
    pub read: Option<ReadFile<'a>>,
    /// Tells whether a path is a directory.
    pub is_dir: Option<PathTest<'a>>,
    /// Tells whether a path exists, for conditions and for programs that are not installed.
    pub is_there: Option<PathTest<'a>>,
    /// Finds an alias of `git`.
    pub alias: Option<Alias<'a>>,
    /// Finds an alias of the shell, for programs that nobody described.
    pub shell_alias: Option<Alias<'a>>,
    /// Lists the names in a directory, for patterns.
    pub entries: Option<Entries<'a>>,
    /// Finds a variable of the environment.
    pub variable: Option<Variable<'a>>,
    /// The value of `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// The value of `$PWD` and `$(pwd)`.
    pub cwd: Option<&'a str>,
    /// The output of `$(git rev-parse --show-toplevel)`.
    pub worktree: Option<&'a str>,
}

impl<'a> From<Option<&'a str>> for ShellContext<'a> {
    /// Makes a context of which only the home directory is known.
    fn from(home: Option<&'a str>) -> Self {
        Self { home, ..Self::default() }
    }
}

pub use programs::git_alias;

/// Finds the writes of `command`, which is parsed as bash would parse it.
pub fn read<'a>(command: &str, here: impl Into<ShellContext<'a>>) -> Reading {
    let mut walk = Walk::new(here.into());
    walk.script(command);
    let mut reading = walk.into_reading();
    // A command that has our own mark in it could pass a known path for an unknown one.
    reading.is_certain &= !command.contains(words::ANY);
    reading
}
