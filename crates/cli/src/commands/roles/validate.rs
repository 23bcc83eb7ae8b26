//! The command `consort roles validate`: checks files of roles.

use std::path::PathBuf;

use consort_agents::run_files::read_roles;
use consort_core::dispatch::RoleLayer;
use consort_core::dispatch::RoleSource;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use crate::connect::TheirFile;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::output;
use crate::roles;
use crate::roles::BadFile;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file; without it your own and this project's
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let (layers, bad) = match &args.file {
        Some(file) => one(world, file)?,
        None => roles::layers(&world.paths, &opened.place.worktree)?,
    };
    let files = layers.iter().filter(|layer| layer.source != RoleSource::Shipped).count();
    let all = roles::resolved(layers, roles::default_safety(&opened.config));
    let code = if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::FOUND_SOMETHING) };
    if args.json {
        let items: Vec<Value> = bad.iter().flat_map(items).collect();
        world.out.items(&mut opened.app, &items)?;
        return Ok(code);
    }
    for file in &bad {
        for problem in &file.problems {
            world.out.line(format!("{}, {problem}", file.path.display()))?;
        }
    }
    if bad.is_empty() {
        let names = text::counted_noun(all.len(), "role");
        world.out.line(match files {
            0 => format!("Sound: {names}, all of them shipped."),
            _ => {
                format!("Sound: {names}, from {} besides what is shipped.", text::counted_noun(files, "file"))
            }
        })?;
    }
    roles::notes(&all).for_each(output::note);
    Ok(code)
}

/// Reads the shipped roles with one file over them, as if it were the user's.
fn one(world: &World, file: &std::path::Path) -> Result<(Vec<RoleLayer>, Vec<BadFile>), CommandError> {
    let path = world.cwd.join(file);
    let text = TheirFile::OfUser(path.clone()).read()?.ok_or_else(|| {
        CommandError::user(format!("there is no file {}", path.display()), "check its name")
    })?;
    let mut layers = read_roles(consort_agents::run_files::SHIPPED_ROLES, RoleSource::Shipped)
        .into_iter()
        .collect::<Vec<_>>();
    match read_roles(&text, RoleSource::User(path.clone())) {
        Ok(layer) => {
            layers.push(layer);
            Ok((layers, Vec::new()))
        }
        Err(problems) => Ok((layers, vec![BadFile { path, problems }])),
    }
}

fn items(file: &BadFile) -> Vec<Value> {
    let item = |problem: &consort_agents::run_files::Problem| {
        json!({
            "file": file.path,
            "line": problem.line,
            "column": problem.column,
            "message": problem.message,
            "hint": problem.hint,
        })
    };
    file.problems.iter().map(item).collect()
}
