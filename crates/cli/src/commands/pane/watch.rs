//! The command `consort pane watch`: prints what becomes of panes, as it comes about.

use std::collections::BTreeMap;
use std::time::Duration;

use consort_core::Timestamp;
use consort_core::monitor::PaneViewer as _;
use consort_core::text;
use serde_json::json;

use crate::error::CommandResult;
use crate::output;
use crate::panes::role::Role;
use crate::panes::watcher::TICK;
use crate::panes::watcher::Watcher;
use crate::time;
use crate::world::Opened;
use crate::world::World;

/// How often is looked at what the watcher says.
const FOLLOW: Duration = Duration::from_millis(250);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one
    agent: Option<String>,
    /// Print JSON, a line for each
    #[arg(long)]
    json: bool,
}

/// Goes on until it is ended: as the watcher, or by what the watcher says.
pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let mut role = Role::new(&world.paths.data);
    let mut watcher = Watcher::new(world);
    let mut shown = Shown { args, states: BTreeMap::new() };
    let mut is_blocked = false;
    loop {
        let began = watcher.now();
        opened.app.close_if_replaced();
        match role.take(began) {
            Ok(()) => {
                let seen = watcher.sweep(&mut opened.app)?;
                for one in &seen {
                    watcher.note(&mut opened.app, one)?;
                    shown.show(
                        world,
                        &one.name,
                        &one.cli,
                        one.transition.to.as_str(),
                        one.transition.question.as_deref(),
                        one.at,
                    )?;
                }
                watcher.act(&mut opened)?;
                watcher.say(&opened.app);
                let took = Duration::from_millis(watcher.now().since(began).unsigned_abs());
                watcher.tmux.pause(TICK.saturating_sub(took));
            }
            Err(holder) => {
                if holder.is_silent && !is_blocked {
                    output::note(format_args!(
                        "Warning: process {} keeps the watcher's role and does not look",
                        holder.pid
                    ));
                }
                is_blocked = holder.is_silent;
                if holder.is_silent {
                    for one in watcher.sweep(&mut opened.app)? {
                        shown.show(
                            world,
                            &one.name,
                            &one.cli,
                            one.transition.to.as_str(),
                            one.transition.question.as_deref(),
                            one.at,
                        )?;
                    }
                    watcher.tmux.pause(TICK);
                } else {
                    shown.follow(world, &opened)?;
                    watcher.tmux.pause(FOLLOW);
                }
            }
        }
    }
}

/// What was printed of each.
struct Shown<'a> {
    args: &'a Args,
    states: BTreeMap<String, (String, Option<String>)>,
}

impl Shown<'_> {
    fn follow(&mut self, world: &World, opened: &Opened) -> CommandResult {
        for pane in opened.app.glances().unwrap_or_default().panes {
            self.show(world, &pane.name, &pane.cli, &pane.state, pane.question.as_deref(), pane.since)?;
        }
        Ok(())
    }

    fn show(
        &mut self,
        world: &World,
        name: &str,
        cli: &str,
        state: &str,
        question: Option<&str>,
        at: Timestamp,
    ) -> CommandResult {
        if self.args.agent.as_ref().is_some_and(|wanted| !wanted.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let now = (state.to_owned(), question.map(str::to_owned));
        let before = self.states.insert(name.to_owned(), now.clone());
        if before.as_ref() == Some(&now) {
            return Ok(());
        }
        let question = question.map(crate::panes::redact::redacted);
        if self.args.json {
            let from = before.map(|(state, _)| state);
            return world.out.json(&json!({ "at": at.rfc3339(), "transition": {
                "name": name, "cli": cli, "from": from, "to": state, "question": question } }));
        }
        let question =
            question.map_or_else(String::new, |question| format!(": {}", text::one_line(&question, 200)));
        world.out.line(format!("{}  {name} is {state}{question}", time::local(at)))
    }
}
