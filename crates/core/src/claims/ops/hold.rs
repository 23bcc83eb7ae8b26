//! Claiming and reserving.

use super::LiveHolds;
use super::actor;
use super::concerned;
use super::label;
use super::speaker;
use super::tell;
use super::wanted;
use crate::App;
use crate::claims::ClaimChange;
use crate::claims::ClaimError;
use crate::claims::Hold;
use crate::claims::HoldOutcome;
use crate::claims::HoldRequest;
use crate::claims::HoldView;
use crate::claims::Strength;
use crate::claims::rules;
use crate::claims::rules::ParsedResource;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence;
use crate::text;

impl App {
    /// Takes hold of all that is asked for, or of nothing. What the caller
    /// holds already is renewed.
    pub fn hold(&mut self, request: &HoldRequest) -> Result<HoldOutcome, ClaimError> {
        let now = self.host.now();
        let (files, case) = (self.engine.side_files(), self.host.case());
        self.settle_projects_of(&request.cwd, &request.what)?;
        let tx = self.engine.write()?;
        let me = speaker(presence::who_calls(&*self.host, &*files, &*tx, &request.caller)?)?;
        let (holder, label) = (actor(me.as_ref()), label(&*self.host, me.as_ref()));
        if request.what.is_empty() {
            return Err(ClaimError::Nothing);
        }
        let mut asked: Vec<ParsedResource> = Vec::new();
        for text in &request.what {
            let one = wanted(&*self.host, &*tx, &request.cwd, text, request.strength)?;
            if !asked.contains(&one) {
                asked.push(one);
            }
        }
        let live = LiveHolds::new(&*self.host, &*files, &*tx, tx.all_holds()?, now)?;
        let mut conflicts: Vec<HoldView> = Vec::new();
        let mut holds = Vec::new();
        for one in &asked {
            for hold in rules::conflicts(&live.holds, one, &holder, request.mode, case) {
                if conflicts.iter().all(|seen| seen.hold != *hold) {
                    conflicts.push(live.see(&*tx, hold, &holder)?);
                }
            }
            let former = live.holds.iter().find(|hold| hold.holder == holder && one.is_it(hold));
            // What is reserved is not weakened by claiming it as well.
            let strength = match former {
                Some(Hold { strength: Strength::Blocking, .. }) => Strength::Blocking,
                _ => request.strength,
            };
            holds.push(Hold {
                project: one.project.clone(),
                resource: one.resource.clone(),
                holder: holder.clone(),
                label: label.clone(),
                strength,
                mode: request.mode,
                reason: request
                    .reason
                    .as_ref()
                    .map(|reason| text::one_line(reason, 500))
                    .filter(|reason| !reason.is_empty())
                    .or_else(|| former.and_then(|hold| hold.reason.clone())),
                since: former.map_or(now, |hold| hold.since),
                until: request.ttl.map(|ttl| now.minus(-ttl)).or_else(|| former.and_then(|hold| hold.until)),
                generation: former.map_or(0, |hold| hold.generation),
                machine: self.host.name(),
                worktree: one.worktree.clone().or_else(|| me.as_ref().map(|me| me.location.worktree.clone())),
                // To ask for it again is the answer to whoever contests it.
                contest: None,
            });
        }
        if !conflicts.is_empty() {
            return Err(ClaimError::Held(conflicts));
        }
        let mut changes = live.notices();
        let first = changes.len();
        changes.extend(holds.iter().map(|hold| Change::Claims(ClaimChange::Held(Box::new(hold.clone())))));
        let contests =
            live.holds.iter().filter(|hold| hold.holder == holder && asked.iter().any(|one| one.is_it(hold)));
        let contested: Vec<&Hold> = contests.filter(|hold| hold.contest.is_some()).collect();
        let whom: Vec<&Actor> =
            contested.iter().filter_map(|hold| Some(&hold.contest.as_ref()?.by)).collect();
        let what = text::few(contested.iter().map(|hold| text::foreign(&hold.resource.shown(), 120)), 4);
        changes.extend(tell(&*self.host, &*tx, me.as_ref(), &whom, format!("I still need {what}."))?);
        let project = concerned(&asked, me.as_ref());
        let recorded = Self::conclude(&*self.host, tx, now, project, holder, changes)?;
        let numbers = recorded.map(|recorded| recorded.numbers).unwrap_or_default();
        for (hold, number) in holds.iter_mut().zip(numbers.into_iter().skip(first)) {
            hold.generation = number.unwrap_or(hold.generation);
        }
        Ok(HoldOutcome { holds })
    }
}
