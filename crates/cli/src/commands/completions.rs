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
    world.out.text(script(args.shell))
}

fn script(shell: Shell) -> String {
    let mut command = args::command();
    // Only this fills in the arguments of each command.
    command.build();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown(&command), "consort", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Returns the command without hidden subcommands and options.
fn shown(command: &clap::Command) -> clap::Command {
    // The parser wants names that live forever; the process ends after this one script.
    let name: &'static str = command.get_name().to_owned().leak();
    let bare = clap::Command::new(name);
    let bare = command.get_about().map_or(bare.clone(), |about| bare.about(about.clone()));
    let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    // The parser adds `help` and `version` by itself.
    let is_own =
        |arg: &&clap::Arg| !matches!(arg.get_id().as_str(), "help" | "version") && !arg.is_hide_set();
    let inner = inner.filter(|inner| inner.get_name() != "help");
    bare.args(command.get_arguments().filter(is_own).cloned()).subcommands(inner.map(shown))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_gets_the_options_of_every_command() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            assert!(script.contains("timeout") && script.contains("contest"), "{shell}");
        }
    }
}
