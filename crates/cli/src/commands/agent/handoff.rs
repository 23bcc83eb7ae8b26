//! The command `consort agent handoff`: prints or sends everything that a successor needs to take over an
//! agent's work.

use clap::ValueEnum;
use consort_core::Timestamp;
use consort_core::convergence::Handoff;
use consort_core::journal::Actor;
use consort_core::messages;
use consort_core::messages::MessageType;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::presence::Caller;
use consort_core::presence::Status;
use consort_core::tasks::TaskState;
use consort_core::tasks::TaskView;
use consort_core::text;

use crate::error::CommandResult;
use crate::person;
use crate::wake;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// An agent, here or gone, or `all` of this project
    agent: String,
    /// The amount of detail
    #[arg(long, default_value = "standard")]
    tier: DetailTier,
    /// Send it to this agent instead of printing it
    #[arg(long, value_name = "AGENT", conflicts_with = "json")]
    to: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Longest text in bytes, which leaves room for a last line.
const LONGEST: usize = messages::LONGEST_TEXT - 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum DetailTier {
    /// The subject and the unfinished work
    Brief,
    /// And its topics, files, claims, changes and last messages
    Standard,
    /// And everything else that is known
    Full,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let now = opened.app.host().now();
    let handoffs = if args.agent.eq_ignore_ascii_case("all") {
        opened.app.handoffs(&opened.project.id)?
    } else {
        vec![opened.app.handoff(&args.agent)?]
    };
    if args.json {
        return match (args.agent.eq_ignore_ascii_case("all"), handoffs.first()) {
            (false, Some(handoff)) => world.out.one(&mut opened.app, "handoff", handoff),
            _ => world.out.items(&mut opened.app, &handoffs),
        };
    }
    // To models, the person is their user.
    let facts = caller_facts(&opened.app);
    let person = match opened.app.caller(&facts)? {
        Caller::Person if args.to.is_none() => "you",
        _ => "your user",
    };
    let lines = handoffs.iter().flat_map(|handoff| lines(handoff, args.tier, now, person));
    let lines: Vec<String> = lines.collect();
    let Some(to) = &args.to else {
        return lines.iter().try_for_each(|line| world.out.line(line));
    };
    // A text too long for a message is cut, and its last line says where the rest is.
    let mut text = String::new();
    for line in &lines {
        if text.len() + line.len() > LONGEST {
            text.push_str(&format!("The rest: `consort agent handoff {} --tier full`", args.agent));
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    let request = SendRequest {
        caller: person::acting_caller(&mut opened.app)?,
        to: Recipients::Named(vec![to.clone()]),
        repository: Some(opened.place.repository.clone()),
        kind: MessageType::Handoff,
        text,
        ..SendRequest::default()
    };
    let outcome = opened.app.send(&request)?;
    let woken = wake::wake(world, &mut opened.app, &request, &outcome);
    world.out.line(format!(
        "Handed over to {} as message {}.",
        outcome.to[0].name,
        outcome.message_name()
    ))?;
    woken.iter().try_for_each(|line| world.out.line(line))
}

/// Formats everything that is known of an agent's work, a line each.
pub(crate) fn all_lines(handoff: &Handoff, now: Timestamp) -> Vec<String> {
    lines(handoff, DetailTier::Full, now, "you")
}

/// Formats a handoff as lines; `person` is what the reader calls the person.
fn lines(handoff: &Handoff, tier: DetailTier, now: Timestamp, person: &str) -> Vec<String> {
    let most = match tier {
        DetailTier::Brief => 3,
        DetailTier::Standard => 8,
        DetailTier::Full => usize::MAX,
    };
    let agent = &handoff.seen.agent;
    let one_line = |text: &str| text::foreign(text, 200);
    let few = |names: &[String]| text::first_few(names.iter().map(|name| one_line(name)), most);
    let status = match handoff.seen.status {
        Status::Gone => "gone".to_owned(),
        Status::Idle => "idle".to_owned(),
        Status::Away => "idle, with nobody at its terminal".to_owned(),
        Status::Stuck => "stuck".to_owned(),
        Status::Working => "at work".to_owned(),
        Status::Waiting => format!("waiting for {person}"),
    };
    let heard = text::ago(now.since(handoff.seen.last_active));
    let mut lines = vec![format!("{} ({}), {status}, last heard from {heard}", agent.name, agent.kind)];
    let branch = agent
        .branch
        .as_deref()
        .map_or_else(String::new, |branch| format!(" on {}", text::foreign(branch, 60)));
    lines.push(format!("Where: {}{branch}", agent.location.worktree.display()));
    if let Some(goal) = &handoff.goal {
        lines.push(format!("Asked last: {}", one_line(goal)));
    }
    if let Some(task) = &handoff.task {
        let why = match &task.state {
            TaskState::Claimed(worker) => {
                worker.words.as_deref().map_or_else(String::new, |why| format!(": {}", one_line(why)))
            }
            _ => String::new(),
        };
        lines.push(format!("Task: {} of {}{}", task.key.id, task.key.spec.path, why));
    }
    let unfinished = text::first_few(handoff.unfinished.iter().map(|what| text::one_line(what, 200)), most);
    let unfinished = match unfinished.as_str() {
        "" => "nothing that is known of".to_owned(),
        unfinished => unfinished.to_owned(),
    };
    lines.push(format!("Unfinished: {unfinished}"));
    if !handoff.written.is_empty() {
        lines.push(format!("Wrote: {}", few(&handoff.written)));
    }
    if tier == DetailTier::Brief {
        return lines;
    }
    if !handoff.changes.is_empty() {
        lines.push("Not committed:".into());
        lines.extend(handoff.changes.iter().take(most).map(|change| format!("  {}", one_line(change))));
        if handoff.changes.len() > most {
            lines.push(format!("  and {} more", handoff.changes.len() - most));
        }
    }
    if !handoff.open_tasks.is_empty() {
        let one = |task: &TaskView| {
            let title =
                task.title.as_deref().map_or_else(String::new, |title| format!(" {}", one_line(title)));
            format!("{}{title}", task.id)
        };
        lines.push(format!("Open tasks: {}", text::first_few(handoff.open_tasks.iter().map(one), most)));
    }
    for hold in handoff.holds.iter().take(most) {
        let reason =
            hold.reason.as_deref().map_or_else(String::new, |reason| format!(": {}", one_line(reason)));
        lines.push(format!("Holds: {}{reason}", one_line(&hold.resource.shown())));
    }
    let past = past_lines(handoff, tier, (now, person), &few);
    lines.extend(past);
    if tier == DetailTier::Full && !handoff.read.is_empty() {
        lines.push(format!("Read: {}", few(&handoff.read)));
    }
    lines
}

/// Formats the agent's topics by their trend, its last prompts and its messages.
fn past_lines(
    handoff: &Handoff,
    tier: DetailTier,
    (now, person): (Timestamp, &str),
    few: &dyn Fn(&[String]) -> String,
) -> Vec<String> {
    let one_line = |text: &str| text::foreign(text, 200);
    let mut lines = Vec::new();
    let trajectory = &handoff.trajectory;
    for (heading, topics) in [
        ("Deepening", &trajectory.deepening),
        ("Emerging", &trajectory.emerging),
        ("Stable", &trajectory.stable),
        ("Fading", &trajectory.fading),
    ] {
        if !topics.is_empty() {
            lines.push(format!("{heading}: {}", few(topics)));
        }
    }
    let steps = if tier == DetailTier::Full { handoff.steps.len() } else { 3 };
    if !handoff.steps.is_empty() {
        lines.push("Prompts, oldest first:".into());
    }
    for step in handoff.steps.iter().rev().take(steps).rev() {
        let what = step.prompt.clone().unwrap_or_else(|| format!("about {}", step.topics.join(", ")));
        lines.push(format!("  {}: {}", text::ago(now.since(step.at)), one_line(&what)));
        if tier == DetailTier::Full && !step.written.is_empty() {
            let written: Vec<String> = step.written.iter().map(|visit| visit.path.clone()).collect();
            lines.push(format!("    wrote {}", few(&written)));
        }
    }
    let messages = if tier == DetailTier::Full { handoff.messages.len() } else { 3 };
    if !handoff.messages.is_empty() {
        lines.push("Messages:".into());
    }
    for message in handoff.messages.iter().rev().take(messages).rev() {
        let called = |who: &Actor, name: &str| match who {
            Actor::Person => person.to_owned(),
            _ => name.to_owned(),
        };
        let from = called(&message.sent.from.who, &message.sent.from.name);
        let to = text::first_few(message.sent.to.iter().map(|to| called(&to.who, &to.name)), 3);
        lines.push(format!("  message #{} {from} to {to}: {}", message.number, one_line(&message.sent.text)));
    }
    lines
}
