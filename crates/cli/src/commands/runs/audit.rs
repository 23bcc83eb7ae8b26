//! The command `consort runs audit`: checks that the receipts of all runs are as they were.

use serde_json::json;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let (receipts, findings) = opened.app.audit_runs(&opened.project.id.clone())?;
    if args.json {
        let audit = json!({ "receipts": receipts, "findings": findings });
        world.out.one(&mut opened.app, "audit", &audit)?;
    } else if findings.is_empty() {
        world.out.line(format!("{receipts} receipts, nothing is missing or changed."))?;
    } else {
        findings.iter().try_for_each(|finding| world.out.line(finding.to_string()))?;
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::FOUND_SOMETHING) })
}
