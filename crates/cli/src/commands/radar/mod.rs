//! The command `consort radar`: warns about agents that are likely to collide.

mod history;
mod list;
mod merges;
mod show;
mod topics;

use std::fmt::Write as _;

use consort_core::convergence::Counters;
use consort_core::convergence::Prediction;
use consort_core::convergence::Signal;
use consort_core::text;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[group(skip)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List who is likely to collide with whom (also without `list`)
    List(list::Args),
    /// Show why two agents are expected to collide
    Show(show::Args),
    /// List past predictions, and what came of them
    History(history::Args),
    /// List and change which topics belong together
    Topics(topics::Args),
    /// Find branches that will conflict, and notify their agents
    Merges(merges::Args),
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    match &args.command {
        None => list::run(world, &args.list),
        Some(Command::List(args)) => list::run(world, args),
        Some(Command::Show(args)) => show::run(world, args),
        Some(Command::History(args)) => history::run(world, args),
        Some(Command::Topics(args)) => topics::run(world, args),
        Some(Command::Merges(args)) => merges::run(world, args),
    }
}

/// Formats a signal's measures: `mutual deepening, 0.80, about 1 prompt away`.
fn measure(signal: &Signal) -> String {
    let distance = text::counted_noun(signal.distance as usize, "prompt");
    format!("{}, {:.2}, about {distance} away", signal.kind.as_str(), signal.confidence)
}

fn evidence(signal: &Signal) -> String {
    let mut text = String::new();
    for (what, names) in [("topics", &signal.topics), ("files", &signal.files), ("domains", &signal.domains)]
    {
        if !names.is_empty() {
            let names = text::first_few(names.iter().map(|name| text::foreign(name, 60)), 4);
            let _ = write!(text, "{}{what}: {names}", if text.is_empty() { "" } else { "; " });
        }
    }
    text
}

fn pair(prediction: &Prediction) -> String {
    let [one, other] = &prediction.pair;
    format!("{} and {}", one.name, other.name)
}

fn summary(tally: &Counters) -> String {
    let all = tally.all;
    format!(
        "Threshold {:.2}; so far {} prevented, {} occurred, {} false, {} expired.",
        tally.threshold, all.prevented, all.occurred, all.false_positive, all.expired
    )
}
