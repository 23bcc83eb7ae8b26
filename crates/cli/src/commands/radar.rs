//! The command `consort radar`: shows which agents head for the same place.

use std::fmt::Write as _;
use std::time::Duration;

use consort_core::convergence::AgentTopics;
use consort_core::convergence::Counters;
use consort_core::convergence::PairView;
use consort_core::convergence::Prediction;
use consort_core::convergence::RadarOutcome;
use consort_core::convergence::Signal;
use consort_core::convergence::Trend;
use consort_core::host::Topic;
use consort_core::text;
use consort_host::env;
use consort_host::notify::Listener;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::Opened;
use crate::world::World;

/// Files move without news.
const TICK: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Go on, and print anew when something moves
    #[arg(short, long, conflicts_with = "history")]
    watch: bool,
    /// What was foreseen before, and what came of it
    #[arg(long)]
    history: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    if args.history {
        return history(world, &mut opened, args.json);
    }
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    let topic = Topic::Project(opened.project.id.clone());
    let listener = args.watch.then(|| Listener::open(&world.paths.listeners(), Some(&topic)));
    let mut listener = listener.transpose().map_err(cannot_wait)?;
    let mut shown = String::new();
    loop {
        let outcome = opened.app.radar(&opened.project.id, &env::get)?;
        let screen = if args.json {
            // The time alone is no news.
            let told = RadarOutcome { at: consort_core::Timestamp(0), ..outcome.clone() };
            serde_json::to_string(&told).unwrap_or_default()
        } else {
            lines(&outcome).join("\n")
        };
        if screen != shown {
            if args.watch && world.out.is_terminal {
                world.out.text("\x1b[H\x1b[2J")?;
            }
            if args.json {
                world.out.json(&outcome)?;
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

fn history(world: &World, opened: &mut Opened, json: bool) -> CommandResult {
    let now = opened.app.host().now();
    let (past, tally) = opened.app.past_predictions()?;
    if json {
        return past.iter().try_for_each(|prediction| world.out.json(prediction));
    }
    for prediction in past.iter().rev() {
        let Some(ended) = &prediction.ended else { continue };
        let (pair, signal) = (pair(prediction), evidence(&prediction.signal));
        let (outcome, how) = (ended.outcome.as_str(), text::one_line(&ended.how, 100));
        let age = text::ago(now.since(ended.at));
        world.out.line(format!("#{} {pair}: {signal}\n    {outcome}, {age}: {how}", prediction.number))?;
    }
    world.out.line(summary(&tally))
}

fn lines(outcome: &RadarOutcome) -> Vec<String> {
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

/// `GoldFalcon: deepening in auth; emerging: cookie`
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
    let number = seen.prediction.as_ref().map_or_else(String::new, |found| format!("#{} ", found.number));
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

/// `mutual deepening, 0.80, about 1 prompt away`
pub(super) fn measure(signal: &Signal) -> String {
    let distance = text::count(signal.distance as usize, "prompt");
    format!("{}, {:.2}, about {distance} away", signal.kind.as_str(), signal.confidence)
}

pub(super) fn evidence(signal: &Signal) -> String {
    let mut text = String::new();
    for (what, names) in [("topics", &signal.topics), ("files", &signal.files), ("domains", &signal.domains)]
    {
        if !names.is_empty() {
            let names = text::first_few(names.iter().map(|name| text::foreign(name, 60)), 4);
            let _ = write!(text, "{}{what}: {names}", if text.is_empty() { "" } else { "; " });
        }
    }
    text
}

pub(super) fn pair(prediction: &Prediction) -> String {
    let [one, other] = &prediction.pair;
    format!("{} and {}", one.name, other.name)
}

fn summary(tally: &Counters) -> String {
    let all = tally.all;
    format!(
        "Threshold {:.2}; so far {} prevented, {} occurred, {} false, {} expired.",
        tally.threshold, all.prevented, all.occurred, all.false_positive, all.expired
    )
}
