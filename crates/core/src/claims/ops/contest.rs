//! Asking for what another holds.

use std::path::Path;

use super::LiveHolds;
use super::actor;
use super::label;
use super::parse_resources;
use super::speaker;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimChange;
use crate::claims::ClaimError;
use crate::claims::Contest;
use crate::claims::Hold;
use crate::claims::Strength;
use crate::claims::rules;
use crate::config::hook_settings;
use crate::journal::Change;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence;
use crate::presence::Agent;
use crate::presence::CallerFacts;
use crate::text;

impl App {
    /// Contests what another holds; the holder gets an urgent message in the
    /// same entry. A second contest changes nothing: the first one's time runs.
    pub fn contest(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        what: &str,
        reason: Option<&str>,
    ) -> Result<Hold, ClaimError> {
        let now = self.host.now();
        let (files, case) = (self.engine.side_files(), self.host.case());
        self.settle_projects_of(cwd, &[what])?;
        let tx = self.engine.write()?;
        let me = speaker(presence::who_calls(&*self.host, &*files, &*tx, caller)?)?;
        let holder = actor(me.as_ref());
        let live = LiveHolds::new(&*self.host, &*files, &*tx, tx.all_holds()?, now)?;
        let meant = parse_resources(&*self.host, &*tx, cwd, what, None)?;
        let is_meant = |hold: &&Hold| {
            hold.strength != Strength::Overridden && meant.iter().any(|one| rules::meets(hold, one, case))
        };
        let mut found: Vec<&Hold> = live.holds.iter().filter(is_meant).collect();
        // Another's before one's own, the very thing before what merely overlaps.
        found.sort_by_key(|hold| (hold.holder == holder, !meant.iter().any(|one| one.is_it(hold))));
        let Some(mut hold) = found.first().map(|hold| (*hold).clone()) else {
            return Err(ClaimError::NotHeld { resource: what.to_owned(), nearest: None });
        };
        if hold.holder == holder {
            return Err(ClaimError::Yours { resource: hold.resource.shown() });
        }
        if hold.contest.is_some() {
            return Ok(hold);
        }
        // What the files say: nobody shortens it by its own environment.
        let settings = hook_settings(&*tx, &self.host.locate(cwd).worktree, &|_| None)?;
        let contest = Contest {
            by: holder.clone(),
            label: label(&*self.host, me.as_ref()),
            at: now,
            until: now.minus(-settings.contest_seconds * Timestamp::SECOND),
            reason: reason.map(|reason| text::one_line(reason, 500)),
        };
        let mut changes = live.notices();
        changes.push(Change::Claims(ClaimChange::Contested { key: hold.key(), contest: contest.clone() }));
        let why = contest
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(": {}", text::quoted(reason, 300)));
        let resource = text::foreign(&hold.resource.shown(), 200);
        let quoted = text::shell_quoted(&hold.resource.shown());
        let verb = if hold.strength == Strength::Blocking { "reserve" } else { "claim" };
        let text = format!(
            "I need {resource}, which you hold{why}. If you are done with it: consort release {quoted}. If you still \
             need it: consort {verb} {quoted}; otherwise it may be taken in {} s.",
            settings.contest_seconds
        );
        let to: Vec<&Agent> = live.holder(&hold).into_iter().collect();
        let me = me.as_ref();
        let (kind, priority) = (MessageType::Question, Priority::Urgent);
        changes.push(messages::notice(&*self.host, me, &to, kind, priority, text));
        let project = hold.project.clone().or_else(|| me.map(|me| me.project.id.clone()));
        Self::conclude(&*self.host, tx, now, project, holder, changes)?;
        hold.contest = Some(contest);
        Ok(hold)
    }
}
