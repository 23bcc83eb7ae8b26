//! The command `consort pane watch`: prints changes in the state of panes as they happen.

use std::collections::BTreeMap;
use std::time::Duration;

use consort_core::Timestamp;
use consort_core::monitor::PaneGlance;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::Transition;
use consort_core::secrets::redacted;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandResult;
use crate::output;
use crate::panes::role::WatcherRole;
use crate::panes::watcher::PaneChange;
use crate::panes::watcher::TICK;
use crate::panes::watcher::Watcher;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

/// Interval between two looks at what the watcher has written.
const FOLLOW: Duration = Duration::from_millis(250);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one
    agent: Option<String>,
    /// Print JSON, a line for each
    #[arg(long)]
    json: bool,
}

/// Runs until it is ended: as the watcher itself, or following what another watcher writes.
pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let mut role = WatcherRole::new(&world.paths.data);
    let mut watcher = Watcher::new(world);
    let mut shown = PrintedStates { args, states: BTreeMap::new() };
    let mut is_blocked = false;
    loop {
        let began = watcher.now();
        opened.app.close_if_replaced();
        match role.take(began) {
            Ok(()) => {
                let seen = watcher.sweep(&mut opened.app)?;
                for one in &seen {
                    watcher.note(&mut opened.app, one)?;
                    shown.show(world, &PaneNews::of(one))?;
                }
                watcher.act(&mut opened)?;
                watcher.publish_states(&opened.app);
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
                        shown.show(world, &PaneNews::of(&one))?;
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

/// The state of an agent's pane, and since when.
struct PaneNews {
    agent: Value,
    state: String,
    question: Option<String>,
    at: Timestamp,
}

impl PaneNews {
    fn of(seen: &PaneChange) -> Self {
        let Transition { to, question, .. } = &seen.transition;
        Self {
            agent: seen.subject.agent_json(),
            state: to.as_str().to_owned(),
            question: question.as_deref().map(redacted),
            at: seen.at,
        }
    }

    /// Makes news of what the watcher has written about a pane.
    fn said(glance: PaneGlance) -> Self {
        let PaneGlance { name, cli, session, machine, state, question, since, .. } = glance;
        let agent = json!({ "name": name, "cli": cli, "session": session, "machine": machine });
        Self { agent, state, question, at: since }
    }
}

/// The state and question that were last printed of each agent.
struct PrintedStates<'a> {
    args: &'a Args,
    states: BTreeMap<String, (String, Option<String>)>,
}

impl PrintedStates<'_> {
    fn follow(&mut self, world: &World, opened: &OpenWorld) -> CommandResult {
        let glances = opened.app.published_glances().unwrap_or_default().panes;
        glances.into_iter().try_for_each(|glance| self.show(world, &PaneNews::said(glance)))
    }

    fn show(&mut self, world: &World, news: &PaneNews) -> CommandResult {
        let name = news.agent["name"].as_str().unwrap_or_default();
        if self.args.agent.as_ref().is_some_and(|wanted| !wanted.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let now = (news.state.clone(), news.question.clone());
        let before = self.states.insert(name.to_owned(), now.clone());
        if before.as_ref() == Some(&now) {
            return Ok(());
        }
        if self.args.json {
            let mut transition = news.agent.clone();
            transition["from"] = before.map(|(state, _)| state).into();
            transition["to"] = news.state.clone().into();
            transition["question"] = news.question.clone().into();
            return world.out.json(&json!({ "at": news.at.rfc3339(), "transition": transition }));
        }
        let question =
            news.question.as_deref().map(|question| format!(": {}", text::one_line(question, 200)));
        let (state, question) = (&news.state, question.unwrap_or_default());
        world.out.line(format!("{}  {name} is {state}{question}", time::local(news.at)))
    }
}
