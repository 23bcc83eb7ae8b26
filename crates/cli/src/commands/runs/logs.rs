//! The command `consort runs logs`: prints the log of a run, and follows it.

use serde_json::json;

use crate::error::CommandResult;
use crate::render::runs as render;
use crate::runs::RunDir;
use crate::runs::directory::RunLine;
use crate::runs::follow;
use crate::time;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its number
    run: String,
    /// Go on until it has ended
    #[arg(short, long)]
    follow: bool,
    /// Print a JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let run = opened.app.run(&opened.project.id, &args.run)?;
    let mut printed = Ok(());
    let mut show = |line: &RunLine| {
        let shown = match args.json {
            true => world.out.json(&json!({ "at": line.at.rfc3339(), "line": line.what })),
            false => match render::told(&line.what) {
                Some(told) => world.out.line(format!("{} {told}", time::local(line.at))),
                None => Ok(()),
            },
        };
        if printed.is_ok() {
            printed = shown;
        }
    };
    if args.follow && !run.state.has_ended() {
        follow::to_the_end(world, &mut opened.app, &run, None, &mut show)?;
    } else {
        RunDir::of(&world.paths, run.id).lines().iter().for_each(&mut show);
    }
    printed
}
