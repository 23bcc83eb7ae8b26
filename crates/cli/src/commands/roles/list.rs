//! The command `consort roles list`: lists the roles that runs can be started with.

use consort_core::dispatch::Isolation;
use consort_core::dispatch::Role;
use consort_core::dispatch::Safety;
use consort_core::text;

use super::may;
use crate::error::CommandResult;
use crate::output;
use crate::roles;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let default = roles::default_safety(&opened.config);
    let roles = roles::load(&world.paths, &opened.place.worktree, default)?;
    if args.json {
        return world.out.items(&mut opened.app, &roles);
    }
    let rows: Vec<[String; 4]> = roles.iter().map(|role| row(&role.role, default)).collect();
    let heading = ["ROLE", "RUNS ON", "MAY", "DOES"].map(str::to_owned);
    let width = |at: usize| {
        rows.iter().chain([&heading]).map(|row| row[at].chars().count()).max().unwrap_or_default()
    };
    let (name, on, may) = (width(0), width(1), width(2));
    for (at, row) in [&heading].into_iter().chain(&rows).enumerate() {
        let line = format!("{:name$}  {:on$}  {:may$}  {}", row[0], row[1], row[2], row[3]);
        match at {
            0 => world.out.heading(line.trim_end(), "")?,
            _ => world.out.line(line.trim_end())?,
        }
    }
    roles::notes(&roles).for_each(output::note);
    Ok(())
}

fn row(role: &Role, default: Safety) -> [String; 4] {
    let shown = |text: &Option<String>| text.as_ref().map(|text| text::foreign(text, 40));
    let on = [shown(&role.cli), shown(&role.model)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let place = if role.isolation == Isolation::Worktree { ", worktree" } else { "" };
    [
        role.name.clone(),
        if on.is_empty() { "any".into() } else { on },
        format!("{}{place}", may(role, default)),
        text::one_line(&role.description, 100),
    ]
}
