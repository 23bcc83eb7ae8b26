//! What each session does right now, and which process hosts it, in its state file
//! beside the database. It comes with every tool call of every agent, twice. **Losing
//! one loses nothing that the next does not tell.**

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::engine::StoreError;
use crate::host::Process;
use crate::presence::Activity;
use crate::presence::ActivityUpdate;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::presence::Status;
use crate::presence::Subagent;
use crate::side_files::HOST;
use crate::side_files::HOSTS;
use crate::side_files::Line;
use crate::side_files::MAIL;
use crate::side_files::NO_MAIL;
use crate::side_files::NOW;
use crate::side_files::RENEWED;
use crate::side_files::SUBAGENTS;
use crate::side_files::SessionState;
use crate::side_files::SideFiles;
use crate::side_files::StateField;
use crate::side_files::TURN;
use crate::side_files::escaped;
use crate::side_files::unescaped;

/// What [`SUBAGENTS`] says.
const SOME: &str = "some";

#[derive(Serialize, Deserialize)]
struct Now {
    at: Timestamp,
    status: Status,
    activity: Option<String>,
    waiting_for: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct Turn {
    prompts: u32,
    model: Option<String>,
    asks_first: Option<bool>,
}

impl dyn SideFiles + '_ {
    /// Notes what a session does; false if the session has not begun.
    pub fn note_activity(
        &self,
        session: &SessionId,
        at: Timestamp,
        update: &ActivityUpdate,
    ) -> Result<bool, StoreError> {
        // Mail may have come before the session. What was damaged is written again.
        let Some(state) = self.state(session)? else { return Ok(false) };
        if !state.is_begun() {
            return Ok(false);
        }
        let ActivityUpdate { status, doing: activity, waiting_for, .. } = update;
        let now = Now { at, status: *status, activity: activity.clone(), waiting_for: waiting_for.clone() };
        let mut text = json(&now);
        if text.len() > NOW.len {
            text = json(&Now { activity: None, waiting_for: None, ..now });
        }
        let turn = update.prompt.then(|| json(&next_turn(&state, update)));
        // One that does not fit says nothing new.
        let turn = turn.filter(|turn| turn.len() <= TURN.len);
        let fields: Vec<(StateField, &str)> =
            [(NOW, text.as_str())].into_iter().chain(turn.as_deref().map(|turn| (TURN, turn))).collect();
        self.set_fields(session, &fields)
    }

    /// Says that a session lives, for those who cannot see its process.
    pub fn renew(&self, session: &SessionId, at: Timestamp) {
        // One that has left has nothing to renew.
        let _ = self.set_fields(session, &[(RENEWED, &at.0.to_string())]);
    }

    /// When a session was last known to live.
    pub fn renewed(&self, session: &SessionId) -> Option<Timestamp> {
        let state = self.state(session).ok()??;
        let (renewed, now): (Option<i64>, Option<Now>) = (state.read(RENEWED), state.read(NOW));
        renewed.map(Timestamp).max(now.map(|now| now.at))
    }

    /// Begins a session's state; clears what an earlier life left, except mail.
    pub fn start_activity(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.make_session(session, &[(MAIL, NO_MAIL)])?;
        let now = json(&Now { at, status: Status::Idle, activity: None, waiting_for: None });
        let fields = [(RENEWED, ""), (SUBAGENTS, ""), (HOST, ""), (TURN, ""), (NOW, now.as_str())];
        self.set_fields(session, &fields).map(drop)
    }

    /// Notes in which process an agent runs. Where it cannot be, it is a hint less.
    pub fn note_host(&self, agent: &Agent) {
        let Process { pid, start, .. } = &agent.location.process;
        // The state first: a slot counts only with that.
        let _ =
            self.set_fields(&agent.session, &[(HOST, &format!("{pid} {start} {}", agent.location.machine))]);
        let _ = self.set_slot(HOSTS, &life(&agent.location.process), &escaped(agent.session.as_str()));
    }

    /// The session that a process is noted to host. None may mean that it was not noted.
    pub fn hosted_by(&self, process: &Process) -> Option<SessionId> {
        let session = SessionId::from(unescaped(&self.slot(HOSTS, &life(process))?));
        // It may have ended since, or moved to another process.
        let (_, host) = self.host_of(&session)?;
        host.is(process).then_some(session)
    }

    /// In which process a session runs, and where, as it was noted.
    pub fn host_of(&self, session: &SessionId) -> Option<(String, Process)> {
        let state = self.state(session).ok()??;
        let mut words = state.get(HOST).splitn(3, ' ');
        let (pid, start, host) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        Some((host.to_owned(), Process { pid, start: start.to_owned(), ..Process::default() }))
    }

    /// A subagent of a session has begun.
    pub fn note_subagent(&self, session: &SessionId, subagent: &Subagent) -> Result<(), StoreError> {
        if self.set_fields(session, &[(SUBAGENTS, SOME)])? {
            self.add(session, &Line::Subagent(json(subagent)))?;
        }
        Ok(())
    }

    /// A subagent of a session has ended.
    pub fn end_subagent(&self, session: &SessionId, id: &str) -> Result<(), StoreError> {
        self.add(session, &Line::SubagentOver(id.to_owned()))
    }

    /// What is known of what a session does.
    pub fn activity(&self, session: &SessionId) -> Option<Activity> {
        let state = self.state(session).ok()??;
        // Caught in the middle of a write, it is whole a moment later.
        let now: Now = state.read(NOW).or_else(|| self.state(session).ok()??.read(NOW))?;
        let turn: Turn = state.read(TURN).unwrap_or_default();
        let has_subagents = state.get(SUBAGENTS) == SOME;
        let subagents = if has_subagents { self.read_log(session).subagents() } else { Vec::new() };
        Some(Activity {
            last_active: now.at,
            status: now.status,
            doing: now.activity,
            waiting_for: now.waiting_for,
            prompts: turn.prompts,
            model: turn.model,
            asks_first: turn.asks_first,
            subagents,
        })
    }
}

/// Prompts of one session come one after the other, so reading and writing back loses
/// none.
fn next_turn(state: &SessionState, update: &ActivityUpdate) -> Turn {
    let turn: Turn = state.read(TURN).unwrap_or_default();
    Turn {
        prompts: turn.prompts.saturating_add(1),
        model: update.model.clone().or(turn.model),
        asks_first: update.asks_first.or(turn.asks_first),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// One life of a process.
fn life(process: &Process) -> String {
    format!("{} {}", process.pid, escaped(&process.start))
}
