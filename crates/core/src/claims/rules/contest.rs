//! Pure rules of claims: who may contest a hold, and until when its holder may answer.

use super::Asker;
use super::LiveHolds;
use super::ParsedResource;
use super::meets;
use crate::Timestamp;
use crate::claims::Case;
use crate::claims::ClaimChange;
use crate::claims::ClaimError;
use crate::claims::Contest;
use crate::claims::Hold;
use crate::claims::Strength;
use crate::claims::wording;
use crate::journal::Change;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::Agent;
use crate::text;

/// The resource that is wanted, and why.
pub(in crate::claims) struct Want<'a> {
    pub(in crate::claims) typed: &'a str,
    /// All resources that the typed text may mean.
    pub(in crate::claims) meant: Vec<ParsedResource>,
    pub(in crate::claims) reason: Option<&'a str>,
    /// The time that the holder has to answer.
    pub(in crate::claims) seconds: i64,
}

/// Contests a hold, and asks its holder to give it up. A second contest changes nothing: the
/// deadline of the first stays.
pub(in crate::claims) fn contest(
    live: &LiveHolds,
    asker: &Asker,
    want: &Want<'_>,
    case: Case,
    now: Timestamp,
) -> Result<(Hold, Vec<Change>), ClaimError> {
    let is_meant = |hold: &&Hold| {
        hold.strength != Strength::Overridden && want.meant.iter().any(|one| meets(hold, one, case))
    };
    // Others' holds before the asker's own, the exact resource before mere overlaps.
    let rank = |hold: &&Hold| (hold.holder == asker.actor, !want.meant.iter().any(|one| one.is_it(hold)));
    let Some(hold) = live.holds.iter().filter(is_meant).min_by_key(rank) else {
        return Err(ClaimError::NotHeld { resource: want.typed.to_owned(), nearest: None });
    };
    if hold.holder == asker.actor {
        return Err(ClaimError::Yours { resource: hold.resource.shown() });
    }
    if hold.contest.is_some() {
        return Ok((hold.clone(), Vec::new()));
    }
    let contest = Contest {
        by: asker.actor.clone(),
        label: asker.label.clone(),
        at: now,
        until: now.plus(want.seconds * Timestamp::SECOND),
        reason: want.reason.map(|reason| text::one_line(reason, 500)),
    };
    let mut changes = live.release_changes();
    changes.push(Change::Claims(ClaimChange::Contested { key: hold.key(), contest: contest.clone() }));
    let to: Vec<&Agent> = live.agent(&hold.holder).into_iter().collect();
    let (kind, priority) = (MessageType::Question, Priority::Urgent);
    let question = wording::contest(hold, &contest);
    changes.push(messages::notice(&to, kind, priority, question));
    Ok((Hold { contest: Some(contest), ..hold.clone() }, changes))
}
