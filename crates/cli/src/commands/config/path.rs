//! The command `consort config path`: prints the paths of the configuration files.

use serde_json::json;

use crate::config::project_file;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let user = world.paths.user_config();
    let project = project_file(&world.place().worktree);
    if args.json {
        return world.out.one(&mut world.app(), "paths", &json!({ "user": user, "project": project }));
    }
    world.out.text(format!("user     {}\nproject  {}\n", user.display(), project.display()))
}
