//! The command `consort pane screen`: prints what the pane of an agent shows.

use std::time::Duration;

use consort_core::monitor::PaneViewer as _;
use consort_core::secrets::redacted;
use consort_host::Tmux;
use serde_json::json;

use crate::error::CommandResult;
use crate::panes::with_agent;
use crate::world::World;

/// Interval between two looks at the pane.
const TICK: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent in the pane
    agent: String,
    /// The number of lines, with those that have scrolled away
    #[arg(short = 'n', long, value_name = "LINES", default_value_t = 50)]
    lines: usize,
    /// Go on until it is gone: print it again whenever it has changed
    #[arg(long)]
    follow: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let pane = opened.app.find_pane(&args.agent)?;
    let tmux = Tmux::new(&world.paths.data);
    let mut last = None;
    loop {
        let shown = match tmux.history(&pane.address, args.lines) {
            Ok(shown) => redacted(&shown),
            // The pane that was followed is gone.
            Err(_) if last.is_some() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if last.as_ref() != Some(&shown) {
            if args.json {
                let lines: Vec<&str> = shown.lines().collect();
                world.out.one(&mut opened.app, "screen", &with_agent(&pane, json!({ "lines": lines })))?;
            } else {
                world.out.line(&shown)?;
            }
        }
        last = Some(shown);
        if !args.follow {
            return Ok(());
        }
        tmux.pause(TICK);
    }
}
