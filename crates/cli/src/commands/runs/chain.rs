//! The command `consort runs chain`: does steps one after the other, each with the result of the one before.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_agents::run_files::RunFileFormat;
use consort_agents::run_files::read_chain;
use consort_core::dispatch::Chain;
use consort_core::dispatch::ChainStep;
use consort_core::dispatch::ContractFacts;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunOptions;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::dispatch::StepConditions;
use consort_core::dispatch::check_contract;
use consort_core::dispatch::substituted;
use consort_core::text;
use serde_json::json;

use crate::commands::run;
use crate::commands::run::HowArgs;
use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::output;
use crate::person;
use crate::render::runs as render;
use crate::roles::BadFile;
use crate::runs::RunDir;
use crate::runs::directory::RunLine;
use crate::runs::follow;
use crate::runs::follow::Interrupts;
use crate::runs::role;
use crate::runs::start;
use crate::runs::start::RunWanted;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file of steps, TOML or JSON
    file: PathBuf,
    /// The task of the whole chain, instead of the one in the file: `$ORIGINAL`
    #[arg(long, value_name = "TEXT")]
    original: Option<String>,
    #[command(flatten)]
    how: HowArgs,
    /// Print a JSON object per step
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let chain = read(&args.file)?;
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    let original = args.original.clone().unwrap_or(chain.original);
    let interrupts = Interrupts::listen();
    let batch: String = opened.app.host().random()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let (mut input, count) = (original.clone(), chain.steps.len());
    for (at, step) in chain.steps.iter().enumerate() {
        let common = args.how.wanted(substituted(&step.task, &input, &original));
        let wanted = RunWanted {
            words: RunOptions {
                cli: step.cli.clone().or(common.words.cli.clone()),
                model: step.model.clone().or(common.words.model.clone()),
                ..common.words.clone()
            },
            batch: Some(batch.clone()),
            ..common
        };
        let role = role::named(world, &opened, step.role.as_deref().or(args.how.role.as_deref()))?;
        let run = start::start(world, &mut opened, &caller, &role, &wanted)?;
        if !args.json {
            let (number, name) = (run.number, &run.spec.name);
            output::note(format_args!(
                "Step {} of {count}: run {number}, {name} ({}, {})",
                at + 1,
                role.name,
                run.spec.cli
            ));
        }
        let mut show = |line: &RunLine| {
            if let Some(told) = render::told(&line.what).filter(|_| !args.json) {
                output::note(told);
            }
        };
        let ended = follow::to_the_end(world, &mut opened.app, &run, Some(&interrupts), &mut show)?;
        let result = RunDir::of(&world.paths, run.id).read_result();
        let broken = broken(step, &ended, &result);
        let is_last = at + 1 == count;
        tell(world, &mut opened, args.json, &ended, &result, &broken, is_last)?;
        if !ended.end.as_ref().is_some_and(RunEnd::is_done_and_merged) {
            return Ok(ExitCode::from(run::exit_code(&ended)));
        }
        if !broken.is_empty() {
            return Ok(ExitCode::from(crate::exit::RUN_FAILED));
        }
        input = result;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Chain, CommandError> {
    let text =
        std::fs::read_to_string(file).map_err(|error| CommandError::file("cannot read", file, error))?;
    let read = read_chain(&text, RunFileFormat::by_file_name(&file.to_string_lossy()));
    read.map_err(|problems| BadFile { path: file.to_owned(), problems }.error())
}

/// Lists the parts of its contract that a step has not fulfilled.
fn broken(step: &ChainStep, run: &RunRecord, result: &str) -> Vec<String> {
    let Some(contract) = step.contract.as_ref().filter(|_| run.state == RunState::Done) else {
        return Vec::new();
    };
    let StepConditions { files, check, check_timeout_s, .. } = contract;
    let dir = &run.spec.cwd;
    let timeout = Duration::from_secs(*check_timeout_s);
    let facts = ContractFacts {
        result,
        present: files.iter().filter(|file| dir.join(file).exists()).cloned().collect(),
        check: check.as_ref().map(|check| consort_host::run_check(check, dir, timeout)),
    };
    check_contract(contract, &facts).iter().map(ToString::to_string).collect()
}

fn tell(
    world: &World,
    opened: &mut OpenWorld,
    json: bool,
    run: &RunRecord,
    result: &str,
    broken: &[String],
    is_last: bool,
) -> Result<(), CommandError> {
    if json {
        let mut item = render::item(&opened.app, run);
        item["result"] = result.into();
        item["broken"] = json!(broken);
        return world.out.one(&mut opened.app, "run", &item);
    }
    if is_last && !result.trim().is_empty() {
        world.out.line(result.trim_end())?;
    }
    output::note(render::summary(run));
    broken
        .iter()
        .for_each(|broken| output::note(format_args!("Not as agreed: {}", text::one_line(broken, 300))));
    Ok(())
}
