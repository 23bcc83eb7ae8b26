//! Convergence verb that tells two agents of each other when one has finished what the other begins.

use super::PublishedView;
use crate::App;
use crate::Timestamp;
use crate::convergence::Trail;
use crate::convergence::Trajectory;
use crate::convergence::rules;
use crate::convergence::topics;
use crate::convergence::topics::words_of;
use crate::convergence::wording;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::messages;
use crate::presence;
use crate::presence::Agent;
use crate::presence::SessionId;

impl App {
    /// Handles the end of a piece of work: finds sessions of the project that now turn to its topics, and
    /// tells both sides.
    pub(crate) fn share_finished_work(&mut self, session: &SessionId, what: &str) -> Result<(), StoreError> {
        let side_files = self.engine.side_files();
        let Some(mine) = side_files.trail(session) else { return Ok(()) };
        let Some(project) = &mine.project else { return Ok(()) };
        let note = self.radar_note(&mine.worktree);
        if !PublishedView::new(note, &mine.worktree, &*self.host, &|_| None).settings.convergence {
            return Ok(());
        }
        let mut about = topics(what, &[]);
        let headings = Trajectory::of(&mine.steps);
        about.extend(headings.deepening.into_iter().chain(headings.stable));
        let mut heirs = Vec::new();
        side_files.each_topic_summary(project, &mut |other| {
            let theirs = Trajectory::of_summary(other);
            let last = other.steps.last().into_iter().flatten().map(|topic| (*topic).to_owned());
            let turned_to = theirs.emerging.into_iter().chain(theirs.deepening).chain(last);
            let mut shared: Vec<String> = turned_to.filter(|topic| about.contains(topic)).collect();
            shared.sort();
            shared.dedup();
            if other.session != session.as_str() && shared.len() >= rules::ENOUGH_IN_COMMON {
                heirs.push((SessionId::from(other.session.clone()), shared));
            }
        });
        heirs.iter().try_for_each(|(heir, shared)| self.tell_each_other(&mine, heir, shared))
    }

    /// Tells two sessions of each other: once for each pair, and each session at most once an hour.
    pub(super) fn tell_each_other(
        &mut self,
        former: &Trail,
        heir: &SessionId,
        topics: &[String],
    ) -> Result<(), StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let hour = format!("pollination at {}", now.0 / Timestamp::HOUR);
        let sessions = [(&former.session, heir), (heir, &former.session)];
        let has_heard = |(me, other): &(&SessionId, &SessionId)| {
            side_files.was_notified(me, &hour) || side_files.was_notified(me, &format!("pollination {other}"))
        };
        // Check first without the store, which every prompt would open otherwise; then again under the lock.
        if sessions.iter().any(has_heard) {
            return Ok(());
        }
        let tx = self.engine.write()?;
        if sessions.iter().any(has_heard) {
            return Ok(());
        }
        let (Some((one, None)), Some((other, None))) = (tx.agent(&former.session)?, tx.agent(heir)?) else {
            return Ok(());
        };
        if ![&one, &other].iter().all(|agent| presence::is_alive(&*self.host, &*side_files, agent)) {
            return Ok(());
        }
        for (me, other) in sessions {
            side_files.note_notified(me, &format!("pollination {other}"));
            side_files.note_notified(me, &hour);
        }
        let written = former.steps.iter().flat_map(|step| &step.written).map(|visit| visit.path.clone());
        let is_about = |path: &String| words_of(path).iter().any(|word| topics.contains(word));
        let mut files: Vec<String> = written.filter(is_about).collect();
        files.sort();
        files.dedup();
        let remark = |(me, other, is_former): (&Agent, &Agent, bool)| {
            messages::remark(me, wording::pollination(other.name.as_str(), topics, &files, is_former), None)
        };
        let changes = [(&one, &other, false), (&other, &one, true)].map(remark).to_vec();
        Self::conclude(&*self.host, tx, now, Some(one.project.id.clone()), Actor::Consort, changes).map(drop)
    }
}
