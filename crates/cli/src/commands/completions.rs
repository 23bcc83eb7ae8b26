//! The command `consort completions`: prints a shell's completion script.

use clap_complete::Shell;

use crate::args;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    shell: Shell,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shown(&args::command()), "consort", &mut script);
    world.out.text(String::from_utf8_lossy(&script))
}

/// The command without what is not for people.
fn shown(command: &clap::Command) -> clap::Command {
    // The parser wants names that last; this process ends with its one script.
    let name: &'static str = command.get_name().to_owned().leak();
    let bare = clap::Command::new(name);
    let bare = command.get_about().map_or(bare.clone(), |about| bare.about(about.clone()));
    let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    bare.args(command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned()).subcommands(inner.map(shown))
}
