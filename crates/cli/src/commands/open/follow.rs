//! Follows the start of an opened agent, and says how it went.

use std::cell::RefCell;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::monitor::PaneTurn;
use consort_core::monitor::StartPolicy;
use consort_core::monitor::Started;
use consort_core::monitor::TurnState;
use consort_core::monitor::follow_start;
use consort_core::text;
use consort_host::Tmux;
use serde_json::Value;
use serde_json::json;

use super::Pane;
use super::shown;
use crate::error::CommandError;
use crate::panes;
use crate::world::Opened;
use crate::world::World;

/// How long an agent may take to be ready.
const LONGEST: Duration = Duration::from_secs(90);

/// What is followed.
pub(super) struct Follow<'a> {
    pub(super) world: &'a World,
    pub(super) tmux: &'a Tmux,
    pub(super) cli: &'static dyn AgentCli,
    pub(super) has_prompt: bool,
    pub(super) trusts: bool,
}

/// How a start went.
pub(super) struct StartReport(Started);

impl Follow<'_> {
    pub(super) fn follow(&self, opened: &mut Opened, pane: &Pane) -> Result<StartReport, CommandError> {
        let signature = panes::signature(self.world, self.cli)?;
        let app = RefCell::new(&mut opened.app);
        let is_prompted = || {
            let found = app.borrow_mut().find_pane(pane.name.as_str());
            found.is_ok_and(|found| found.heard.is_some_and(|heard| heard.prompts > 0))
        };
        let policy = StartPolicy {
            trusts: self.trusts,
            has_prompt: self.has_prompt,
            is_prompted: &is_prompted,
            longest: LONGEST,
        };
        let started = follow_start(self.tmux, &pane.address, &signature, &policy)?;
        let turned = match &started {
            Started::Waits(reading) => {
                TurnState::of(reading.state).map(|state| (state, reading.question.clone()))
            }
            Started::Ended(reading) => {
                TurnState::of(reading.state).map(|state| (state, reading.resume.clone()))
            }
            Started::Unprompted => Some((TurnState::Unconfirmed, None)),
            Started::Ready | Started::Prompted | Started::NotUnderstood => None,
        };
        if let Some((state, about)) = turned
            && let Some(place) =
                opened.app.find_pane(pane.name.as_str())?.record.and_then(|record| record.place().cloned())
        {
            let (name, cli) = (pane.name.clone(), self.cli.kind().to_owned());
            opened.app.note_turn(&PaneTurn { place, name, cli, state, about })?;
        }
        Ok(StartReport(started))
    }
}

impl StartReport {
    pub(super) fn is_well(&self) -> bool {
        matches!(self.0, Started::Ready | Started::Prompted)
    }

    fn as_str(&self) -> &'static str {
        match &self.0 {
            Started::Ready => "ready",
            Started::Prompted => "prompted",
            Started::Unprompted => "unconfirmed",
            Started::Waits(_) => "waiting",
            Started::Ended(_) => "ended",
            Started::NotUnderstood => "unknown",
        }
    }

    fn question(&self) -> Option<&str> {
        match &self.0 {
            Started::Waits(reading) => reading.question.as_deref(),
            _ => None,
        }
    }

    /// As data.
    pub(super) fn item(&self, pane: &Pane, cli: &dyn AgentCli) -> Value {
        json!({
            "number": pane.number, "name": pane.name, "cli": cli.kind(), "pane": pane.address.id,
            "server": pane.address.server, "cwd": pane.cwd, "started": self.as_str(), "question": self.question(),
        })
    }

    /// In a sentence.
    pub(super) fn line(&self, pane: &Pane) -> String {
        let Pane { name, number, cwd, .. } = pane;
        let how = match &self.0 {
            Started::Ready => format!("is ready in {}", shown(cwd)),
            Started::Prompted => format!("is at work in {}", shown(cwd)),
            Started::Unprompted => "is ready, but its prompt was not seen to arrive".into(),
            Started::Waits(reading) => {
                let asked = reading.question.as_deref().or(reading.lines.first().map(String::as_str));
                format!("waits for you: {}", text::one_line(asked.unwrap_or("a dialog"), 200))
            }
            Started::Ended(_) => "has ended".into(),
            Started::NotUnderstood => "was started, and shows nothing that is understood".into(),
        };
        format!("{name} (pane {number}) {how}\n  See it: consort pane attach {name}")
    }
}
