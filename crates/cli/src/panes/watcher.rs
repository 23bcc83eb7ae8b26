//! The watcher: looks at every pane once a second, records changes of state, and publishes the states of all
//! panes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::host::Clock as _;
use consort_core::journal::Actor;
use consort_core::monitor::Glances;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::PaneGlance;
use consort_core::monitor::PaneIdentity;
use consort_core::monitor::PaneLook;
use consort_core::monitor::PaneState;
use consort_core::monitor::PaneStateChange;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::RecordedPaneState;
use consort_core::monitor::ServerPanes;
use consort_core::monitor::Signature;
use consort_core::monitor::StallCertainty;
use consort_core::monitor::TerminalError;
use consort_core::monitor::Transition;
use consort_core::monitor::Watched;
use consort_core::presence::AgentName;
use consort_core::secrets::redacted;
use consort_host::Machine;
use consort_host::Tmux;

use super::facts_of;
use super::review;
use super::signature_of;
use super::typing;
use super::typing::TypedText;
use crate::error::CommandError;
use crate::world::World;

/// Interval between two looks.
pub(crate) const TICK: Duration = Duration::from_secs(1);

/// Interval after which the states are published again, though nothing has changed.
const PUBLISH_AGAIN: i64 = 2 * Timestamp::SECOND;

/// Time after which the rules for a screen are read again: a CLI may be updated.
const READ_AGAIN: i64 = Timestamp::MINUTE;

/// Time without a key after which the person is away.
const AWAY: i64 = 10 * Timestamp::MINUTE;

/// A watcher of panes. Whether it also acts is a matter of the role.
pub(crate) struct Watcher<'w> {
    pub(super) world: &'w World,
    pub(crate) tmux: Tmux,
    machine: Machine,
    /// The rules by CLI, with the time they were read.
    signatures: BTreeMap<String, (Timestamp, Signature)>,
    panes: BTreeMap<String, WatchedPane>,
    published: Glances,
    /// The time of the last search for stuck agents.
    pub(super) stuck_at: Timestamp,
}

/// A pane with what was last seen of it.
pub(crate) struct WatchedPane {
    pub(crate) subject: PaneSubject,
    pub(crate) place: PaneIdentity,
    pub(crate) look: PaneLook,
    pub(crate) watched: Watched,
    /// The time at which its screen was last captured.
    captured_at: Timestamp,
    /// Processor time and I/O of its tools when it last seemed to stand still.
    pub(super) effort: u64,
    pub(super) diagnosis: Option<String>,
    /// The time since which there is mail that its agent has not heard of.
    pub(super) mail_since: Option<Timestamp>,
    /// Number of its suggestions that were accepted.
    pub(super) accepted: u32,
    pub(super) typed: TypedText,
}

/// A pane's change to another state.
pub(crate) struct PaneChange {
    pub(crate) key: String,
    pub(crate) subject: PaneSubject,
    pub(crate) at: Timestamp,
    pub(crate) transition: Transition,
}

