//! Presence's verbs, one file each, one transaction each; and what they share.

mod caller;
mod join;
mod leave;
mod project;
mod pulse;
mod rename;
mod who;

pub(crate) use caller::who_calls;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use crate::Timestamp;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::Place;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::presence::Agent;
use crate::presence::LeaveReason;
use crate::presence::PresenceChange;
use crate::presence::PresenceStore;
use crate::presence::PulseStore;
use crate::presence::Seen;
use crate::presence::SessionId;
use crate::presence::rules;
use crate::project::Project;
use crate::project::ProjectId;
use crate::project::normalise_origin;

/// The project of a place, and whether it is seen for the first time.
pub(super) fn identify(
    host: &impl Host,
    store: &impl PresenceStore,
    place: &Place,
) -> Result<(Project, bool), StoreError> {
    if let Some(project) = store.project_of(&place.repository)? {
        return Ok((project, false));
    }
    let has_address = place.origin.as_deref().and_then(normalise_origin).is_some();
    let root_commit = if place.is_git && !has_address { host.root_commit(&place.worktree) } else { None };
    // A side worktree is not what the repository is called after.
    let main = match place.repository.parent() {
        Some(main) if place.repository.ends_with(".git") => main,
        _ => &place.worktree,
    };
    let project = Project::identify(place.origin.as_deref(), root_commit.as_deref(), main);
    Ok((project, true))
}

/// The project of a directory, recorded if it was never seen before.
pub(crate) fn settle(
    host: &impl Host,
    tx: &mut impl Tx,
    dir: &Path,
    now: Timestamp,
) -> Result<ProjectId, StoreError> {
    let place = host.place(dir);
    let (project, is_new) = identify(host, tx, &place)?;
    let id = project.id.clone();
    if is_new {
        // An entry of its own: it is needed for longer than any agent's.
        let change = PresenceChange::RepositorySeen { repository: place.repository, project };
        tx.record(&NewEntry {
            id: EntryId::new(now, host.random()),
            at: now,
            project: Some(id.clone()),
            actor: Actor::Consort,
            changes: vec![Change::Presence(change)],
        })?;
    }
    Ok(id)
}

/// Parts those whose process lives (or, elsewhere, who were heard from) from
/// the rest.
pub(super) fn sort_out_the_dead(
    host: &impl Host,
    pulses: &impl PulseStore,
    present: Vec<Agent>,
) -> (Vec<Agent>, Vec<(Agent, LeaveReason)>) {
    let (here, now) = (host.name(), host.now());
    // One process may host many sessions: ask once.
    let mut lives: BTreeMap<(u32, String), bool> = BTreeMap::new();
    let mut alive = Vec::with_capacity(present.len());
    let mut dead = Vec::new();
    for agent in present {
        let reason = if agent.host == here {
            let life = (agent.process.pid, agent.process.start.clone());
            let lives = *lives.entry(life).or_insert_with(|| host.is_alive(&agent.process));
            (!lives).then_some(LeaveReason::Died)
        } else {
            let heard = pulses.heard(&agent.session).map_or(agent.joined_at, |heard| heard.last_active);
            (now.since(heard) >= rules::SILENCE).then_some(LeaveReason::Silent)
        };
        match reason {
            None => alive.push(agent),
            Some(reason) => dead.push((agent, reason)),
        }
    }
    (alive, dead)
}

/// Whether an agent lives, or was heard from.
pub(crate) fn is_alive(host: &impl Host, pulses: &impl PulseStore, agent: &Agent) -> bool {
    sort_out_the_dead(host, pulses, vec![agent.clone()]).1.is_empty()
}

/// Tells of a session whether it left before then, or was forgotten long ago.
pub(crate) fn gone_before<S: PresenceStore>(
    store: &S,
    before: Timestamp,
) -> Result<impl Fn(&SessionId) -> Result<bool, StoreError> + '_, StoreError> {
    let left: BTreeSet<SessionId> = store.left_before(before)?.into_iter().collect();
    Ok(move |session: &SessionId| Ok(left.contains(session) || store.agent(session)?.is_none()))
}

/// An agent as its pulse tells it, on the branch that is checked out now.
pub(crate) fn see(host: &impl Host, pulses: &impl PulseStore, mut agent: Agent) -> Seen {
    if agent.host == host.name() {
        agent.branch = host.branch(&agent.worktree).or(agent.branch);
    }
    let heard = pulses.heard(&agent.session);
    rules::see(agent, heard)
}

/// What it takes to forget those who left before then.
pub(crate) fn forget_before(
    store: &impl PresenceStore,
    before: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let sessions = store.left_before(before)?.into_iter();
    Ok(sessions.map(|session| Change::Presence(PresenceChange::Forgotten { session })).collect())
}

pub(super) fn random_number(host: &impl Host) -> u64 {
    host.random().iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
