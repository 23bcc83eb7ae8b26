//! Pure rules of claims: releases, hands over or renames an agent's holds when it leaves, has a
//! successor or is renamed.

use crate::claims::ClaimChange;
use crate::claims::Contest;
use crate::claims::Hold;
use crate::claims::ReleaseCause;
use crate::claims::rules::released;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence::SessionId;

/// Releases the holds of a holder that is gone.
pub(crate) fn freed(holds: &[Hold]) -> Vec<Change> {
    holds.iter().map(|hold| released(hold, ReleaseCause::HolderGone)).collect()
}

/// Hands holds over to another session.
pub(crate) fn taken_over(holds: Vec<Hold>, by: &SessionId, label: &str) -> Vec<Change> {
    let over = |hold: Hold| {
        let gone = released(&hold, ReleaseCause::TakenOver);
        let taken = Hold { holder: Actor::Agent(by.clone()), label: label.to_owned(), ..hold };
        [gone, Change::Claims(ClaimChange::Held(Box::new(taken)))]
    };
    holds.into_iter().flat_map(over).collect()
}

/// Writes an agent's new name into those of all holds that it holds or contests.
pub(crate) fn relabelled(holds: Vec<Hold>, agent: &SessionId, label: &str) -> Vec<Change> {
    let (me, label) = (Actor::Agent(agent.clone()), label.to_owned());
    let anew = |hold: Hold| match &hold.contest {
        Some(contest) if contest.by == me => {
            let contest = Contest { label: label.clone(), ..contest.clone() };
            Some(ClaimChange::Contested { key: hold.key(), contest })
        }
        _ if hold.holder == me => Some(ClaimChange::Held(Box::new(Hold { label: label.clone(), ..hold }))),
        _ => None,
    };
    holds.into_iter().filter_map(anew).map(Change::Claims).collect()
}
