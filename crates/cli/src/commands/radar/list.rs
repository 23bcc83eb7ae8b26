//! The command `consort radar list`: shows which agents head for the same place.

use std::time::Duration;

use consort_core::convergence::AgentTopics;
use consort_core::convergence::PairView;
use consort_core::convergence::RadarView;
use consort_core::convergence::Trend;
use consort_core::host::NewsTopic;
use consort_core::text;
use consort_host::env;
use consort_host::notify::Listener;

use super::evidence;
use super::measure;
use super::summary;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

/// Interval between two looks, since files change without a notification.
const TICK: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Go on, and print again when something changes
    #[arg(short, long)]
    watch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    let topic = NewsTopic::Project(opened.project.id.clone());
    let listener = args.watch.then(|| Listener::open(&world.paths.listeners(), Some(&topic)));
    let mut listener = listener.transpose().map_err(cannot_wait)?;
    let mut shown = String::new();
    loop {
        let outcome = opened.app.radar(&opened.project.id, &env::get)?;
        let screen = if args.json {
            // A new time alone is no change.
            let told = RadarView { at: consort_core::Timestamp(0), ..outcome.clone() };
            serde_json::to_string(&told).unwrap_or_default()
        } else {
            lines(&outcome).join("\n")
        };
        if screen != shown {
            if args.watch && world.out.is_terminal {
                world.out.text("\x1b[H\x1b[2J")?;
            }
            if args.json {
                world.out.json(&{
                    let mut json = opened.app.items(&outcome.pairs);
                    json["agents"] = opened.app.wrap_one("agents", &outcome.agents)["agents"].take();
                    json["tally"] = serde_json::to_value(outcome.tally).unwrap_or_default();
                    json
                })?;
            } else {
                lines(&outcome).iter().try_for_each(|line| world.out.line(line))?;
            }
            shown = screen;
        }
        let Some(listener) = &mut listener else { return Ok(()) };
        listener.wait(None, TICK).map_err(cannot_wait)?;
        opened.app.close_if_replaced();
    }
}

fn lines(outcome: &RadarView) -> Vec<String> {
    if outcome.agents.len() < 2 {
        return vec!["Fewer than two agents are here: nobody can meet.".into()];
    }
    let mut lines: Vec<String> = outcome.agents.iter().map(about).collect();
    if outcome.pairs.is_empty() {
        lines.push("Nobody is heading for where another is.".into());
    }
    for seen in &outcome.pairs {
        lines.push(String::new());
        lines.extend(near(seen));
    }
    lines.push(String::new());
    lines.push(summary(&outcome.tally));
    lines
}

/// Formats an agent's topics: `GoldFalcon  deepening: auth; emerging: cookie`.
fn about(agent: &AgentTopics) -> String {
    let few = |topics: &[String]| text::first_few(topics.iter().map(|topic| text::foreign(topic, 30)), 4);
    let trajectory = &agent.trajectory;
    let headings = [
        ("deepening", &trajectory.deepening),
        ("emerging", &trajectory.emerging),
        ("stable", &trajectory.stable),
        ("fading", &trajectory.fading),
    ];
    let mut parts: Vec<String> = headings
        .into_iter()
        .filter(|(_, topics)| !topics.is_empty())
        .map(|(heading, topics)| format!("{heading}: {}", few(topics)))
        .collect();
    if parts.is_empty() && !agent.topics.is_empty() {
        parts.push(format!("about {}", few(&agent.topics)));
    }
    if parts.is_empty() {
        parts.push("not prompted yet".into());
    }
    format!("{}  {}", agent.name, parts.join("; "))
}

fn near(seen: &PairView) -> Vec<String> {
    let [one, other] = &seen.pair;
    let trend = match seen.trend {
        Trend::New => "new",
        Trend::Rising => "rising",
        Trend::Steady => "steady",
        Trend::Falling => "falling",
    };
    let number =
        seen.prediction.as_ref().map_or_else(String::new, |found| format!("prediction #{} ", found.number));
    let mut lines = Vec::new();
    match seen.signals.first() {
        Some(signal) => {
            lines.push(format!("{number}{} and {}: {}, {trend}", one.name, other.name, measure(signal)));
            lines.push(format!("    {}", evidence(signal)));
            lines.push(format!(
                "    {}",
                text::one_line(&consort_core::convergence::recommendation(signal), 200)
            ));
        }
        None => lines.push(format!("{number}{} and {}: out of sight, {trend}", one.name, other.name)),
    }
    lines
}
