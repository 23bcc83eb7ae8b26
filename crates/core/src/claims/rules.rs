//! Who may hold what, and when it may be taken away.

use super::Case;
use super::Hold;
use super::Mode;
use super::Pattern;
use super::Resource;
use super::Strength;
use crate::Timestamp;
use crate::journal::Actor;
use crate::project::ProjectId;

/// The longest name of a resource.
pub(super) const LONGEST_NAME: usize = 200;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) project: Option<ProjectId>,
    pub(super) resource: Resource,
}

/// Whether its time is up.
pub(super) fn is_over(hold: &Hold, now: Timestamp) -> bool {
    hold.until.is_some_and(|until| until <= now)
}

/// What of the standing holds is in the way of another one.
pub(super) fn conflicts<'a>(
    standing: &'a [Hold],
    wanted: &'a Wanted,
    me: &'a Actor,
    mode: Mode,
    case: Case,
) -> impl Iterator<Item = &'a Hold> {
    standing.iter().filter(move |hold| {
        hold.strength != Strength::Lifted
            && hold.holder != *me
            && (mode == Mode::Exclusive || hold.mode == Mode::Exclusive)
            && meets(hold, wanted, case)
    })
}

/// Whether a hold is about what is meant.
pub(super) fn meets(hold: &Hold, wanted: &Wanted, case: Case) -> bool {
    hold.project == wanted.project
        && match (&hold.resource, &wanted.resource) {
            (Resource::Paths(one), Resource::Paths(two)) => one.overlaps(two, case),
            (Resource::Named(one), Resource::Named(two)) => one == two,
            _ => false,
        }
}

/// Whether a hold keeps others from writing these paths.
pub(super) fn blocks(hold: &Hold, project: Option<&ProjectId>, paths: &Pattern, case: Case) -> bool {
    hold.strength == Strength::Blocking
        && hold.mode == Mode::Exclusive
        && hold.project.as_ref() == project
        && hold.resource.pattern().is_some_and(|pattern| pattern.overlaps(paths, case))
}

/// Until when the person lets everyone write these paths.
pub(super) fn lifted_until(
    standing: &[Hold],
    project: Option<&ProjectId>,
    paths: &Pattern,
    case: Case,
) -> Option<Timestamp> {
    let lifted = standing.iter().filter(|hold| {
        hold.strength == Strength::Lifted
            && hold.project.as_ref() == project
            && hold.resource.pattern().is_some_and(|pattern| pattern.overlaps(paths, case))
    });
    lifted.filter_map(|hold| hold.until).max()
}

/// How many seconds a holder has left to answer a contest; `None` where there
/// is none.
pub(super) fn seconds_left(hold: &Hold, now: Timestamp, timeout: i64) -> Option<i64> {
    let contest = hold.contest.as_ref()?;
    Some((timeout - now.since(contest.at) + Timestamp::SECOND - 1).div_euclid(Timestamp::SECOND).max(0))
}

/// A name in its one spelling: without stray spaces.
pub(super) fn name(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
