//! Tracks which arrivals and departures a session was told of, beside the database: a mark in the session's
//! state says that an agent has come or gone; its log lists the agents it was told of and those it has dealt
//! with. **Losing this data only loses a hint.**
//!
//! The mark is set after the commit of the change, and cleared before the session looks: so a change during
//! that look leads to another look.

use crate::presence::Agent;
use crate::presence::SessionId;
use crate::side_files::ACTIVITY;
use crate::side_files::LogLine;
use crate::side_files::MAIL;
use crate::side_files::NOT_BEGUN;
use crate::side_files::ROSTER;
use crate::side_files::SideFiles;
use crate::side_files::UNKNOWN_MAIL;
use crate::text;

/// Value of the field [`ROSTER`] while the mark is set.
const CHANGED: &str = "c";

impl dyn SideFiles + '_ {
    /// Marks a session, so that its next hook looks who has come or gone.
    pub fn mark_for_roster_news(&self, session: &SessionId) {
        let mark = [(ROSTER, CHANGED)];
        if matches!(self.set_fields(session, &mark), Ok(false)) {
            // The session has just joined, and has no state yet: create one with the mark.
            let fields = [(MAIL, UNKNOWN_MAIL), (ACTIVITY, NOT_BEGUN), mark[0]];
            let _ = self.make_session(session, &fields).and_then(|()| self.set_fields(session, &mark));
        }
    }

    /// Marks all present sessions that an ended session has dealt with.
    pub fn mark_contacts_of_departed(&self, session: &SessionId) {
        for met in self.read_log(session).met() {
            let _ = self.set_fields(&met, &[(ROSTER, CHANGED)]);
        }
    }

    /// Clears the mark of a session, and returns whether it was set.
    pub(crate) fn take_roster_mark(&self, session: &SessionId) -> bool {
        let is_marked = matches!(self.state(session), Ok(Some(state)) if state.get(ROSTER) == CHANGED);
        is_marked && matches!(self.set_fields(session, &[(ROSTER, "")]), Ok(true))
    }

    /// Records, once, that two sessions have dealt with each other.
    pub fn note_contact(&self, one: &SessionId, other: &SessionId) {
        for (session, met) in [(one, other), (other, one)] {
            let line = LogLine::Met(met.clone());
            // Every hook of the session reads its log, which must not grow with every message.
            if !self.read_log(session).has(&line) {
                let _ = self.add(session, &line);
            }
        }
    }

    /// Returns the agents that a session was not told of, and records that it now was. An agent that was
    /// renamed or replaced counts as told.
    pub(crate) fn not_met<'a>(&self, session: &SessionId, agents: Vec<&'a Agent>) -> Vec<&'a Agent> {
        let told = self.read_log(session).told();
        let (mut strangers, mut lines) = (Vec::new(), Vec::new());
        for agent in agents {
            let by_name = ["here ", agent.name.as_str(), " ", &agent.kind];
            let called = [
                text::stable_hash_of_parts(&["here ", agent.session.as_str()].map(str::as_bytes)),
                text::stable_hash_of_parts(&by_name.map(str::as_bytes)),
            ];
            if !called.iter().any(|what| told.contains(what)) {
                strangers.push(agent);
            }
            lines.extend(called.into_iter().filter(|what| !told.contains(what)).map(LogLine::Told));
        }
        let _ = self.add_all(session, &lines);
        strangers
    }
}
