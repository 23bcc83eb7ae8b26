//! The commands `consort know …`: a file each, named like the command; those that ask
//! one question are in `look`.

mod add;
mod adopt;
mod apply;
mod cache;
mod export;
mod forget;
mod import;
mod look;
mod markdown;
mod merge;
mod query;
mod renew;
mod save;
mod similar;
mod suggest;
mod sync;
mod take_in;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;

use consort_core::knowledge::Kind;

use self::look::LookUp;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::exit::ExitCode;
use crate::knowledge::ScopeArgs;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Record one principle, pattern, decision, file or note
    Add(add::Args),
    /// Ask what is known, in a small language
    Query(query::Args),
    /// Record a batch of actions, as a whole or not at all
    Apply(apply::Args),
    /// Find what has these words, best first
    Search {
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Show one, whole
    Show {
        name: String,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// List everything of a kind
    List {
        #[arg(default_value = "principles", value_parser = kind_named)]
        kind: Kind,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Say who said what of it, and when
    History {
        name: String,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Show what leans on files that changed since
    Stale {
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Ask as it was then: a date (`2026-11-01`), a while (`3d`) or a commit
    AsOf {
        when: String,
        expression: String,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Write this project's knowledge to .consort/knowledge.yjs, for git
    Save {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print all of it: JSON, one thing a line, or Markdown for people
    Export {
        #[arg(long)]
        markdown: bool,
        /// Write a file for each thing below this directory, which `import` reads back
        #[arg(long, value_name = "DIRECTORY", requires = "markdown")]
        to: Option<PathBuf>,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Take in a .yjs file, what `export` wrote, a memory server's JSONL; or list what CLAUDE.md says
    Import(import::Args),
    /// Ask the next session that touches its file to look at it again; or say that it still holds
    Renew(renew::Args),
    /// Remove something for good, from the file for git and from other replicas too
    Forget {
        name: String,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Name what sessions found out and nobody recorded: decisions, files, commands
    Suggest {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find principles and patterns of other projects; without words, the projects that are like this one
    Similar {
        words: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy something that another project knows, with where it is from
    Adopt {
        name: String,
        /// The project; without it, your own shelf
        #[arg(long, value_name = "PROJECT")]
        from: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Exchange what is known with a server elsewhere, and go on as it changes
    Sync(sync::Args),
    /// Notice when files change that something is known of
    Watch(watch::Args),
    /// Keep results that follow from a file's content alone
    #[command(subcommand)]
    Cache(cache::Command),
    /// Run by git to merge two such files: base, ours, theirs
    #[command(hide = true)]
    Merge { base: PathBuf, ours: PathBuf, theirs: PathBuf },
    /// The same, in the process that may die of it
    #[command(hide = true)]
    Join { ours: PathBuf, theirs: PathBuf },
    /// Record what this worktree's file says, in the process that may die of it
    #[command(hide = true)]
    TakeIn,
    /// Try whether what comes on standard input can be read
    #[command(hide = true)]
    Try,
}

/// Parses a kind, in the singular or the plural.
fn kind_named(name: &str) -> Result<Kind, String> {
    let all = || Kind::ALL.map(|kind| format!("{}s", kind.as_str())).join(", ");
    Kind::named(name.strip_suffix('s').unwrap_or(name)).ok_or_else(|| format!("there are {}", all()))
}

impl Command {
    /// Parses the words after `consort know` without clap, if they are one of the common forms.
    pub(crate) fn quick(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let is_query = arguments.next().is_some_and(|first| first == "query");
        if is_query { query::Args::quick(arguments).map(Self::Query) } else { None }
    }
}

pub(crate) fn run(world: &World, command: &Command) -> Result<ExitCode, CommandError> {
    let done = |result: CommandResult| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Add(args) => done(add::run(world, args)),
        Command::Query(args) => query::run(world, args),
        Command::Apply(args) => done(apply::run(world, args)),
        Command::Search { words, scope } => look::run(world, &LookUp::Search(words.join(" ")), scope),
        Command::Show { name, scope } => look::run(world, &LookUp::Show(name), scope),
        Command::List { kind, scope } => look::run(world, &LookUp::List(*kind), scope),
        Command::History { name, scope } => look::run(world, &LookUp::History(name), scope),
        Command::Stale { scope } => look::run(world, &LookUp::Stale, scope),
        Command::AsOf { when, expression, scope } => look::run(world, &LookUp::AsOf(when, expression), scope),
        Command::Save { json } => done(save::run(world, *json)),
        Command::Export { markdown, to, scope } => done(export::run(world, scope, *markdown, to.as_deref())),
        Command::Import(args) => done(import::run(world, args)),
        Command::Renew(args) => done(renew::run(world, args)),
        Command::Forget { name, scope } => done(forget::run(world, name, scope)),
        Command::Suggest { json } => done(suggest::run(world, *json)),
        Command::Similar { words, json } => done(similar::run(world, &words.join(" "), *json)),
        Command::Adopt { name, from, json } => done(adopt::run(world, name, from.as_deref(), *json)),
        Command::Sync(args) => done(sync::run(world, args)),
        Command::Watch(args) => done(watch::run(world, args)),
        Command::Cache(command) => done(cache::run(world, command)),
        Command::Merge { ours, theirs, .. } => merge::run(ours, theirs),
        Command::Join { ours, theirs } => merge::join(world, ours, theirs),
        Command::TakeIn => take_in::run(world),
        Command::Try => merge::check_document(),
    }
}
