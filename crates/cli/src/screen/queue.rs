//! Gathers the queue of the screen, everything that needs the person: questions, failures, limits, mail,
//! contests, collisions, results.

use consort_core::App;
use consort_core::Timestamp;
use consort_core::monitor::AttentionReason;
use consort_core::monitor::Glances;
use consort_core::monitor::PaneState;
use consort_core::monitor::PaneSubject;
use consort_core::presence::CallerFacts;
use consort_core::project::ProjectId;
use consort_core::text;
use consort_tui::About;
use consort_tui::Item;
use consort_tui::ItemKind;
use consort_tui::Pair;
use serde_json::Value;

use super::runs::RunList;
use crate::error::CommandError;
use crate::panes::inbox;
use crate::panes::inbox::InboxItem;
use crate::panes::inbox::Waits;
use crate::time;
use crate::world::World;

/// Most bytes of a question that are kept.
const LONGEST: usize = 8_000;

/// Reads the whole queue. If a watcher is at work, only the panes are looked at whose glance calls for it.
pub(super) fn read(
    world: &World,
    app: &mut App,
    (caller, here): (&CallerFacts, &ProjectId),
    (runs, pairs): (&RunList, &[Pair]),
) -> Result<Vec<Item>, CommandError> {
    let glances = app.published_glances();
    let is_wanted = |subject: &PaneSubject| needs_a_look(glances.as_ref(), subject);
    let found = inbox::all_of(world, app, caller, &is_wanted)?;
    let mut items: Vec<Item> = Vec::new();
    for one in &found {
        items.extend(item(app, here, one));
    }
    items.extend(pairs.iter().filter_map(collision));
    items.extend(runs.to_review().map(|run| Item {
        key: format!("run {}", run.number),
        number: 0,
        kind: if run.is_well { ItemKind::Review } else { ItemKind::Error },
        agent: run.name.clone(),
        cli: Some(run.cli.clone()),
        tool: None,
        text: format!("run {} {}: {}", run.number, run.state, run.title),
        questions: Vec::new(),
        options: Vec::new(),
        since: run.ended_at,
        until: None,
        about: About::Run(run.number),
    }));
    Ok(items)
}

/// Tells whether a pane may wait for the person, by the watcher's last glance.
fn needs_a_look(glances: Option<&Glances>, subject: &PaneSubject) -> bool {
    let Some(glances) = glances else { return true };
    let Some(glance) = glances.panes.iter().find(|glance| glance.address == subject.address) else {
        return true;
    };
    let state = PaneState::ALL.into_iter().find(|state| state.as_str() == glance.state);
    let recorded = subject.record.as_ref().and_then(|record| record.turn.as_ref()).map(|turn| turn.state);
    state.is_none_or(|state| AttentionReason::of(state, recorded).is_some())
}

fn item(app: &App, here: &ProjectId, one: &InboxItem) -> Option<Item> {
    let json = one.json(app);
    let now = app.host().now();
    let moment = |value: &Value| -> Option<Timestamp> { time::parse_since(value.as_str()?, now).ok() };
    let words = |value: &Value| value.as_str().map(|text| text::one_line(text, 200));
    let kind = ItemKind::named(json["why"].as_str()?)?;
    let options = json["options"].as_array().into_iter().flatten().filter_map(words).collect();
    let questions = json["questions"].as_array().into_iter().flatten().map(|question| {
        let options = question["options"].as_array().into_iter().flatten().filter_map(words);
        (words(&question["text"]).unwrap_or_default(), options.collect())
    });
    let texts = ["dialog", "question", "about"].map(|name| json[name].as_str());
    let asked = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
    let mut asked = asked.unwrap_or_default().to_owned();
    if asked.len() > LONGEST {
        asked.truncate(asked.floor_char_boundary(LONGEST));
        asked.push_str(" …");
    }
    if let Some(screen) = json["screen"].as_array() {
        let lines: Vec<&str> = screen.iter().filter_map(Value::as_str).collect();
        let last = &lines[lines.len().saturating_sub(8)..];
        asked = format!("{asked}\n{}", last.join("\n"));
    }
    let about = match &one.what {
        Waits::Mail(letter) => About::Message(super::messages::called(&letter.message, here)),
        Waits::Contest(view) => About::Reservation {
            path: view.hold.resource.shown(),
            worktree: view.hold.worktree.as_ref().map_or_else(String::new, |path| path.display().to_string()),
        },
        Waits::Asks { .. } | Waits::Pane(_) => About::Nothing,
    };
    Some(Item {
        key: format!("{} {} {}", kind.words(), one.number, one.what.name()),
        number: one.number,
        kind,
        agent: one.what.name(),
        cli: words(&json["agent"]["cli"]),
        tool: words(&json["tool"]),
        text: text::printable(&asked),
        questions: questions.collect(),
        options: if kind == ItemKind::Mail || kind == ItemKind::Contest { Vec::new() } else { options },
        since: moment(&json["since_at"]),
        until: moment(&json["reset_at"]),
        about,
    })
}

fn collision(pair: &Pair) -> Option<Item> {
    let number = pair.number?;
    let about = text::first_few(pair.about.iter().cloned(), 4);
    Some(Item {
        key: format!("collision {number}"),
        number: 0,
        kind: ItemKind::Collision,
        agent: pair.one.clone(),
        cli: None,
        tool: None,
        text: format!("{} and {} are likely to collide: {about}", pair.one, pair.other),
        questions: Vec::new(),
        options: Vec::new(),
        since: None,
        until: None,
        about: About::Pair { other: pair.other.clone(), number },
    })
}
