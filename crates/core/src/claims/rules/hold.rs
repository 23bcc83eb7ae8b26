//! Pure rules of claims: whether a claim or reservation is granted, renewed or refused.

use super::Asker;
use super::LiveHolds;
use super::ParsedResource;
use super::conflicts;
use crate::Timestamp;
use crate::claims::Case;
use crate::claims::ClaimChange;
use crate::claims::Hold;
use crate::claims::HoldMode;
use crate::claims::Strength;
use crate::journal::Change;
use crate::text;

/// The terms of a hold that is asked for.
pub(in crate::claims) struct Terms {
    pub(in crate::claims) strength: Strength,
    pub(in crate::claims) mode: HoldMode,
    pub(in crate::claims) reason: Option<String>,
    /// The duration in milliseconds.
    pub(in crate::claims) ttl: Option<i64>,
}

/// Grants all that is asked for, or nothing: then returns the holds that are in the way. Holds
/// that the asker has already are renewed.
pub(in crate::claims) fn hold(
    live: &LiveHolds,
    asker: &Asker,
    asked: &[ParsedResource],
    terms: &Terms,
    case: Case,
    now: Timestamp,
) -> Result<(Vec<Hold>, Vec<Change>), Vec<Hold>> {
    let mut in_the_way: Vec<Hold> = Vec::new();
    for one in asked {
        for hold in conflicts(&live.holds, one, &asker.actor, terms.mode, case) {
            if !in_the_way.contains(hold) {
                in_the_way.push(hold.clone());
            }
        }
    }
    if !in_the_way.is_empty() {
        return Err(in_the_way);
    }
    let is_mine = |hold: &&Hold, one: &ParsedResource| hold.holder == asker.actor && one.is_it(hold);
    let former = |one: &ParsedResource| live.holds.iter().find(|hold| is_mine(hold, one));
    let holds: Vec<Hold> = asked.iter().map(|one| grant(asker, one, former(one), terms, now)).collect();
    let mut changes = live.release_changes();
    changes.extend(holds.iter().map(|hold| Change::Claims(ClaimChange::Held(Box::new(hold.clone())))));
    // A holder answers a contest by asking for the hold again.
    let contested: Vec<&Hold> =
        asked.iter().filter_map(former).filter(|hold| hold.contest.is_some()).collect();
    let whom = contested.iter().filter_map(|hold| Some(&hold.contest.as_ref()?.by));
    let what = text::first_few(contested.iter().map(|hold| text::foreign(&hold.resource.shown(), 120)), 4);
    changes.extend(live.tell(asker, whom, format!("I still need {what}.")));
    Ok((holds, changes))
}

/// Extends a hold whose holder works on it: from now on, by the duration that was asked for.
/// `None` if more than half of that is left, or if the hold is over.
pub(in crate::claims) fn renewed(hold: &Hold, now: Timestamp) -> Option<Hold> {
    let (ttl, until) = (hold.ttl?, hold.until?);
    let is_due = now < until && until.since(now) * 2 <= ttl;
    is_due.then(|| Hold { until: Some(now.plus(ttl)), ..hold.clone() })
}

fn grant(asker: &Asker, one: &ParsedResource, former: Option<&Hold>, terms: &Terms, now: Timestamp) -> Hold {
    // To claim a reserved resource does not weaken the reservation.
    let strength = match former {
        Some(Hold { strength: Strength::Blocking, .. }) => Strength::Blocking,
        _ => terms.strength,
    };
    let reason = terms.reason.as_ref().map(|reason| text::one_line(reason, 500));
    Hold {
        project: one.project.clone(),
        resource: one.resource.clone(),
        holder: asker.actor.clone(),
        label: asker.label.clone(),
        strength,
        mode: terms.mode,
        reason: reason
            .filter(|reason| !reason.is_empty())
            .or_else(|| former.and_then(|hold| hold.reason.clone())),
        since: former.map_or(now, |hold| hold.since),
        until: terms.ttl.map(|ttl| now.plus(ttl)).or_else(|| former.and_then(|hold| hold.until)),
        ttl: terms.ttl.or_else(|| former.and_then(|hold| hold.ttl)),
        machine: asker.machine.clone(),
        worktree: one.worktree.clone().or_else(|| asker.worktree.clone()),
        generation: former.map_or(0, |hold| hold.generation),
        contest: None,
    }
}
