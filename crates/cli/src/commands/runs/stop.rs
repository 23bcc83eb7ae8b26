//! The command `consort runs stop`: stops a run, or all of this project's.

use std::time::Duration;
use std::time::Instant;

use consort_core::dispatch::DispatchError;
use consort_core::dispatch::RunRecord;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::person;
use crate::render::runs as render;
use crate::runs::RunDir;
use crate::runs::orphans;
use crate::world::World;

/// Longest time a supervisor may take to end its worker and to record that.
const PATIENCE: Duration = Duration::from_secs(15);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its number
    #[arg(required_unless_present = "all")]
    run: Option<String>,
    /// All of this project's
    #[arg(long, conflicts_with = "run")]
    all: bool,
    /// At once: do not let it end by itself
    #[arg(long)]
    now: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    orphans::reap(&world.paths, &mut opened.app)?;
    let project = opened.project.id.clone();
    let runs: Vec<RunRecord> = match &args.run {
        Some(name) => {
            let run = opened.app.run(&project, name)?;
            if run.state.has_ended() {
                return Err(DispatchError::HasEnded { number: run.number, state: run.state }.into());
            }
            vec![run]
        }
        None => {
            let of_project = |run: &RunRecord| run.project.as_ref() == Some(&project);
            opened.app.open_runs()?.into_iter().filter(of_project).collect()
        }
    };
    for run in &runs {
        opened.app.may_stop_run(&caller, run)?;
        let dir = RunDir::of(&world.paths, run.id);
        dir.ask_to_stop(args.now).map_err(|error| CommandError::file("cannot write", &dir.path, error))?;
    }
    let (mut items, mut is_all_well, deadline) = (Vec::new(), true, Instant::now() + PATIENCE);
    for run in &runs {
        let mut now = opened.app.run_by_id(run.id)?;
        while !now.state.has_ended() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(50));
            orphans::reap(&world.paths, &mut opened.app)?;
            now = opened.app.run_by_id(run.id)?;
        }
        is_all_well &= now.state.has_ended();
        match args.json {
            true => items.push(render::item(&opened.app, &now)),
            false => world.out.line(render::summary(&now))?,
        }
    }
    if args.json {
        world.out.items(&mut opened.app, &items)?;
    } else if runs.is_empty() {
        world.out.line("No run is going on here.")?;
    }
    Ok(if is_all_well { ExitCode::SUCCESS } else { ExitCode::from(exit::TIMED_OUT) })
}
