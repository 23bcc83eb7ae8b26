//! Follows the start of an opened agent, and reports how it went.

use std::cell::RefCell;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::monitor::PaneStateChange;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::RecordedPaneState;
use consort_core::monitor::StartPolicy;
use consort_core::monitor::Started;
use consort_core::monitor::TypingOutcome;
use consort_core::monitor::TypingPurpose;
use consort_core::monitor::follow_start;
use consort_core::secrets::redacted;
use consort_core::text;
use consort_host::Tmux;
use serde_json::Value;
use serde_json::json;

use super::Pane;
use super::shown;
use crate::error::CommandError;
use crate::panes;
use crate::panes::typing;
use crate::panes::typing::Typeable;
use crate::world::OpenWorld;
use crate::world::World;

/// Longest time an agent may take to be ready.
const LONGEST: Duration = Duration::from_secs(90);

/// A start to follow: of which CLI, with which prompt, and whether it may be told that it is trusted.
pub(super) struct Follow<'a> {
    pub(super) world: &'a World,
    pub(super) tmux: &'a Tmux,
    pub(super) cli: &'static dyn AgentCli,
    pub(super) prompt: Option<&'a str>,
    pub(super) trusts: bool,
}

/// The outcome of a start, and its agent.
pub(super) struct StartReport {
    started: Started,
    agent: Value,
}

/// Pause after a refusal before the prompt is typed again.
const RETRY: Duration = Duration::from_secs(5);

/// Most times that a first prompt is typed again that was not seen to arrive.
const RETRIES: usize = 2;

impl Follow<'_> {
    pub(super) fn follow(&self, opened: &mut OpenWorld, pane: &Pane) -> Result<StartReport, CommandError> {
        let signature = panes::signature_of(self.world, &opened.app, self.cli.kind())?;
        let app = RefCell::new(&mut opened.app);
        let is_prompted = || {
            let found = app.borrow_mut().find_pane(pane.name.as_str());
            found.is_ok_and(|found| found.heard.is_some_and(|heard| heard.prompts > 0))
        };
        let policy = StartPolicy {
            trusts: self.trusts,
            has_prompt: self.prompt.is_some(),
            is_prompted: &is_prompted,
            longest: LONGEST,
        };
        let mut started = follow_start(self.tmux, &pane.address, &signature, &policy)?;
        for _ in 0..RETRIES {
            let Some(prompt) = self.prompt.filter(|_| started == Started::Unprompted) else { break };
            let what = Typeable { purpose: TypingPurpose::Prompt, text: prompt.to_owned() };
            let known = typing::signature(self.world, &app.borrow(), self.cli.kind());
            match typing::deliver(&self.world.paths.data, &pane.address, known.as_ref(), &what)? {
                TypingOutcome::Delivered | TypingOutcome::Unknown => {
                    started = follow_start(self.tmux, &pane.address, &signature, &policy)?;
                }
                // The reason for the refusal may pass.
                TypingOutcome::Refused(refusal) if refusal.is_temporary() => self.tmux.pause(RETRY),
                TypingOutcome::Refused(_) => break,
            }
        }
        let turned = match &started {
            Started::Waits(reading) => {
                RecordedPaneState::of(reading.state).map(|state| (state, reading.question.clone()))
            }
            Started::Ended(reading) => {
                RecordedPaneState::of(reading.state).map(|state| (state, reading.resume.clone()))
            }
            Started::Unprompted => Some((RecordedPaneState::Unconfirmed, None)),
            Started::Ready | Started::Prompted | Started::NotUnderstood => None,
        };
        let subject = opened.app.find_pane(pane.name.as_str())?;
        let agent = subject.agent_json();
        if let Some((state, about)) = turned
            && let Some(place) = subject.record.and_then(|record| record.place().cloned())
        {
            let (name, cli) = (pane.name.clone(), self.cli.kind().to_owned());
            let about = about.map(|about| redacted(&about));
            opened.app.note_state_change(&PaneStateChange { place, name, cli, state, about })?;
        }
        Ok(StartReport { started, agent })
    }
}

impl StartReport {
    pub(super) fn is_well(&self) -> bool {
        matches!(self.started, Started::Ready | Started::Prompted)
    }

    fn as_str(&self) -> &'static str {
        match &self.started {
            Started::Ready => "ready",
            Started::Prompted => "prompted",
            Started::Unprompted => "unconfirmed",
            Started::Waits(_) => "waiting",
            Started::Ended(_) => "ended",
            Started::NotUnderstood => "unknown",
        }
    }

    fn question(&self) -> Option<&str> {
        match &self.started {
            Started::Waits(reading) => reading.question.as_deref(),
            _ => None,
        }
    }

    /// Formats the report as JSON.
    pub(super) fn item(&self, pane: &Pane) -> Value {
        let mut item = self.agent.clone();
        item["number"] = pane.number.into();
        item["pane"] = pane.address.id.clone().into();
        item["server"] = json!(pane.address.server);
        item["cwd"] = json!(pane.cwd);
        item["started"] = self.as_str().into();
        item["question"] = self.question().map(redacted).into();
        item
    }

    /// Formats the report as a sentence, with the next command to type.
    pub(super) fn line(&self, pane: &Pane) -> String {
        let Pane { name, number, cwd, .. } = pane;
        let how = match &self.started {
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
        let way = match &self.started {
            Started::Ended(_) => format!("See its last words: consort pane screen {name}"),
            Started::Waits(_) => {
                format!("Answer it: consort waiting\n  See it: consort pane attach {name}")
            }
            _ => format!("See it: consort pane attach {name}"),
        };
        format!("{name} (pane {number}) {how}\n  {way}")
    }
}
