//! What a session knows of who is here, beside the database: a mark in its state that
//! somebody has come or gone, and in its log whom it was told of and whom it has dealt
//! with. **What is lost here is a hint that is not given.**
//!
//! The mark is set after the commit of what it announces, and taken away before the look
//! that it asks for: so a change during that look is looked at again.

use crate::presence::Agent;
use crate::presence::SessionId;
use crate::side_files::Line;
use crate::side_files::MAIL;
use crate::side_files::NOT_BEGUN;
use crate::side_files::NOW;
use crate::side_files::ROSTER;
use crate::side_files::SideFiles;
use crate::side_files::UNKNOWN_MAIL;
use crate::text;

/// What [`ROSTER`] says.
const CHANGED: &str = "c";

impl dyn SideFiles + '_ {
    /// Has a session look who has come or gone, at its next hook.
    pub fn mark_roster(&self, session: &SessionId) {
        let mark = [(ROSTER, CHANGED)];
        if matches!(self.set_fields(session, &mark), Ok(false)) {
            // It has joined, and its state comes in a moment.
            let fields = [(MAIL, UNKNOWN_MAIL), (NOW, NOT_BEGUN), mark[0]];
            let _ = self.make_session(session, &fields).and_then(|()| self.set_fields(session, &mark));
        }
    }

    /// The same for all whom a session that is over has dealt with, if they are here.
    pub fn mark_departure(&self, session: &SessionId) {
        for met in self.read_log(session).met() {
            let _ = self.set_fields(&met, &[(ROSTER, CHANGED)]);
        }
    }

    /// Whether somebody has come or gone; from now on it has looked.
    pub(crate) fn take_roster_mark(&self, session: &SessionId) -> bool {
        let is_marked = matches!(self.state(session), Ok(Some(state)) if state.get(ROSTER) == CHANGED);
        is_marked && matches!(self.set_fields(session, &[(ROSTER, "")]), Ok(true))
    }

    /// Two sessions have dealt with each other.
    pub fn note_met(&self, one: &SessionId, other: &SessionId) {
        let _ = self.add(one, &Line::Met(other.clone()));
        let _ = self.add(other, &Line::Met(one.clone()));
    }

    /// Those of these agents whom a session was not told of; from now on it was. One that
    /// was renamed or replaced is known already.
    pub(crate) fn not_met<'a>(&self, session: &SessionId, agents: Vec<&'a Agent>) -> Vec<&'a Agent> {
        let told = self.read_log(session).told();
        let (mut strangers, mut lines) = (Vec::new(), Vec::new());
        for agent in agents {
            let by_name = ["here ", agent.name.as_str(), " ", &agent.kind].concat();
            let called = [["here ", agent.session.as_str()].concat(), by_name];
            let called = called.map(|what| text::checksum(what.as_bytes()));
            if !called.iter().any(|what| told.contains(what)) {
                strangers.push(agent);
            }
            lines.extend(called.into_iter().filter(|what| !told.contains(what)).map(Line::Told));
        }
        let _ = self.add_all(session, &lines);
        strangers
    }
}
