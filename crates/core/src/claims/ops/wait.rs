//! Claims verbs that note who waits for others' holds, and find circles of agents that would wait
//! for ever.

use super::speaker;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimError;
use crate::claims::HoldView;
use crate::claims::SessionWait;
use crate::claims::wording;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::messages;
use crate::presence;
use crate::presence::CallerFacts;
use crate::presence::SessionId;
use crate::side_files::SideFiles;
use crate::text;

/// Longest circle of waiting agents that is looked for.
const LONGEST_CIRCLE: usize = 16;

impl App {
    /// Notes that the caller has waited since then for others to release these holds. It is an
    /// error if one of the holders waits for the caller in turn, and all others in the circle are
    /// told: nobody in a circle gets anything.
    pub fn note_waiting(
        &mut self,
        caller: &CallerFacts,
        since: Timestamp,
        held: &[HoldView],
    ) -> Result<(), ClaimError> {
        let (side_files, process) = (self.engine.side_files(), self.host.me().unwrap_or_default());
        let tx = self.engine.read()?;
        let who = speaker(presence::who_calls(&*self.host, &*side_files, &*tx, caller)?);
        drop(tx);
        // The person can take what they wait for; an unknown caller holds nothing.
        let Ok(Some(me)) = who else { return Ok(()) };
        let theirs: Vec<&HoldView> = held.iter().filter(|seen| !seen.yours).collect();
        let holders = theirs.iter().filter_map(|seen| seen.hold.holder.session().cloned());
        let what =
            text::first_few(theirs.iter().map(|seen| text::foreign(&seen.hold.resource.shown(), 120)), 4);
        let waiting = SessionWait { since, process, holders: holders.collect(), what };
        let Some(first) = theirs.first() else { return Ok(()) };
        side_files.note_waiting(&me.session, Some(&waiting))?;
        if side_files.was_notified(&me.session, &in_circle(&me.session, since)) {
            return Err(ClaimError::Circle { name: first.name.clone(), wants: None });
        }
        let Some(circle) = self.circle(&*side_files, &me.session, &waiting.holders) else { return Ok(()) };
        let (mut name, mut wants) = (first.name.clone(), None);
        for (session, their) in circle {
            let tx = self.engine.read()?;
            let Some((agent, None)) = tx.agent(&session)? else { continue };
            drop(tx);
            if their.holders.contains(&me.session) {
                (name, wants) = (agent.name.to_string(), Some(their.what.clone()));
            }
            if side_files.note_notified(&session, &in_circle(&session, their.since)) {
                continue;
            }
            let told = wording::circle(me.name.as_str(), &waiting.what, &their.what);
            let tx = self.engine.write()?;
            let (project, change) = (Some(agent.project.id.clone()), messages::remark(&agent, told, None));
            Self::conclude(&*self.host, tx, self.host.now(), project, Actor::Consort, vec![change])?;
        }
        Err(ClaimError::Circle { name, wants })
    }

    /// Notes that the caller no longer waits.
    pub fn stop_waiting(&mut self, caller: &CallerFacts) -> Result<(), StoreError> {
        let side_files = self.engine.side_files();
        let tx = self.engine.read()?;
        match speaker(presence::who_calls(&*self.host, &*side_files, &*tx, caller)?) {
            Ok(Some(me)) => side_files.note_waiting(&me.session, None),
            _ => Ok(()),
        }
    }

    /// Finds a circle: sessions that wait for each other, from one of these holders to one that
    /// waits for `me`.
    fn circle(
        &self,
        side_files: &dyn SideFiles,
        me: &SessionId,
        holders: &[SessionId],
    ) -> Option<Vec<(SessionId, SessionWait)>> {
        let mut ways: Vec<Vec<(SessionId, SessionWait)>> = Vec::new();
        let step = |way: &[(SessionId, SessionWait)], to: &SessionId| {
            let waiting = side_files.session_wait(to).filter(|one| self.host.is_alive(&one.process))?;
            let is_known = way.iter().any(|(known, _)| known == to);
            let mut way = way.to_vec();
            way.push((to.clone(), waiting));
            (!is_known && way.len() <= LONGEST_CIRCLE).then_some(way)
        };
        ways.extend(holders.iter().filter_map(|holder| step(&[], holder)));
        while let Some(way) = ways.pop() {
            let (_, last) = way.last()?;
            if last.holders.contains(me) {
                return Some(way);
            }
            ways.extend(last.holders.iter().filter_map(|holder| step(&way, holder)));
        }
        None
    }
}

/// Makes the key of the notice of a circle, which is given once per wait.
fn in_circle(session: &SessionId, since: Timestamp) -> String {
    format!("circle {session} {}", since.0)
}
