//! Finds the agents in panes that wait for the person: what each asks or is stuck at, and what can be done.

use consort_core::App;
use consort_core::Timestamp;
use consort_core::monitor::AttentionReason;
use consort_core::monitor::PaneReading;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::RecordedPaneState;
use consort_core::monitor::Remedy;
use consort_core::monitor::dialog;
use consort_core::secrets::redacted;
use consort_core::text;
use consort_host::Tmux;
use serde_json::Value;
use serde_json::json;

use super::limits;
use super::look;
use super::state_of;
use crate::error::CommandError;
use crate::time;
use crate::world::World;

/// An agent in a pane that waits for the person.
pub(crate) struct WaitingAgent {
    pub(crate) subject: PaneSubject,
    pub(crate) reading: PaneReading,
    pub(crate) why: AttentionReason,
    /// The dialog that asks for a permission, as the terminal shows it; `None` for other questions.
    pub(crate) dialog: Option<String>,
}

/// Finds all agents in panes that wait.
pub(crate) fn all(world: &World, app: &mut App) -> Result<Vec<WaitingAgent>, CommandError> {
    all_of(world, app, &|_| true)
}

/// Finds the agents that wait in some panes: each look starts `tmux`.
pub(crate) fn all_of(
    world: &World,
    app: &mut App,
    is_wanted: &dyn Fn(&PaneSubject) -> bool,
) -> Result<Vec<WaitingAgent>, CommandError> {
    let tmux = Tmux::new(&world.paths.data);
    let mut waiting = Vec::new();
    for subject in app.panes()?.into_iter().filter(is_wanted) {
        waiting.extend(one(world, app, &tmux, subject)?);
    }
    Ok(waiting)
}

/// Looks at one pane; `None` if its agent does not wait.
pub(crate) fn one(
    world: &World,
    app: &App,
    tmux: &Tmux,
    subject: PaneSubject,
) -> Result<Option<WaitingAgent>, CommandError> {
    let Some(look) = look(world, app, tmux, &subject)? else { return Ok(None) };
    let recorded = subject.record.as_ref().and_then(|record| record.turn.as_ref()).map(|turn| turn.state);
    let why = AttentionReason::of(state_of(Some(&look), &subject), recorded);
    Ok(why.map(|why| {
        let is_permission =
            matches!(why, AttentionReason::Permission | AttentionReason::Plan | AttentionReason::Dialog);
        let dialog = is_permission.then(|| dialog(&look.screen, &look.reading));
        WaitingAgent { subject, reading: look.reading, why, dialog }
    }))
}

impl WaitingAgent {
    /// Returns its question, or what is known of its state.
    pub(crate) fn about(&self) -> Option<String> {
        let turn = self.subject.record.as_ref().and_then(|record| record.turn.as_ref());
        let recorded = turn.and_then(|turn| turn.about.clone());
        let shown = self.reading.question.clone().or_else(|| self.reading.lines.first().cloned());
        match self.why {
            AttentionReason::Stalled => recorded,
            AttentionReason::Unconfirmed => Some("its first prompt was not seen to arrive".to_owned()),
            _ => shown.map(|shown| redacted(&shown)),
        }
    }

    /// Returns the options that its menu offers, and the remedies for its state.
    pub(crate) fn options(&self) -> Vec<String> {
        let offered = self.reading.options.iter().map(|option| redacted(&option.label));
        let remedies = self.why.remedies().iter().map(|remedy| Remedy::as_str(*remedy).to_owned());
        offered.chain(remedies).collect()
    }

    fn since(&self) -> Option<Timestamp> {
        let record = self.subject.record.as_ref()?;
        let is_of_it = |state: RecordedPaneState| {
            RecordedPaneState::of(self.reading.state) == Some(state)
                || matches!(state, RecordedPaneState::Stalled | RecordedPaneState::Unconfirmed)
        };
        record.turned_at.filter(|_| record.turn.as_ref().is_some_and(|turn| is_of_it(turn.state)))
    }

    fn reset_at(&self, now: Timestamp) -> Option<Timestamp> {
        let shown = || time::parse_reset(self.reading.resets.as_deref()?, now);
        limits::reset_at(&self.subject).or_else(shown)
    }

    /// Formats the waiting agent as JSON.
    pub(crate) fn item(&self, app: &App) -> Value {
        let now = app.host().now();
        let place = self.subject.record.as_ref().and_then(|record| record.place());
        let is_frozen = self.why == AttentionReason::Stalled;
        let screen = place.filter(|_| is_frozen).and_then(|place| app.frozen_screen(place));
        json!({
            "number": self.subject.number(),
            "agent": self.subject.agent_json(),
            "why": self.why.as_str(),
            "question": self.reading.question.as_deref().map(redacted),
            "about": self.about(),
            "dialog": self.dialog.as_deref().map(redacted),
            "options": self.options(),
            "pane": self.subject.address.id,
            "since_at": self.since().map(Timestamp::rfc3339),
            "reset_at": self.reset_at(now).map(Timestamp::rfc3339),
            "screen": screen.map(|screen| screen.lines().map(str::to_owned).collect::<Vec<_>>()),
        })
    }
}

/// Formats a waiting agent: `3  Falcon (claude) permission: Do you want to proceed?`, and below it its
/// options and what can be done. `shown` makes the text of others fit for the reader.
pub(crate) fn paragraph(item: &Value, way: &str, shown: fn(&str, usize) -> String) -> String {
    let word = |value: &Value| text::one_line(value.as_str().unwrap_or_default(), 40);
    let (name, cli, why) = (word(&item["agent"]["name"]), word(&item["agent"]["cli"]), word(&item["why"]));
    let number = item["number"].as_i64().map_or_else(String::new, |number| number.to_string());
    let about = item["about"].as_str().filter(|about| !about.is_empty());
    let about = about.map_or_else(String::new, |about| format!(": {}", shown(about, 300)));
    let mut lines = format!("{number:>3}  {name} ({cli}) {why}{about}\n");
    for line in item["dialog"].as_str().unwrap_or_default().lines() {
        lines.push_str(&format!("     | {}\n", shown(line, 1_000)));
    }
    if let Some(reset) = item["reset_at"].as_str() {
        lines.push_str(&format!("     it goes on after {reset}\n"));
    }
    let options = item["options"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let options: Vec<String> = options.map(|option| shown(option, 120)).collect();
    if !options.is_empty() {
        lines.push_str(&format!("     {}\n", options.join(" · ")));
    }
    lines.push_str(&format!("     {way}\n"));
    lines
}
