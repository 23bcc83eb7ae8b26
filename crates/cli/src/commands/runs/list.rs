//! The command `consort runs list`: lists runs, the newest first.

use consort_core::dispatch::RunRecord;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandResult;
use crate::render::runs as render;
use crate::runs::health;
use crate::runs::orphans;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only those that have not ended
    #[arg(long)]
    open: bool,
    /// Most runs to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    orphans::reap(&world.paths, &mut opened.app)?;
    let project = opened.project.id.clone();
    let runs: Vec<RunRecord> = match args.open {
        true => {
            let of_project = |run: &RunRecord| run.project.as_ref() == Some(&project);
            opened.app.open_runs()?.into_iter().filter(of_project).take(args.most).collect()
        }
        false => opened.app.runs(&project, args.most, &|_| true)?,
    };
    let now = opened.app.host().now();
    let health = |run: &RunRecord| health(&world.paths, run, now);
    if args.json {
        let item = |run: &RunRecord| {
            let mut item = render::item(&opened.app, run);
            item["health"] = json!(health(run));
            item
        };
        let items: Vec<Value> = runs.iter().map(item).collect();
        return world.out.items(&mut opened.app, &items);
    }
    if runs.is_empty() {
        return world.out.line("No runs. consort run 'explain how the tests are started'");
    }
    runs.iter().try_for_each(|run| world.out.line(render::line(run, health(run), now)))
}
