//! Claims verbs that extend reservations while their holder works on them, and remind it of
//! forgotten ones.

use super::Viewer;
use super::gather;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimChange;
use crate::claims::Hold;
use crate::claims::HoldView;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::claims::rules;
use crate::claims::wording;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence::SessionId;

/// Time after which a reservation that its holder has not written may be forgotten.
const FORGOTTEN: i64 = Timestamp::HOUR;

impl App {
    /// Extends the holds with a time limit whose files their holder has just written, once half
    /// of the time is over.
    pub(super) fn renew(&mut self, session: &SessionId, paths: &[String]) -> Result<(), StoreError> {
        let (now, case, me) = (self.host.now(), self.host.case(), Actor::Agent(session.clone()));
        let is_written = |hold: &Hold| {
            let pattern = hold.resource.pattern();
            pattern.is_some_and(|held| paths.iter().any(|path| held.overlaps(&Pattern::file(path), case)))
        };
        let due = |holds: Vec<Hold>| -> Vec<Hold> {
            holds
                .iter()
                .filter(|hold| is_written(hold))
                .filter_map(|hold| rules::renewed(hold, now))
                .collect()
        };
        if due(self.engine.read()?.holds_of(&me)?).is_empty() {
            return Ok(());
        }
        let tx = self.engine.write()?;
        let renewed = due(tx.holds_of(&me)?);
        let project = renewed.iter().find_map(|hold| hold.project.clone());
        let changes = renewed.into_iter().map(|hold| Change::Claims(ClaimChange::Held(Box::new(hold))));
        let changes = changes.collect();
        Self::conclude(&*self.host, tx, now, project, me, changes).map(drop)
    }

    /// Reminds a session of reservations that it has not written for long; once, until it writes
    /// there again.
    pub fn remind_of_forgotten(&mut self, session: &SessionId) -> Result<Option<String>, StoreError> {
        let (now, case, side_files) = (self.host.now(), self.host.case(), self.engine.side_files());
        if !side_files.has_ever_held(session) {
            return Ok(None);
        }
        let me = Actor::Agent(session.clone());
        let tx = self.engine.read()?;
        let mut mine = tx.holds_of(&me)?;
        mine.retain(|hold| {
            hold.strength == Strength::Blocking
                && hold.resource.pattern().is_some()
                && now.since(hold.since) >= FORGOTTEN
        });
        if mine.is_empty() {
            return Ok(None);
        }
        let writes = side_files.last_writes(now.minus(Timestamp::DAY));
        let live = gather(&*self.host, &*side_files, &*tx, mine, now)?;
        let viewer = Viewer::new(&live, &*tx, &me);
        let mut forgotten: Vec<(HoldView, Timestamp)> = Vec::new();
        for hold in &live.holds {
            let is_in = |path: &str| {
                hold.resource.pattern().is_some_and(|held| held.overlaps(&Pattern::file(path), case))
            };
            let own = writes.iter().filter(|write| write.session == *session && is_in(&write.path));
            let last = own.map(|write| write.at).max().unwrap_or(hold.since).max(hold.since);
            let what = format!("forgotten {} {} {}", hold.generation, hold.resource, last.0);
            if now.since(last) >= FORGOTTEN && !side_files.note_notified(session, &what) {
                forgotten.push((viewer.see(hold)?, last));
            }
        }
        Ok((!forgotten.is_empty()).then(|| wording::forgotten(&forgotten, now)))
    }
}
