//! The facts that the claims rules decide from: the holds of live agents, and who is
//! asking.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::is_over;
use crate::Timestamp;
use crate::claims::ClaimChange;
use crate::claims::Hold;
use crate::claims::ReleaseCause;
use crate::journal::Actor;
use crate::journal::Change;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// The holds in force, the holds that are over, and the agents behind them.
pub(in crate::claims) struct LiveHolds {
    pub(in crate::claims) holds: Vec<Hold>,
    pub(in crate::claims) over: Vec<(Hold, ReleaseCause)>,
    /// The agents that are alive, among those who hold or contest.
    agents: BTreeMap<SessionId, Agent>,
}

impl LiveHolds {
    /// Splits holds into those in force and those that are over: their time is up, or their
    /// holder is gone.
    pub(in crate::claims) fn of(all: Vec<Hold>, agents: BTreeMap<SessionId, Agent>, now: Timestamp) -> Self {
        let (mut holds, mut over) = (Vec::new(), Vec::new());
        for hold in all {
            let is_gone = hold.holder.session().is_some_and(|session| !agents.contains_key(session));
            if is_gone {
                over.push((hold, ReleaseCause::HolderGone));
            } else if is_over(&hold, now) {
                over.push((hold, ReleaseCause::Expired));
            } else {
                holds.push(hold);
            }
        }
        Self { holds, over, agents }
    }

    /// Finds the agent, if the actor is one and is alive.
    pub(in crate::claims) fn agent(&self, actor: &Actor) -> Option<&Agent> {
        self.agents.get(actor.session()?)
    }

    /// Makes the changes that release the holds that are over.
    pub(super) fn release_changes(&self) -> Vec<Change> {
        self.over.iter().map(|(hold, why)| released(hold, *why)).collect()
    }

    /// Makes the message to those of `whom` that are live agents and not the asker.
    pub(super) fn tell<'a>(
        &self,
        asker: &Asker,
        whom: impl IntoIterator<Item = &'a Actor>,
        text: String,
    ) -> Option<Change> {
        let mut to: Vec<&Agent> = Vec::new();
        for agent in whom.into_iter().filter(|actor| **actor != asker.actor).filter_map(|one| self.agent(one))
        {
            if to.iter().all(|known| known.session != agent.session) {
                to.push(agent);
            }
        }
        let is_any = !to.is_empty();
        let (kind, priority) = (MessageType::Info, Priority::High);
        is_any.then(|| messages::notice(&to, kind, priority, text))
    }
}

/// The caller that asks for a hold, as others see it.
pub(in crate::claims) struct Asker {
    pub(in crate::claims) actor: Actor,
    /// The asker in words: `GoldFalcon (claude on feat/auth)`.
    pub(in crate::claims) label: String,
    pub(in crate::claims) machine: String,
    pub(in crate::claims) worktree: Option<PathBuf>,
    pub(in crate::claims) project: Option<ProjectId>,
}

impl Asker {
    pub(super) fn is_person(&self) -> bool {
        self.actor == Actor::Person
    }
}

pub(in crate::claims) fn released(hold: &Hold, why: ReleaseCause) -> Change {
    Change::Claims(ClaimChange::Released { key: hold.key(), why })
}
