//! Convergence verbs for each prompt and each visited file: they extend the session's trail, and look for
//! agents that it may collide with.

use std::path::Path;

use super::PublishedView;
use crate::App;
use crate::Timestamp;
use crate::convergence::KEPT_PROMPTS;
use crate::convergence::TopicSummary;
use crate::convergence::Trail;
use crate::convergence::TrailProfile;
use crate::convergence::TrailStep;
use crate::convergence::foresight::Sighting;
use crate::convergence::rules;
use crate::convergence::signals;
use crate::convergence::topics;
use crate::engine::StoreError;
use crate::presence::SessionId;
use crate::text;

/// Most characters of a prompt that are kept, if prompts may be kept.
const EXCERPT: usize = 200;

/// Most new predictions about a session at once.
const MOST_AT_ONCE: usize = 3;

impl App {
    /// Adds a prompt to a session's trail. Returns lines for the session about agents that it may now collide
    /// with; those agents are told by a message.
    pub fn note_prompt(
        &mut self,
        session: &SessionId,
        prompt: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<String>, StoreError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let Some(mut trail) = self.own_trail(session)? else { return Ok(Vec::new()) };
        let note = self.radar_note(&trail.worktree);
        let view = PublishedView::new(note, &trail.worktree, &*self.host, environment);
        let hash = text::stable_hash(prompt.as_bytes());
        let is_repeated = trail.steps.last().is_some_and(|last| last.hash == hash);
        if !view.settings.convergence || is_repeated || prompt.trim().is_empty() {
            return Ok(Vec::new());
        }
        trail.steps.push(TrailStep {
            at: now,
            hash,
            prompt: view.settings.store_prompts.then(|| text::one_line(prompt, EXCERPT)),
            topics: topics(prompt, &view.noise),
            ..TrailStep::default()
        });
        let extra = trail.steps.len().saturating_sub(KEPT_PROMPTS);
        trail.steps.drain(..extra);
        // First compare the topics of all sessions, then read the trails of those that are near.
        let scoring_context = view.scoring_context(now);
        let mine = TrailProfile::topics_only(&TopicSummary::of(&trail), &scoring_context);
        let interests = mine.interests(&scoring_context);
        let (mut near, mut inherited) = (Vec::new(), Vec::new());
        files.add_step(&trail, &interests, &mut |other| {
            if other.session != session.as_str() {
                let theirs = TrailProfile::topics_only(other, &scoring_context);
                let session = || SessionId::from(other.session.clone());
                if !signals(&mine, &theirs, &scoring_context).is_empty() {
                    near.push(session());
                } else if let Some(topics) = rules::inheritance(&theirs, &mine) {
                    inherited.push((session(), topics));
                }
            }
        })?;
        let open =
            view.note.predictions.iter().filter(|note| note.ended.is_none() && note.pair.contains(session));
        near.extend(open.flat_map(|note| note.pair.clone()).filter(|other| other != session));
        near.sort();
        near.dedup();
        let others: Vec<Trail> = near.iter().filter_map(|other| files.trail(other)).collect();
        for (former, topics) in inherited {
            if let Some(former) = files.trail(&former) {
                // A failure is ignored: this is only a hint, and the rest does not depend on it.
                let _ = self.tell_each_other(&former, session, &topics);
            }
        }
        self.compare(&view, &trail, &others, false, now)
    }

    /// Adds to a session's trail that a tool has read or written a file (by its real path), and compares the
    /// session with the last writer of a file that it read, or the last reader of a file that it wrote.
    /// Returns lines for the session about a possible collision; if it `is_elsewhere`, it is told by a
    /// message instead.
    pub fn note_visit(
        &mut self,
        session: &SessionId,
        path: &Path,
        written: bool,
        is_elsewhere: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<String>, StoreError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        files.add_visit(session, path, now, written);
        let other = if written {
            files.last_reader(path, session)
        } else {
            files.set_last_reader(path, session, now);
            files.last_write(path).map(|touch| (touch.session, touch.at))
        };
        let Some((other, _)) =
            other.filter(|(other, at)| other != session && now.since(*at) < Timestamp::HOUR)
        else {
            return Ok(Vec::new());
        };
        let (Some(trail), Some(other)) = (files.trail(session), files.trail(&other)) else {
            return Ok(Vec::new());
        };
        let note = self.radar_note(&trail.worktree);
        let view = PublishedView::new(note, &trail.worktree, &*self.host, environment);
        if !view.settings.convergence || !view.settings.convergence_files || trail.project != other.project {
            return Ok(Vec::new());
        }
        self.compare(&view, &trail, &[other], is_elsewhere, now)
    }

    /// Compares a session with others; opens the store only if there is something new.
    fn compare(
        &mut self,
        view: &PublishedView,
        trail: &Trail,
        others: &[Trail],
        is_elsewhere: bool,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let me = &trail.session;
        let scoring_context = view.scoring_context(now);
        let mine = TrailProfile::new(trail, &scoring_context);
        let mut found = Vec::new();
        for other in others.iter().filter(|other| other.session != *me) {
            let signal = signals(&mine, &TrailProfile::new(other, &scoring_context), &scoring_context)
                .into_iter()
                .next();
            found.extend(signal.map(|signal| Sighting { pair: rules::pair(me, &other.session), signal }));
        }
        found.retain(|sighting| {
            let known = view.note.predictions.iter().filter(|note| note.pair == sighting.pair);
            known.clone().all(|note| rules::is_news(note, &sighting.signal))
        });
        found.sort_by(|one, other| other.signal.confidence.total_cmp(&one.signal.confidence));
        found.truncate(MOST_AT_ONCE);
        // The trails show whether earlier predictions may have ended, except by an understanding of the two.
        let may_end = view.note.predictions.iter().filter(|note| note.ended.is_none()).any(|note| {
            let other = others.iter().find(|other| rules::pair(me, &other.session) == note.pair);
            other.is_some_and(|other| rules::may_end(note, [trail, other], now))
        });
        if found.is_empty() && !may_end {
            return Ok(Vec::new());
        }
        let Some(project) = &trail.project else { return Ok(Vec::new()) };
        self.foresee(found, (!is_elsewhere).then_some(me), project, now)
    }

    /// Returns the trail of a present session. A session that joined before there were trails gets one now.
    fn own_trail(&mut self, session: &SessionId) -> Result<Option<Trail>, StoreError> {
        let files = self.engine.side_files();
        if let Some(trail) = files.trail(session) {
            return Ok(Some(trail));
        }
        let Some((agent, None)) = self.engine.read()?.agent(session)? else { return Ok(None) };
        files.begin_or_continue_trail(session, &agent.project.id, &agent.location.worktree)?;
        Ok(files.trail(session))
    }
}
