//! The command `consort down`: ends the screen that `consort up` began, and nothing else.

use consort_core::text;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::screen::session;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(world: &World) -> CommandResult {
    let mut opened = world.open()?;
    let is_ended = session::is_running() && session::end();
    let going_on: Vec<String> = opened
        .app
        .panes()?
        .iter()
        .filter(|pane| pane.opener().is_some())
        .map(|pane| format!("{} ({})", pane.name(), pane.cli()))
        .collect();
    let told = match going_on.len() {
        0 => String::new(),
        _ => format!(" These go on: {}.", text::first_few(going_on, 8)),
    };
    match is_ended {
        true => world.out.line(format!("The screen is closed.{told}")),
        false => Err(CommandError::user(
            "no screen runs in a tmux session of its own",
            "one in a terminal of yours is left with `q`",
        )),
    }
}
