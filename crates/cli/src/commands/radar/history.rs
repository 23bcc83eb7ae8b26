//! The command `consort radar history`: lists past predictions and their outcomes.

use consort_core::text;

use super::evidence;
use super::pair;
use super::summary;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let now = opened.app.host().now();
    let (past, tally) = opened.app.past_predictions()?;
    if args.json {
        return world.out.items(&mut opened.app, &past);
    }
    for prediction in past.iter().rev() {
        let Some(ended) = &prediction.ended else { continue };
        let (pair, signal) = (pair(prediction), evidence(&prediction.signal));
        let (outcome, how) = (ended.outcome.words(), text::one_line(&ended.how, 100));
        let age = text::ago(now.since(ended.at));
        world.out.line(format!(
            "prediction #{} {pair}: {signal}\n    {outcome}, {age}: {how}",
            prediction.number
        ))?;
    }
    world.out.line(summary(&tally))
}
