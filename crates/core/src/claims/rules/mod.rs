//! Pure rules of claims: which holds conflict, and who is kept from writing. No store, no clock,
//! no machine: a verb gathers the facts, a rule decides, and the verb records the decision.

mod contest;
mod hold;
mod live_holds;
mod release;
mod secret_files;
mod shield;
mod stuck;
mod succession;
#[cfg(test)]
mod tests;

pub(super) use contest::Want;
pub(super) use contest::contest;
pub(super) use hold::Terms;
pub(super) use hold::hold;
pub(super) use hold::renewed;
pub(super) use live_holds::Asker;
pub(super) use live_holds::LiveHolds;
pub(super) use live_holds::released;
pub(super) use release::ForceRight;
pub(super) use release::HoldSelector;
pub(super) use release::release;
pub(super) use secret_files::looks_secret;
pub(super) use shield::MOST_SHIELDED;
pub(super) use shield::Shielded;
pub(super) use shield::is_shielded;
pub(super) use shield::shielded;
pub(super) use stuck::free_stuck;
pub(crate) use succession::freed;
pub(crate) use succession::relabelled;
pub(crate) use succession::taken_over;

use std::path::Path;
use std::path::PathBuf;

use crate::Timestamp;
use crate::claims::Case;
use crate::claims::Hold;
use crate::claims::HoldMode;
use crate::claims::Pattern;
use crate::claims::Resource;
use crate::claims::Strength;
use crate::journal::Actor;
use crate::project::ProjectId;

/// The longest name of a resource, in characters.
pub(super) const LONGEST_NAME: usize = 200;

/// A resource that was asked for, with its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::claims) struct ParsedResource {
    pub(in crate::claims) project: Option<ProjectId>,
    pub(in crate::claims) resource: Resource,
    /// The worktree that the paths are in.
    pub(in crate::claims) worktree: Option<PathBuf>,
}

impl ParsedResource {
    /// Tells whether a hold is on exactly this resource.
    pub(in crate::claims) fn is_it(&self, hold: &Hold) -> bool {
        hold.project == self.project && hold.resource == self.resource
    }
}

/// Tells whether the time of a hold is up.
fn is_over(hold: &Hold, now: Timestamp) -> bool {
    hold.until.is_some_and(|until| until <= now)
}

/// Finds the live holds that are in the way of a new one.
fn conflicts<'a>(
    live: &'a [Hold],
    wanted: &'a ParsedResource,
    me: &'a Actor,
    mode: HoldMode,
    case: Case,
) -> impl Iterator<Item = &'a Hold> {
    live.iter().filter(move |hold| {
        hold.strength != Strength::Overridden
            && hold.holder != *me
            && (mode == HoldMode::Exclusive || hold.mode == HoldMode::Exclusive)
            && meets(hold, wanted, case)
    })
}

/// Tells whether a hold overlaps a resource.
fn meets(hold: &Hold, wanted: &ParsedResource, case: Case) -> bool {
    hold.project == wanted.project
        && match (&hold.resource, &wanted.resource) {
            (Resource::Paths(one), Resource::Paths(two)) => one.overlaps(two, case),
            (Resource::Named(one), Resource::Named(two)) => one == two,
            _ => false,
        }
}

/// Tells whether a hold has this strength and is in the way of others who write these paths. A
/// shared reservation is in the way of those who have not joined it: see [`has_joined`].
pub(super) fn is_in_the_way(
    hold: &Hold,
    strength: Strength,
    project: Option<&ProjectId>,
    paths: &Pattern,
    case: Case,
) -> bool {
    hold.strength == strength
        && (hold.mode == HoldMode::Exclusive || strength == Strength::Blocking)
        && hold.project.as_ref() == project
        && hold.resource.pattern().is_some_and(|pattern| pattern.overlaps(paths, case))
}

/// Tells whether the holder works in another worktree than `worktree`.
pub(super) fn is_elsewhere(hold: &Hold, worktree: &Path) -> bool {
    hold.worktree.as_ref().is_some_and(|its| its != worktree)
}

/// Tells whether `me` shares a shared hold of another, by an overlapping reservation of its own.
pub(super) fn has_joined(live: &[Hold], hold: &Hold, me: &Actor, case: Case) -> bool {
    let meets = |mine: &&Hold| match (mine.resource.pattern(), hold.resource.pattern()) {
        (Some(mine), Some(theirs)) => mine.overlaps(theirs, case),
        _ => false,
    };
    let is_mine = |mine: &&Hold| {
        mine.holder == *me && mine.project == hold.project && mine.strength == Strength::Blocking
    };
    hold.mode == HoldMode::Shared && live.iter().filter(is_mine).any(|mine| meets(&mine))
}

/// Returns until when the person lets everyone write these paths in spite of a hold: by an
/// override of all these paths, or of the whole hold. An override of one file of many does not
/// free the others.
pub(super) fn overridden_until(live: &[Hold], hold: &Hold, paths: &Pattern, case: Case) -> Option<Timestamp> {
    let held = hold.resource.pattern()?;
    let covers = |one: &&Hold| {
        one.strength == Strength::Overridden
            && one.project == hold.project
            && one.resource.pattern().is_some_and(|one| one.covers(paths, case) || one.covers(held, case))
    };
    live.iter().filter(covers).filter_map(|one| one.until).max()
}

/// Finds the overrides by which the person lets everyone write paths that these holds reserve.
pub(super) fn overrides_of(live: &[Hold], holds: &[Hold], case: Case) -> Vec<Hold> {
    let opens = |one: &Hold, hold: &Hold| {
        hold.strength == Strength::Blocking
            && one.project == hold.project
            && match (one.resource.pattern(), hold.resource.pattern()) {
                (Some(one), Some(held)) => one.overlaps(held, case),
                _ => false,
            }
    };
    let overrides = live.iter().filter(|one| one.strength == Strength::Overridden);
    overrides.filter(|one| holds.iter().any(|hold| opens(one, hold))).cloned().collect()
}

/// Brings a name to its one spelling: without stray spaces.
pub(super) fn name(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