impl<'w> Watcher<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        Self {
            world,
            tmux: Tmux::new(&world.paths.data),
            machine: Machine::new(&world.paths.data),
            signatures: BTreeMap::new(),
            panes: BTreeMap::new(),
            published: Glances::default(),
            stuck_at: Timestamp(0),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.machine.now()
    }

    /// Waits until nothing is being typed, for so long at most.
    pub(super) fn finish_typing(&self, longest: Duration) {
        let since = Instant::now();
        while since.elapsed() < longest && self.panes.values().any(|pane| pane.typed.is_typing()) {
            self.tmux.pause(Duration::from_millis(50));
        }
    }

    /// Returns all panes as they were last seen, by key.
    pub(super) fn panes_mut(&mut self) -> impl Iterator<Item = (&String, &mut WatchedPane)> {
        self.panes.iter_mut()
    }

    pub(super) fn pane(&self, key: &str) -> Option<&WatchedPane> {
        self.panes.get(key)
    }

    pub(super) fn pane_mut(&mut self, key: &str) -> Option<&mut WatchedPane> {
        self.panes.get_mut(key)
    }

    /// Returns the rules for a CLI's screen; empty rules if there are none.
    fn signature(&mut self, app: &App, cli: &str) -> Signature {
        let now = self.now();
        if let Some((at, known)) = self.signatures.get(cli)
            && now.since(*at) < READ_AGAIN
        {
            return known.clone();
        }
        // `pane explain` reports a wrong file of the user's; here it counts as empty.
        let signature = signature_of(self.world, app, cli).unwrap_or_default();
        self.signatures.insert(cli.to_owned(), (now, signature.clone()));
        signature
    }

    /// Returns the rules for typing into a CLI's screen: `None` unless its version is known.
    pub(super) fn typing_signature(&self, app: &App, cli: &str) -> Option<Signature> {
        typing::signature(self.world, app, cli)
    }

    /// Looks at every pane once, and returns the changes of state.
    pub(crate) fn sweep(&mut self, app: &mut App) -> Result<Vec<PaneChange>, CommandError> {
        let mut servers: BTreeMap<PathBuf, Vec<PaneSubject>> = BTreeMap::new();
        for subject in app.panes()? {
            servers.entry(subject.address.server.clone()).or_default().push(subject);
        }
        let mut seen = Vec::new();
        let mut there = Vec::new();
        for (server, subjects) in servers {
            let sweep = self.look_at(&server, &subjects)?;
            let now = self.now();
            for subject in subjects {
                let facts = sweep.panes.get(&subject.address.id);
                let place = place(app, &subject, facts);
                let key = place.key();
                // A pane of the same address with another process is another pane.
                let facts = facts.filter(|facts| facts.pid == place.process.pid);
                let screen = sweep.screens.get(&subject.address.id);
                there.push(key.clone());
                let signature = self.signature(app, subject.cli());
                seen.extend(self.take_in(key, place, subject, (facts, screen), &signature, now));
            }
        }
        self.panes.retain(|key, _| there.contains(key));
        Ok(seen)
    }

    /// Captures the screens of a server's panes that may have changed.
    fn look_at(
        &self,
        server: &std::path::Path,
        subjects: &[PaneSubject],
    ) -> Result<ServerPanes, CommandError> {
        let is_moving = |subject: &&PaneSubject| {
            let known = self.panes.values().find(|known| known.subject.address == subject.address);
            known.is_none_or(|known| matches!(known.watched.state, PaneState::Working | PaneState::Retrying))
        };
        let id = |subject: &PaneSubject| subject.address.id.clone();
        let moving: Vec<String> = subjects.iter().filter(is_moving).map(id).collect();
        let mut sweep = match self.tmux.sweep(server, &moving) {
            // The panes are gone with their server.
            Err(TerminalError::NoServer { .. }) => return Ok(ServerPanes::default()),
            sweep => sweep?,
        };
        // The other panes are captured only if they have drawn something since.
        let has_moved = |subject: &&PaneSubject| {
            let known = self.panes.values().find(|known| known.subject.address == subject.address);
            let facts = sweep.panes.get(&subject.address.id);
            let is_newer = |facts: &PaneFacts, known: &WatchedPane| {
                facts.active_at.is_none_or(|at| at.plus(2 * Timestamp::SECOND) >= known.captured_at)
                    || (&facts.title, facts.is_dead) != (&known.look.facts.title, known.look.facts.is_dead)
            };
            !sweep.screens.contains_key(&subject.address.id)
                && facts.zip(known).is_some_and(|(facts, known)| is_newer(facts, known))
        };
        let rest: Vec<String> = subjects.iter().filter(has_moved).map(id).collect();
        if !rest.is_empty() {
            let more = self.tmux.sweep(server, &rest)?;
            sweep.screens.extend(more.screens);
        }
        Ok(sweep)
    }

    /// Takes in what was seen of one pane, and returns its change of state, if any.
    fn take_in(
        &mut self,
        key: String,
        place: PaneIdentity,
        subject: PaneSubject,
        (facts, screen): (Option<&PaneFacts>, Option<&String>),
        signature: &Signature,
        now: Timestamp,
    ) -> Option<PaneChange> {
        let transition = match (self.panes.get_mut(&key), facts) {
            (Some(known), None) => {
                known.subject = subject;
                known.watched.vanish(now)
            }
            (Some(known), Some(facts)) => {
                let held = known.watched.state_age(now);
                if let Some(screen) = screen {
                    known.captured_at = now;
                    known.look = PaneLook::new(facts_of(facts, &subject), screen.clone(), signature, held);
                }
                known.subject = subject;
                known.watched.observe(&known.look, known.subject.heard.as_ref(), now)
            }
            (None, _) => {
                let gone = PaneFacts { is_dead: true, ..PaneFacts::default() };
                let facts = facts.map_or(gone, |facts| facts_of(facts, &subject));
                let screen = screen.cloned().unwrap_or_default();
                let look = PaneLook::new(facts, screen, signature, Duration::ZERO);
                let watched = Watched::new(&look, subject.heard.as_ref(), now);
                let first = Transition {
                    from: PaneState::Unknown,
                    to: watched.state,
                    question: look.reading.question.clone(),
                };
                let pane = WatchedPane {
                    subject,
                    place,
                    look,
                    watched,
                    captured_at: now,
                    effort: 0,
                    diagnosis: None,
                    mail_since: None,
                    accepted: 0,
                    typed: TypedText::default(),
                };
                self.panes.insert(key.clone(), pane);
                Some(first)
            }
        }?;
        let pane = self.panes.get(&key)?;
        Some(PaneChange { subject: pane.subject.clone(), key, at: now, transition })
    }

    /// Records a change of state that matters to people, and tells whether it is news.
    pub(crate) fn note(&mut self, app: &mut App, seen: &PaneChange) -> Result<bool, CommandError> {
        let Some(pane) = self.panes.get(&seen.key) else { return Ok(false) };
        let Some(state) = turn_state(&seen.transition) else { return Ok(false) };
        let reading = &pane.watched.reading;
        let about = match state {
            RecordedPaneState::Waiting => reading.question.clone(),
            RecordedPaneState::Limit => reading.resets.clone().or_else(|| reading.lines.first().cloned()),
            RecordedPaneState::Error => reading.lines.first().cloned(),
            RecordedPaneState::Exited | RecordedPaneState::Dead => reading.resume.clone(),
            RecordedPaneState::Finished
            | RecordedPaneState::Stalled
            | RecordedPaneState::Unconfirmed
            | RecordedPaneState::Working => None,
        };
        let about = about.map(|about| redacted(&about));
        let (name, cli) = (AgentName::from(seen.subject.name()), seen.subject.cli().to_owned());
        let place = pane.place.clone();
        let is_news = app.note_state_change(&PaneStateChange {
            place: place.clone(),
            name: name.clone(),
            cli,
            state,
            about,
        })?;
        if is_news && state == RecordedPaneState::Finished {
            // Without a review the agent has finished all the same.
            let _ = review::ask(self.world, app, &pane.subject, &name);
        }
        if state.is_over() && pane.subject.opener().is_none() {
            // A pane that we did not open is the person's, and goes on without an agent.
            app.note_closed(&place, &name, Actor::Consort)?;
        }
        Ok(is_news)
    }

    /// Publishes the states of all panes, if they have changed or the last time was a while ago.
    pub(crate) fn publish_states(&mut self, app: &App) {
        let now = self.now();
        let glances = Glances { at: now, panes: self.panes.values().map(|pane| glance(pane, now)).collect() };
        if glances.panes != self.published.panes || now.since(self.published.at) >= PUBLISH_AGAIN {
            app.publish_glances(&glances);
            self.published = glances;
        }
    }
}

