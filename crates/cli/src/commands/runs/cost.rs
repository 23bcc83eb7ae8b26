//! The command `consort runs cost`: sums up what runs have cost, by CLI and day.

use std::collections::BTreeMap;

use consort_core::dispatch::Cost;
use consort_core::dispatch::DailyCliSpending;
use consort_core::text;
use serde_json::json;

use crate::error::CommandResult;
use crate::render::runs::shown_cost;
use crate::runs::start::dollars;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Of how many days, today included (UTC)
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    days: i64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let spent = opened.app.spending(&opened.project.id.clone(), args.days)?;
    if args.json {
        let items: Vec<_> = spent.iter().map(item).collect();
        return world.out.items(&mut opened.app, &items);
    }
    let mut by_cli: BTreeMap<&str, DailyCliSpending> = BTreeMap::new();
    for one in &spent {
        let all = by_cli.entry(&one.cli).or_default();
        all.runs += one.runs;
        all.failed += one.failed;
        all.cost.0 += one.cost.0;
        all.unknown += one.unknown;
        all.input += one.input;
        all.output += one.output;
    }
    if by_cli.is_empty() {
        return world.out.line("No run has ended here.");
    }
    for (cli, all) in &by_cli {
        let failed = if all.failed > 0 { format!(", {} not done", all.failed) } else { String::new() };
        world.out.line(format!(
            "{cli:<9} {:>8}{}  {}{failed}, {} tokens in, {} out",
            shown_cost(Some(all.cost)),
            unknown(all),
            text::counted_noun(usize::try_from(all.runs).unwrap_or(usize::MAX), "run"),
            all.input,
            all.output
        ))?;
    }
    let today = opened.app.host().now().0.div_euclid(consort_core::Timestamp::DAY);
    let today: i64 = spent.iter().filter(|one| one.day == today).map(|one| one.cost.0).sum();
    let cap = dollars(&opened.config, "budget.day");
    let cap = cap.map_or_else(|| "no limit".to_owned(), |cap| format!("of {}", shown_cost(Some(cap))));
    world.out.line(format!("Today {} {cap} (`budget.day`)", shown_cost(Some(Cost(today)))))
}

/// Formats the number of runs whose cost is unknown, and so not in the sum.
fn unknown(all: &DailyCliSpending) -> String {
    match all.unknown {
        0 => String::new(),
        1 => " + 1 run of unknown cost".to_owned(),
        more => format!(" + {more} runs of unknown cost"),
    }
}

fn item(one: &DailyCliSpending) -> serde_json::Value {
    let day = consort_core::Timestamp(one.day * consort_core::Timestamp::DAY).utc();
    json!({
        "day": day.split('T').next(), "cli": one.cli, "runs": one.runs, "not_done": one.failed,
        "cost_usd": one.cost.dollars(), "unknown_cost_runs": one.unknown,
        "tokens": { "input": one.input, "output": one.output }, "duration_s": one.seconds,
    })
}
