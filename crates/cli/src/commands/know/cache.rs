//! The command `consort know cache`: keeps results that were computed from a file's content.

use std::io::Read as _;
use std::path::PathBuf;

use consort_core::text;
use consort_host::LARGEST_RESULT;
use consort_host::ResultCache;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge::envelope;
use crate::person;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print what was computed of a file as it is now; exits 1 where there is nothing
    Get {
        file: PathBuf,
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep what was computed of a file, from standard input
    Put {
        file: PathBuf,
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say how much there is
    Size {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget all of it
    Clear {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(world: &World, command: &Command) -> CommandResult {
    let dir = world.paths.data.join("cache");
    let cache = ResultCache::new(dir.clone());
    if matches!(command, Command::Put { .. } | Command::Clear { .. }) {
        person::refuse_anonymous(&mut world.app())?;
    }
    let told = |noun: &str, thing: Value| envelope::one(world, world.app().host().now(), noun, &thing);
    match command {
        Command::Get { file, name, json } => {
            let Some(result) = cache.get(file, name) else {
                return Err(CommandError::user(
                    format!("nothing called `{name}` is kept of {} as it is now", file.display()),
                    "`consort know cache put` keeps what standard input says",
                ));
            };
            let result = String::from_utf8_lossy(&result);
            match json {
                true => told("result", json!({ "file": file, "name": name, "text": result })),
                false => world.out.text(result),
            }
        }
        Command::Put { file, name, json } => {
            let mut result = Vec::new();
            let longest = LARGEST_RESULT as u64 + 1;
            let read = std::io::stdin().lock().take(longest).read_to_end(&mut result);
            let kept = read.and_then(|_| cache.put(file, name, &result));
            if !kept.map_err(|error| CommandError::file("cannot write", &dir, error))? {
                return Err(CommandError::user(
                    format!("nothing was kept of {}", file.display()),
                    "the file has to be there, and a result has at most 4 MiB",
                ));
            }
            match json {
                true => told("result", json!({ "file": file, "name": name, "bytes": result.len() })),
                false => Ok(()),
            }
        }
        Command::Size { json: true } => told("cache", of(&cache)),
        Command::Size { json: false } => {
            let size = cache.size();
            let bytes = usize::try_from(size.bytes).unwrap_or(usize::MAX);
            let line = format!(
                "{}, {}",
                text::counted_noun(size.results, "result"),
                text::counted_noun(bytes, "byte")
            );
            world.out.line(line)
        }
        Command::Clear { json } => {
            cache.clear().map_err(|error| CommandError::file("cannot remove", &dir, error))?;
            if *json { told("cache", of(&cache)) } else { Ok(()) }
        }
    }
}

/// Returns the size of the cache as JSON.
fn of(cache: &ResultCache) -> Value {
    let size = cache.size();
    json!({ "results": size.results, "bytes": size.bytes })
}