fn glance(pane: &WatchedPane, now: Timestamp) -> PaneGlance {
    let WatchedPane { subject, watched, look, .. } = pane;
    let has_menu = watched.state.has_menu();
    let reading = &watched.reading;
    let is_idle = matches!(watched.state, PaneState::Ready | PaneState::Finished | PaneState::Suggestion);
    let was_there = look.facts.last_key_at.is_some_and(|at| now.since(at) < AWAY);
    PaneGlance {
        name: subject.name(),
        cli: subject.cli().to_owned(),
        session: subject.agent.as_ref().map(|agent| agent.session.clone()),
        machine: pane.place.machine.clone(),
        address: subject.address.clone(),
        state: watched.state.as_str().to_owned(),
        since: watched.since,
        question: reading.question.as_deref().filter(|_| has_menu).map(redacted),
        options: reading.options.iter().filter(|_| has_menu).map(|option| option.label.clone()).collect(),
        is_stalled: watched.stall == StallCertainty::Confirmed,
        is_away: is_idle && !was_there && subject.opener().is_none(),
        typed: pane.typed.told(),
        history: watched.history.iter().map(|(at, state)| (*at, state.as_str().to_owned())).collect(),
    }
}

/// Returns the place of a pane: as it was recorded, else as it is found.
fn place(app: &App, subject: &PaneSubject, facts: Option<&PaneFacts>) -> PaneIdentity {
    let recorded = subject.record.as_ref().and_then(|record| record.place().cloned());
    recorded.unwrap_or_else(|| app.pane_identity(&subject.address, facts.map_or(0, |facts| facts.pid)))
}

/// Returns the state that a change is recorded as, if it is recorded. Rest is an end only after work.
fn turn_state(transition: &Transition) -> Option<RecordedPaneState> {
    let state = RecordedPaneState::of(transition.to)?;
    let is_after_work =
        !matches!(transition.from, PaneState::Ready | PaneState::Starting | PaneState::Suggestion);
    (state != RecordedPaneState::Finished || is_after_work).then_some(state)
}
