//! The command `consort know cache`: keeps results that were computed from a file's content.

use std::io::Read as _;
use std::path::PathBuf;

use consort_core::text;
use consort_host::Cache;
use consort_host::LARGEST_RESULT;
use serde_json::json;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::knowledge::envelope;
use crate::person;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print what was computed of a file as it is now; exits 1 where there is nothing
    Get { file: PathBuf, name: String },
    /// Keep what was computed of a file, from standard input
    Put { file: PathBuf, name: String },
    /// Say how much there is
    Size {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget all of it
    Clear,
}

pub(super) fn run(world: &World, command: &Command) -> Result<ExitCode, CommandError> {
    let dir = world.paths.data.join("cache");
    let cache = Cache::new(dir.clone());
    if matches!(command, Command::Put { .. } | Command::Clear) {
        person::known(&mut world.app())?;
    }
    match command {
        Command::Get { file, name } => match cache.get(file, name) {
            Some(result) => world.out.text(String::from_utf8_lossy(&result))?,
            None => return Ok(ExitCode::from(exit::FOUND_SOMETHING)),
        },
        Command::Put { file, name } => {
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
        }
        Command::Size { json } => {
            let size = cache.size();
            if *json {
                let size = json!({ "results": size.results, "bytes": size.bytes });
                envelope::one(world, world.app().host().now(), "cache", &size)?;
                return Ok(ExitCode::SUCCESS);
            }
            let bytes = usize::try_from(size.bytes).unwrap_or(usize::MAX);
            world.out.line(format!(
                "{}, {}",
                text::count(size.results, "result"),
                text::count(bytes, "byte")
            ))?;
        }
        Command::Clear => cache.clear().map_err(|error| CommandError::file("cannot remove", &dir, error))?,
    }
    Ok(ExitCode::SUCCESS)
}
