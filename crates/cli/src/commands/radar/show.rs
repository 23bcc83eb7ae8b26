//! The command `consort radar show`: explains why two agents are expected to collide.

use consort_core::convergence::recommendation;
use consort_core::journal::Number;
use consort_core::text;

use super::evidence;
use super::measure;
use super::pair;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its number: `4` or `#4`
    #[arg(value_parser = crate::args::number)]
    number: Number,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let prediction = opened.app.prediction(args.number, &opened.project.id)?;
    if args.json {
        return world.out.one(&mut opened.app, "prediction", &prediction);
    }
    let now = opened.app.host().now();
    let (pair, signal) = (pair(&prediction), &prediction.signal);
    world.out.line(format!(
        "{pair}, foreseen {}: {}.",
        text::ago(now.since(prediction.at)),
        measure(signal)
    ))?;
    world.out.line(format!("Seen by {}.", evidence(signal)))?;
    match &prediction.ended {
        None => {
            world.out.line(recommendation(signal))?;
            world.out.line(
                "It ends as prevented when one writes to the other about it or claims what it is about; as \
                 occurred when both write the same file or go on with the same topic; as false after an hour \
                 of both at work with nothing in common; as expired when one leaves.",
            )
        }
        Some(ended) => {
            let ago = text::ago(now.since(ended.at));
            world.out.line(format!(
                "It ended {ago} as {}: {}.",
                ended.outcome.words(),
                text::one_line(&ended.how, 200)
            ))
        }
    }
}
