//! The command `consort know renew`: has the next session that touches a file look again
//! at what is known of it, or says that it still holds.

use consort_core::knowledge::RenewRequest;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandResult;
use crate::knowledge;
use crate::knowledge::ScopeArgs;
use crate::knowledge::envelope;
use crate::knowledge::file;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of a record; without it, all stale records
    name: Option<String>,
    /// Say that it was looked at and still holds, instead of asking others to look
    #[arg(long, requires = "name")]
    holds: bool,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

pub(super) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let scope = args.scope.of(&opened);
    if args.holds {
        let confirm = json!([["confirm", { "name": args.name }]]);
        let manner = knowledge::Manner { json: args.scope.json, ..Default::default() };
        return knowledge::act(world, &mut opened, scope, confirm, manner);
    }
    file::take_in(&mut opened, &scope);
    let request = RenewRequest {
        caller: person::acting_caller(&mut opened.app)?,
        scope,
        worktree: opened.place.worktree.clone(),
        cwd: opened.cwd.clone(),
        name: args.name.clone(),
    };
    let outcome = opened.app.ask_renewal(&request)?;
    if args.scope.json {
        let items: Vec<Value> =
            outcome.asked.iter().map(|one| json!({ "path": one.path, "about": one.about })).collect();
        return envelope::list(world, opened.app.host().now(), &items);
    }
    outcome.told().into_iter().try_for_each(|line| world.out.line(line))
}
