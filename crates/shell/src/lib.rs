//! The shell kernel: which files a shell command would write, read from its text alone.
//!
//! Nothing is run here. What the command itself would read as a script, a patch or a
//! makefile, what is on the disk, and which names are in a directory, the caller may tell.
//! The text goes through bash's own
//! grammar, because quoting, here-documents, substitutions and `[[ a > b ]]`
//! are grammar: a pattern that finds `> b` in a line also finds it in a commit
//! message, and misses it in `tee`. Then every program that is known is asked
//! what it does with its operands, `cd` and variables are followed, and wrappers
//! (`sudo`, `bash -c`, `xargs`) are looked through.
//!
//! **What it reports is surely written if the command runs to its end as it
//! stands; what it cannot tell it says it cannot tell.** A variable, a program
//! nobody described, a text that does not parse: [`Reading::is_certain`] is
//! false, and no guess is made.
//!
//! It is also bounded: any text is answered, quickly and without a deep stack
//! (see `guard`).

mod aliases;
mod braces;
mod calls;
#[cfg(test)]
mod calls_tests;
mod conditions;
mod detours;
mod globs;
mod habits;
mod heredocs;
mod input;
mod links;
mod nodes;
mod output;
mod outside;
mod parse_limits;
mod place;
mod plain;
mod programs;
mod redirects;
mod substitutions;
mod variables;
mod walk;
mod words;

pub use aliases::shell_alias;
pub use calls::Call;
pub use calls::Calls;
pub use calls::calls;
pub use detours::Detour;
pub use outside::Outside;
use walk::Walk;

/// What a command would write, as far as its text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub writes: Vec<Write>,
    /// Files whose text it shows, as paths like those that are written. Some of them are
    /// enough: they are what its agent has seen.
    pub reads: Vec<String>,
    /// False: something in it may write what the text does not tell.
    pub is_certain: bool,
    /// Whether something in it is to see the machine as it is.
    pub outside: Option<Outside>,
    /// Whether it leaves something running (`&`).
    pub leaves_job: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Relative to where the command starts, or absolute; `cd` is followed.
    /// `.` and `..` are resolved as text. In a glob, a backslash stands before
    /// each `*`, `?`, `[`, `]` and `\` that was quoted and so means itself.
    pub path: String,
    pub extent: Extent,
    /// The program: `sed`, `git stash`, `>`.
    pub by: String,
    /// For [`Extent::Commits`]: what `git diff` is to be asked for.
    pub range: Vec<String>,
    /// A link at the end of the path is itself meant.
    pub is_entry: bool,
    /// What must be there for it to be written.
    pub needs: Needs,
}

/// What must be at a path for a program to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    #[default]
    Nothing,
    /// Nothing there: `mkdir`, `cp -n`.
    Absent,
    /// Something there: `rm -r`, `chmod`.
    Present,
    /// Something there that is no directory: `rm`, `sed -i`.
    File,
    /// Nothing changed in its worktree: `npm version`.
    Clean,
    /// Its directory, which is not there now: `> deep/file`.
    Directory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// That file.
    File,
    /// That file, or everything below that directory.
    Tree,
    /// What matches that glob. `**` reaches across directories.
    Glob,
    /// Whatever is uncommitted in the worktree of that directory.
    Changes,
    /// Any file of the worktree of that directory.
    Worktree,
    /// What differs between commits, in the worktree of that directory.
    Commits,
}

/// Gives the text of a small file, by its path from where the command starts.
pub type ReadFile<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// Whether a directory, or anything, is there, by its path from where the command starts.
pub type IsThere<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// What an alias stands for.
pub type Alias<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The names in a directory, by its path from where the command starts; few ask for it.
pub type Entries<'a> = &'a (dyn Fn(&str) -> Option<Vec<String>> + Sync);

/// The value of a variable of the environment.
pub type Variable<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// What is known of where a command starts.
#[derive(Clone, Copy, Default)]
pub struct Here<'a> {
    /// For what the command itself would read.
    pub read: Option<ReadFile<'a>>,
    /// For `cd`.
    pub is_dir: Option<IsThere<'a>>,
    /// For conditions, and for programs that are not installed.
    pub is_there: Option<IsThere<'a>>,
    /// For `git`.
    pub alias: Option<Alias<'a>>,
    /// For programs that nobody knows.
    pub shell_alias: Option<Alias<'a>>,
    /// For patterns.
    pub entries: Option<Entries<'a>>,
    /// For conditions.
    pub variable: Option<Variable<'a>>,
    /// What `~` and `$HOME` stand for.
    pub home: Option<&'a str>,
    /// What `$PWD` and `$(pwd)` stand for.
    pub cwd: Option<&'a str>,
    /// What `$(git rev-parse --show-toplevel)` stands for.
    pub worktree: Option<&'a str>,
}

impl<'a> From<Option<&'a str>> for Here<'a> {
    /// Somewhere, for who has that home.
    fn from(home: Option<&'a str>) -> Self {
        Self { home, ..Self::default() }
    }
}

pub use programs::git_alias;

/// Reads `command` as bash would.
pub fn read<'a>(command: &str, here: impl Into<Here<'a>>) -> Reading {
    let mut walk = Walk::new(here.into());
    walk.script(command);
    walk.into_reading()
}
