//! Tracks which arrivals and departures a session was told of, beside the database. Arrivals, in whatever
//! project, are counted in one slot; a session looks who has come when the count is not the one in its state.
//! Its log lists the agents it was told of and those it has dealt with. **Losing this data only loses a hint.**
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

/// The number of different counts; after the last comes 0.
const COUNTS: u32 = 1_000;

/// The value of the field [`ROSTER`] of a session that is to look whatever the count is. Earlier versions know
/// it.
const DEPARTED: &str = "c";

impl dyn SideFiles + '_ {
    /// Counts an arrival, so that the next hook of every session looks who has come. The caller must hold the
    /// write lock.
    pub fn count_arrival(&self) {
        let _ = self.set_slot(ARRIVALS, ALL, &self.next_arrival_count());
    }

    /// Returns the count after one more arrival.
    pub(crate) fn next_arrival_count(&self) -> String {
        let count: Option<u32> = self.slot(ARRIVALS, ALL).and_then(|count| count.parse().ok());
        (count.map_or(1, |count| count % COUNTS + 1) % COUNTS).to_string()
    }

    /// Makes every session look that an ended one has dealt with.
    pub fn mark_contacts_of_departed(&self, session: &SessionId) {
        for met in self.read_log(session).met() {
            let _ = self.set_fields(&met, &[(ROSTER, DEPARTED)]);
        }
    }

    /// Tells whether a session should look who has come or gone, and notes that it does.
    pub(crate) fn take_roster_news(&self, session: &SessionId) -> bool {
        let Ok(Some(state)) = self.state(session) else { return false };
        let count = self.slot(ARRIVALS, ALL).unwrap_or_default();
        state.get(ROSTER) != count && matches!(self.set_fields(session, &[(ROSTER, &count)]), Ok(true))
    }

    /// Notes the count of arrivals up to which a session was told who is here.
    pub(crate) fn note_roster_known(&self, session: &SessionId, count: &str) {
        let _ = self.set_fields(session, &[(ROSTER, count)]);
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
