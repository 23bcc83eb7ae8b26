//! Pure rules of claims: frees the holds of stuck agents, and notifies both sides.

use super::LiveHolds;
use super::released;
use crate::claims::ReleaseCause;
use crate::claims::wording;
use crate::journal::Change;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::Agent;

/// Frees all of these holds; notifies the holder of each and the agent that contested it.
pub(in crate::claims) fn free_stuck(live: &LiveHolds) -> Vec<Change> {
    let mut changes = live.release_changes();
    for hold in &live.holds {
        changes.push(released(hold, ReleaseCause::Forced));
        let asked = hold.contest.as_ref().map(|contest| &contest.by);
        let whom = [Some(&hold.holder), asked].into_iter().flatten();
        let to: Vec<&Agent> = whom.filter_map(|actor| live.agent(actor)).collect();
        if !to.is_empty() {
            changes.push(messages::notice(&to, MessageType::Release, Priority::High, wording::freed(hold)));
        }
    }
    changes
}
