//! The command `consort mcp`: serves an agent's session over MCP, on standard input and
//! output.

use consort_mcp::Server;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::served_calls::ServedCalls;
use crate::spool;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the tools and their schemas, and serve nobody
    #[arg(long)]
    schemas: bool,
    /// Serve knowledge of this project rather than that of the directory it is started in
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    if args.schemas {
        return world.out.json(&consort_mcp::catalogue());
    }
    if let Some(project) = &args.project {
        // An unknown project is an error now rather than with every question.
        world.app().find_project(project)?;
    }
    spool::serve(&world.paths, &world.cwd);
    let calls = ServedCalls::new(world);
    world.save_in_background();
    let server = Server::for_project(world.open_app(), std::sync::Arc::new(calls), args.project.clone());
    let served = consort_mcp::serve(server).map_err(|error| {
        CommandError::user(
            format!("the client cannot be served: {error}"),
            "an agent CLI starts this by itself; it speaks MCP on standard input and output",
        )
    });
    world.saved.finish();
    served
}
