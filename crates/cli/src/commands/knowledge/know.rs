//! `consort know`

use std::io::Read as _;
use std::path::Path;
use std::path::PathBuf;

use consort_knowledge::Format;
use consort_knowledge::document;

use super::ScopeArgs;
use super::USUAL_TOKENS;
use super::exchange;
use super::share;
use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::person;
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
        #[arg(default_value = "principles", value_parser = ["principles", "patterns", "decisions", "files", "relationships"])]
        kind: String,
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
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Take in a .yjs file, what `export` printed, or a memory server's JSONL
    Import {
        file: PathBuf,
        #[command(flatten)]
        scope: ScopeArgs,
    },
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
    /// Try whether what comes on standard input can be read
    #[command(hide = true)]
    Try,
}

pub(crate) fn run(world: &World, command: &Command) -> Result<ExitCode, CommandError> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (source, scope, format) = match command {
        Command::Search { words, scope } => {
            (format!("(search-knowledge {})", quoted(&words.join(" "))), scope, Format::Columnar)
        }
        Command::Show { name, scope } => (format!("(get-entity {})", quoted(name)), scope, Format::Record),
        Command::List { kind, scope } => (format!("(get-{kind})"), scope, Format::Columnar),
        Command::History { name, scope } => (format!("(history {})", quoted(name)), scope, Format::Columnar),
        Command::Stale { scope } => ("(get-stale)".to_owned(), scope, Format::Columnar),
        Command::AsOf { when, expression, scope } => {
            (format!("(as-of {} (lambda () {expression}))", quoted(when)), scope, Format::Columnar)
        }
        Command::Save => return save(world),
        Command::Import { file, scope } => return import(world, file, scope),
        Command::Export { markdown, scope } => {
            let mut opened = world.open()?;
            let scope = scope.of(&opened);
            return exchange::export(world, &mut opened, &scope, *markdown).map(|()| ExitCode::SUCCESS);
        }
        Command::Similar { words } => {
            let found = exchange::similar(world, &mut world.open()?, &words.join(" "));
            return found.map(|()| ExitCode::SUCCESS);
        }
        Command::Adopt { name, from } => {
            let adopted = exchange::adopt(world, &mut world.open()?, name, from.as_deref());
            return adopted.map(|()| ExitCode::SUCCESS);
        }
        Command::Merge { ours, theirs, .. } => return merge(ours, theirs),
        Command::Join { ours, theirs } => return join(world, ours, theirs),
        Command::Try => return attempt(),
    };
    let mut opened = world.open()?;
    let scope = scope.of(&opened);
    let answer = super::ask(&mut opened, &scope, &source, format, USUAL_TOKENS)?;
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

fn save(world: &World) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    person::known(&mut opened.app)?;
    let scope = consort_core::knowledge::Scope::Project(opened.project.id.clone());
    let mut index = opened.app.knowledge()?;
    // What is in the file and not known would be lost.
    share::ingest(&mut opened, &mut *index, &scope)?;
    let (path, length) = share::save(&mut opened, &scope)?;
    world.out.line(format!("Saved {} ({length} bytes).", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn import(world: &World, file: &Path, scope: &ScopeArgs) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    person::known(&mut opened.app)?;
    let scope = scope.of(&opened);
    if file.extension().is_none_or(|kind| kind != "yjs") {
        return exchange::import(world, &mut opened, &scope, file).map(|()| ExitCode::SUCCESS);
    }
    let mut index = opened.app.knowledge()?;
    let count = share::ingest_file(&mut opened, &mut *index, &scope, &TheirFile::OfUser(file.to_owned()))?;
    world.out.line(format!("{} new.", consort_core::text::count(count, "word")))?;
    Ok(ExitCode::SUCCESS)
}

/// Git takes the second file for the result; where this fails, that is a conflict.
fn merge(ours: &Path, theirs: &Path) -> Result<ExitCode, CommandError> {
    match share::in_a_child("join", &[ours, theirs], b"")? {
        Some((code, said)) => {
            if !said.is_empty() {
                crate::out::note(said.trim_end());
            }
            Ok(ExitCode::from(code))
        }
        None => Err(cannot_merge("it was too much")),
    }
}

fn join(world: &World, ours: &Path, theirs: &Path) -> Result<ExitCode, CommandError> {
    let (one, other) = (share::bytes(ours)?, share::bytes(theirs)?);
    let mut document = document::Document::load(&one).map_err(cannot_merge)?;
    document.merge(&other).map_err(cannot_merge)?;
    TheirFile::OfUser(ours.to_owned()).write(&document.state(), &world.pending())?;
    Ok(ExitCode::SUCCESS)
}

fn cannot_merge(error: impl std::fmt::Display) -> CommandError {
    CommandError::user(format!("they cannot be merged: {error}"), "`consort know save` writes one anew")
}

fn attempt() -> Result<ExitCode, CommandError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    let is_good = read.is_ok() && document::Document::load(&bytes).is_ok();
    Ok(ExitCode::from(if is_good { 0 } else { exit::FOUND_SOMETHING }))
}
