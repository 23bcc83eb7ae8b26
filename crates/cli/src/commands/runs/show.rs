//! The command `consort runs show`: shows a run and its result.

use consort_core::dispatch::Progress;
use consort_core::dispatch::RunHealth;
use consort_core::dispatch::read_review;
use consort_core::secrets::redacted;
use serde_json::json;

use crate::error::CommandResult;
use crate::render::runs as render;
use crate::runs::RunDir;
use crate::runs::directory::RunNote;
use crate::runs::health;
use crate::runs::orphans;
use crate::time;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its number
    run: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    orphans::reap(&world.paths, &mut opened.app)?;
    let run = opened.app.run(&opened.project.id, &args.run)?;
    let dir = RunDir::of(&world.paths, run.id);
    let result = dir.read_result();
    if args.json {
        let mut item = render::item(&opened.app, &run);
        item["health"] = json!(health(&world.paths, &run, opened.app.host().now()));
        item["review"] = json!(run.spec.reviews.as_ref().and_then(|_| read_review(&result)));
        item["result"] = result.into();
        return world.out.one(&mut opened.app, "run", &item);
    }
    let spec = &run.spec;
    world
        .out
        .heading(&format!("Run {}", run.number), &format!("  {} {}", run.state.mark(), run.state.words()))?;
    world.out.line(format!("Task     {}", redacted(&spec.title)))?;
    world.out.line(format!(
        "Agent    {} ({}, {}, {})",
        spec.name,
        spec.role,
        spec.cli,
        spec.safety.as_str()
    ))?;
    world.out.line(format!("Where    {}", spec.cwd.display()))?;
    world.out.line(format!("Asked    {} by {}", time::local(run.at), run.by))?;
    if let Some(key) = &spec.takes {
        world.out.line(format!("Takes    {} of {}", key.id, key.spec.path))?;
    }
    match &run.end {
        Some(_) => world.out.line(format!("Ended    {}", render::summary(&run)))?,
        None => {
            let mut progress = Progress::default();
            for line in dir.lines() {
                if let RunNote::Event(event) = &line.what {
                    progress.hear(event);
                }
            }
            let doing = progress.running.last().map_or("-", |(_, about)| about.as_str());
            let tokens = progress.usage().tokens().map_or_else(|| "unknown".into(), |all| all.to_string());
            world.out.line(format!("Doing    {}", redacted(doing)))?;
            let health = health(&world.paths, &run, opened.app.host().now());
            if let Some(health) = health.filter(|health| *health != RunHealth::Well) {
                world.out.line(format!("Health   {}", health.as_str()))?;
            }
            world.out.line(format!(
                "So far   {} turns, {} tools, {tokens} tokens",
                progress.turns, progress.tools
            ))?;
        }
    }
    if let Some(session) = run.end.as_ref().and_then(|end| end.session.as_ref()) {
        world
            .out
            .line(format!("Session  {session} (`consort runs resume {} '<task>'` goes on)", run.number))?;
    }
    if !result.trim().is_empty() {
        world.out.line("")?;
        world.out.line(result.trim_end())?;
    }
    Ok(())
}
