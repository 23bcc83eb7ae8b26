//! Pure rules of claims: who may release a hold, and when one may be taken from its
//! holder.

use super::Asker;
use super::LiveHolds;
use super::ParsedResource;
use super::meets;
use super::released;
use crate::Timestamp;
use crate::claims::Case;
use crate::claims::ClaimError;
use crate::claims::Hold;
use crate::claims::ReleaseCause;
use crate::claims::Strength;
use crate::claims::wording;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence::NotAllowed;
use crate::text;

/// The holds to release.
pub(in crate::claims) enum HoldSelector {
    /// All that the asker holds.
    Mine,
    /// Typed texts, each with all the resources that it may mean.
    These(Vec<(String, Vec<ParsedResource>)>),
}

/// The right by which another's hold may be taken away.
pub(in crate::claims) struct ForceRight {
    pub(in crate::claims) force: bool,
    /// Whether the person has confirmed it in a way that an agent cannot.
    pub(in crate::claims) confirmed: Result<(), NotAllowed>,
}

/// Releases holds, and those that are over already. To take away another's hold takes an
/// unanswered contest, or the person.
pub(in crate::claims) fn release(
    live: &LiveHolds,
    asker: &Asker,
    wanted: &HoldSelector,
    strength: Option<Strength>,
    right: &ForceRight,
    case: Case,
    now: Timestamp,
) -> Result<(Vec<Hold>, Vec<Change>), ClaimError> {
    let fits = |hold: &&Hold| match strength {
        Some(strength) => hold.strength == strength,
        None => hold.strength != Strength::Overridden,
    };
    let standing = || live.holds.iter().filter(fits);
    let (mut gone, mut over): (Vec<(&Hold, ReleaseCause)>, Vec<&Hold>) = Default::default();
    match wanted {
        HoldSelector::Mine => {
            let mine = standing().filter(|hold| hold.holder == asker.actor);
            gone.extend(mine.map(|hold| (hold, ReleaseCause::Asked)));
        }
        HoldSelector::These(asked) => {
            for (typed, meant) in asked {
                let is_it = |hold: &&Hold| meant.iter().any(|one| one.is_it(hold));
                let met: Vec<&Hold> = standing().filter(is_it).collect();
                if let Some(mine) = met.iter().find(|hold| hold.holder == asker.actor) {
                    gone.push((mine, ReleaseCause::Asked));
                    continue;
                }
                let left: Vec<&Hold> = live.over.iter().map(|(hold, _)| hold).filter(is_it).collect();
                if met.is_empty() && left.is_empty() {
                    return Err(not_held(live, asker, typed, meant, case));
                }
                over.extend(left);
                for hold in met {
                    may_take(hold, right, asker.is_person(), now)?;
                    gone.push((hold, ReleaseCause::Forced));
                }
            }
        }
    }
    let mut changes = live.release_changes();
    changes.extend(gone.iter().map(|(hold, why)| released(hold, *why)));
    // Notifies the former holders, and the agents that contested the holds.
    let whom = gone.iter().flat_map(|(hold, _)| {
        [Some(&hold.holder), hold.contest.as_ref().map(|contest| &contest.by)].into_iter().flatten()
    });
    let what: Vec<String> = gone.iter().map(|(hold, _)| hold.resource.shown()).collect();
    let is_taken = gone.iter().any(|(_, why)| *why == ReleaseCause::Forced);
    let text = wording::released(&asker.actor, &asker.label, &what, is_taken);
    changes.extend(live.tell(asker, whom, text));
    let released = gone.iter().map(|(hold, _)| *hold).chain(over).cloned().collect();
    Ok((released, changes))
}

fn not_held(
    live: &LiveHolds,
    asker: &Asker,
    typed: &str,
    meant: &[ParsedResource],
    case: Case,
) -> ClaimError {
    let is_near = |hold: &&Hold| meant.iter().any(|one| meets(hold, one, case));
    if let Some(own) = live.holds.iter().filter(is_near).find(|hold| hold.holder == asker.actor) {
        return ClaimError::InYours { resource: typed.to_owned(), within: own.resource.shown() };
    }
    let near = live.holds.iter().find(is_near).map(|hold| hold.resource.shown());
    let known: Vec<String> = live.holds.iter().map(|hold| hold.resource.shown()).collect();
    let alike = || text::nearest(typed, known.iter().map(String::as_str)).map(str::to_owned);
    ClaimError::NotHeld { resource: typed.to_owned(), nearest: near.or_else(alike) }
}

/// Checks whether another's hold may be taken away now. The person needs no contest, but has to confirm.
fn may_take(hold: &Hold, right: &ForceRight, is_person: bool, now: Timestamp) -> Result<(), ClaimError> {
    let (resource, holder) = (hold.resource.shown(), hold.label.clone());
    let is_due = hold.contest.as_ref().is_some_and(|contest| now >= contest.until);
    match &hold.contest {
        _ if !right.force => Err(ClaimError::NotYours { resource, holder, asker_is_person: is_person }),
        // To end an override restores protection, so it needs no confirmation.
        _ if is_person && hold.strength == Strength::Overridden => Ok(()),
        _ if is_person && is_due => Ok(()),
        _ if is_person => Ok(right.confirmed.clone()?),
        _ if hold.holder == Actor::Person => Err(ClaimError::ThePersons { resource }),
        None => Err(ClaimError::NotContested { resource, holder }),
        Some(_) if is_due => Ok(()),
        Some(contest) => {
            let seconds = (contest.until.since(now) + Timestamp::SECOND - 1) / Timestamp::SECOND;
            Err(ClaimError::TooEarly { resource, holder, seconds })
        }
    }
}
