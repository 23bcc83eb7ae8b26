//! Finds the options that an installed CLI has: asked once for each file, because a CLI takes half a second
//! to print them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_agents::flags::Flags;
use consort_core::text;
use consort_host::Paths;

use crate::connect;

/// Longest time a CLI may take to print its options.
const PATIENCE: Duration = Duration::from_secs(15);

/// Returns the options of the installed CLI. A CLI that prints none counts as having those that it was seen
/// with.
pub(crate) fn of(paths: &Paths, cli: &dyn AgentCli, program: &Path) -> Flags {
    let file = file(paths, cli, program);
    if let Some(known) = file.as_ref().and_then(|file| fs::read_to_string(file).ok()) {
        return Flags::from_names(known.lines().map(str::to_owned));
    }
    let help = consort_host::run_for_help(program, cli.help_arguments(), PATIENCE).unwrap_or_default();
    let flags = Flags::from_help(cli, &help);
    if !help.is_empty() {
        keep(file.as_deref(), &flags);
    }
    flags
}

/// Remembers that an option was refused.
pub(crate) fn forget(paths: &Paths, cli: &dyn AgentCli, program: &Path, flag: &str) {
    let mut flags = of(paths, cli, program);
    flags.forget(flag);
    keep(file(paths, cli, program).as_deref(), &flags);
}

fn keep(file: Option<&Path>, flags: &Flags) {
    let names: Vec<&str> = flags.names().collect();
    if let Some((file, dir)) = file.zip(file.and_then(Path::parent))
        && connect::private_dir(dir).is_ok()
    {
        let _ = fs::write(file, names.join("\n"));
    }
}

/// Returns the file in which the options are kept, for this file of the program.
fn file(paths: &Paths, cli: &dyn AgentCli, program: &Path) -> Option<PathBuf> {
    let found = fs::metadata(program).ok()?;
    let life = format!("{} {} {} {}", program.display(), found.ino(), found.len(), found.mtime());
    let name = format!("{}-{:016x}", cli.kind(), text::stable_hash(life.as_bytes()));
    Some(paths.data.join("flags").join(name))
}
