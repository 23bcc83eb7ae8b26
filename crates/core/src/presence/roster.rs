//! Tracks which arrivals and departures a session was told of, beside the database. Arrivals are counted in one
//! slot; a session looks when the count differs from that in its state. Its log lists the agents it was told of
//! and those it has dealt with. **Losing this data only loses a hint.**
//!
//! An arrival is counted after its commit, and a session notes the count before it looks: so an arrival during
//! that look leads to another look.

use crate::presence::Agent;
use crate::presence::SessionId;
use crate::side_files::ARRIVALS;
use crate::side_files::LogLine;
use crate::side_files::ROSTER;
use crate::side_files::SideFiles;
use crate::text;

/// The key of the only slot in [`ARRIVALS`].
const ALL: &str = "all";

/// The value of the field [`ROSTER`] of a session that is to look, whatever the count is.
const DEPARTED: &str = "x";

impl dyn SideFiles + '_ {
    /// Counts an arrival, so that the next hook of every session looks who has come. The caller must hold the
    /// write lock.
    pub fn count_arrival(&self) {
        let before: u32 = self.slot(ARRIVALS, ALL).and_then(|count| count.parse().ok()).unwrap_or(0);
        let _ = self.set_slot(ARRIVALS, ALL, &((before + 1) % 1_000).to_string());
    }

    /// Lets all sessions look that an ended session has dealt with.
    pub fn mark_contacts_of_departed(&self, session: &SessionId) {
        for met in self.read_log(session).met() {
            let _ = self.set_fields(&met, &[(ROSTER, DEPARTED)]);
        }
    }

    /// Tells whether an agent has come or gone since the session last asked.
    pub(crate) fn take_roster_news(&self, session: &SessionId) -> bool {
        let Ok(Some(state)) = self.state(session) else { return false };
        let count = self.slot(ARRIVALS, ALL).unwrap_or_default();
        state.get(ROSTER) != count && matches!(self.set_fields(session, &[(ROSTER, &count)]), Ok(true))
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
