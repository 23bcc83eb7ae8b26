//! The command `consort know`: searches, shows and lists knowledge; its other
//! subcommands have files of their own.

mod adopt;
mod export;
mod forget;
mod import;
mod markdown;
mod merge;
mod save;
mod similar;
mod suggest;
mod take_in;

use std::path::PathBuf;

use consort_core::knowledge::Kind;
use consort_knowledge::Format;
use serde_json::json;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::knowledge;
use crate::knowledge::ScopeArgs;
use crate::knowledge::USUAL_TOKENS;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
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
    Save,
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
    /// Say that it was looked at, and still holds
    Renew {
        name: String,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Remove something for good, from the file for git and from other replicas too
    Forget {
        name: String,
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Name files that several sessions had to read, and of which nothing is known
    Suggest,
    /// Find principles and patterns of other projects
    Similar {
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Copy something that another project knows, with where it is from
    Adopt {
        name: String,
        /// The project; without it, your own shelf
        #[arg(long, value_name = "PROJECT")]
        from: Option<String>,
    },
    /// What git runs to merge two such files: base, ours, theirs
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

/// A kind, in the singular or the plural.
fn kind_named(name: &str) -> Result<Kind, String> {
    let all = || Kind::ALL.map(|kind| format!("{}s", kind.as_str())).join(", ");
    Kind::named(name.strip_suffix('s').unwrap_or(name)).ok_or_else(|| format!("there are {}", all()))
}

pub(crate) fn run(world: &World, command: &Command) -> Result<ExitCode, CommandError> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (source, scope, format) = match command {
        Command::Search { words, scope } => {
            (format!("(search-knowledge {})", quoted(&words.join(" "))), scope, Format::Columnar)
        }
        Command::Show { name, scope } => (format!("(get-entity {})", quoted(name)), scope, Format::Record),
        Command::List { kind, scope } => (format!("(get-{}s)", kind.as_str()), scope, Format::Columnar),
        Command::History { name, scope } => (format!("(history {})", quoted(name)), scope, Format::Columnar),
        Command::Stale { scope } => ("(get-stale)".to_owned(), scope, Format::Columnar),
        Command::AsOf { when, expression, scope } => {
            (format!("(as-of {} (lambda () {expression}))", quoted(when)), scope, Format::Columnar)
        }
        Command::Save => return save::run(world),
        Command::Import(args) => return import::run(world, args),
        Command::Renew { name, scope } => {
            let mut opened = world.open()?;
            let scope = scope.of(&opened);
            let confirm = json!([["confirm", { "name": name }]]);
            let renewed = knowledge::act(world, &mut opened, scope, confirm, knowledge::Manner::default());
            return renewed.map(|()| ExitCode::SUCCESS);
        }
        Command::Forget { name, scope } => return forget::run(world, name, scope),
        Command::Suggest => return suggest::run(world, &mut world.open()?).map(|()| ExitCode::SUCCESS),
        Command::Export { markdown, to, scope } => {
            let mut opened = world.open()?;
            let scope = scope.of(&opened);
            return export::run(world, &mut opened, &scope, *markdown, to.as_deref())
                .map(|()| ExitCode::SUCCESS);
        }
        Command::Similar { words } => {
            let found = similar::run(world, &mut world.open()?, &words.join(" "));
            return found.map(|()| ExitCode::SUCCESS);
        }
        Command::Adopt { name, from } => {
            let adopted = adopt::run(world, &mut world.open()?, name, from.as_deref());
            return adopted.map(|()| ExitCode::SUCCESS);
        }
        Command::Merge { ours, theirs, .. } => return merge::run(ours, theirs),
        Command::Join { ours, theirs } => return merge::join(world, ours, theirs),
        Command::TakeIn => return take_in::run(world),
        Command::Try => return merge::attempt(),
    };
    let mut opened = world.open()?;
    let scope = scope.of(&opened);
    let answer = knowledge::ask(&mut opened, &scope, &source, format, USUAL_TOKENS)?;
    if let (Command::Show { name, .. } | Command::History { name, .. }, "nil" | "()") =
        (command, answer.text.trim())
    {
        return Err(CommandError::user(
            format!("nothing called `{name}` is known"),
            format!("`consort know search {name}` finds what is like it"),
        ));
    }
    world.out.line(answer.text)?;
    Ok(ExitCode::from(if answer.has_failed { exit::FOUND_SOMETHING } else { 0 }))
}
