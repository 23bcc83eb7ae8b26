//! Stores each session's current activity and its hosting process in the session's state file, beside the
//! database. An update comes twice with every tool call of every agent. **A lost update is made good by the
//! next one.**

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
use crate::side_files::ACTIVITY;
use crate::side_files::HOST;
use crate::side_files::HOSTS;
use crate::side_files::LogLine;
use crate::side_files::MAIL;
use crate::side_files::NO_MAIL;
use crate::side_files::RENEWED;
use crate::side_files::SUBAGENTS;
use crate::side_files::SessionState;
use crate::side_files::SideFiles;
use crate::side_files::StateField;
use crate::side_files::TURN;
use crate::side_files::escaped;
use crate::side_files::unescaped;

/// Value of the field [`SUBAGENTS`] of a session that has had subagents.
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
    /// Writes a session's activity; returns `false` if the session has not begun.
    pub fn note_activity(
        &self,
        session: &SessionId,
        at: Timestamp,
        update: &ActivityUpdate,
    ) -> Result<bool, StoreError> {
        // A state with mail only may exist before the session begins. Damaged fields are written again.
        let Some(state) = self.state(session)? else { return Ok(false) };
        if !state.is_begun() {
            return Ok(false);
        }
        let ActivityUpdate { status, doing: activity, waiting_for, .. } = update;
        let now = Now { at, status: *status, activity: activity.clone(), waiting_for: waiting_for.clone() };
        let mut text = json(&now);
        if text.len() > ACTIVITY.len {
            text = json(&Now { activity: None, waiting_for: None, ..now });
        }
        let turn = update.prompt.then(|| json(&next_turn(&state, update)));
        // A turn that does not fit into its field is not written.
        let turn = turn.filter(|turn| turn.len() <= TURN.len);
        let fields: Vec<(StateField, &str)> =
            [(ACTIVITY, text.as_str())].into_iter().chain(turn.as_deref().map(|turn| (TURN, turn))).collect();
        self.set_fields(session, &fields)
    }

    /// Records that a session lives, for observers that cannot see its process.
    pub fn note_alive(&self, session: &SessionId, at: Timestamp) {
        // A session that has left has no state to renew.
        let _ = self.set_fields(session, &[(RENEWED, &at.0.to_string())]);
    }

    /// Returns the time when a session was last known to live.
    pub fn last_alive(&self, session: &SessionId) -> Option<Timestamp> {
        let state = self.state(session).ok()??;
        let (renewed, now): (Option<i64>, Option<Now>) = (state.read(RENEWED), state.read(ACTIVITY));
        renewed.map(Timestamp).max(now.map(|now| now.at))
    }

    /// Creates a session's state, or resets an earlier one except for its mail flags.
    pub fn start_activity(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        let now = json(&Now { at, status: Status::Idle, activity: None, waiting_for: None });
        let now = (ACTIVITY, now.as_str());
        if !self.make_session(session, &[(MAIL, NO_MAIL), now])? {
            self.set_fields(session, &[(RENEWED, ""), (SUBAGENTS, ""), (HOST, ""), (TURN, ""), now])?;
        }
        Ok(())
    }

    /// Records the hosting process of an agent. A failure is ignored: the record is only a hint.
    pub fn note_host(&self, agent: &Agent) {
        let Process { pid, start, .. } = &agent.location.process;
        // Write the state first: a slot counts only if the state agrees.
        let _ =
            self.set_fields(&agent.session, &[(HOST, &format!("{pid} {start} {}", agent.location.machine))]);
        let _ = self.set_slot(HOSTS, &life(&agent.location.process), &escaped(agent.session.as_str()));
    }

    /// Returns the session recorded as hosted by a process. `None` may also mean that the record was lost.
    pub fn session_hosted_by(&self, process: &Process) -> Option<SessionId> {
        let session = SessionId::from(unescaped(&self.slot(HOSTS, &life(process))?));
        // The session may have ended since, or moved to another process.
        let (_, host) = self.host_of(&session)?;
        host.is(process).then_some(session)
    }

    /// Returns the recorded machine and hosting process of a session.
    pub fn host_of(&self, session: &SessionId) -> Option<(String, Process)> {
        let state = self.state(session).ok()??;
        let mut words = state.get(HOST).splitn(3, ' ');
        let (pid, start, host) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        Some((host.to_owned(), Process { pid, start: start.to_owned(), ..Process::default() }))
    }

    /// Records that a subagent of a session has begun.
    pub fn note_subagent(&self, session: &SessionId, subagent: &Subagent) -> Result<(), StoreError> {
        if self.set_fields(session, &[(SUBAGENTS, SOME)])? {
            self.add(session, &LogLine::Subagent(json(subagent)))?;
        }
        Ok(())
    }

    /// Records that a subagent of a session has ended.
    pub fn end_subagent(&self, session: &SessionId, id: &str) -> Result<(), StoreError> {
        self.add(session, &LogLine::SubagentOver(id.to_owned()))
    }

    /// Reads the activity of a session.
    pub fn activity(&self, session: &SessionId) -> Option<Activity> {
        let state = self.state(session).ok()??;
        // The field may be half written: read it a second time.
        let now: Now = state.read(ACTIVITY).or_else(|| self.state(session).ok()??.read(ACTIVITY))?;
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

/// Returns the turn data after an update that began with a prompt. Prompts of one session come one after the
/// other, so reading and writing back loses none.
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

/// Returns the slot key of one process: its id and start.
fn life(process: &Process) -> String {
    format!("{} {}", process.pid, escaped(&process.start))
}
