//! Pure rules of joining: the name and record that a joining session gets, and the changes to journal. No
//! store, no clock, no machine.

use std::path::PathBuf;

use crate::Timestamp;
use crate::host::PlacedDirectory;
use crate::journal::Change;
use crate::presence::Agent;
use crate::presence::JoinRequest;
use crate::presence::Location;
use crate::presence::NameWish;
use crate::presence::PresenceChange;
use crate::presence::PresenceError;
use crate::presence::rules;
use crate::project::Project;
use crate::tasks::SpecRef;

/// A joining session, with all facts that decide how it joins.
#[derive(Clone, Debug)]
pub(super) struct Newcomer<'a> {
    pub(super) request: &'a JoinRequest,
    pub(super) now: Timestamp,
    pub(super) machine: String,
    pub(super) place: PlacedDirectory,
    pub(super) project: Project,
    /// Whether the session's repository was never seen before.
    pub(super) is_first: bool,
    /// The session's earlier record, whether it has left or not.
    pub(super) known: Option<Agent>,
    /// The session's record among the present agents, if it is present.
    pub(super) me: Option<Agent>,
    /// The agent that the session replaces.
    pub(super) predecessor: Option<Agent>,
    /// All other present agents.
    pub(super) others: Vec<Agent>,
    /// The spec that the session asks for, and its file.
    pub(super) spec: Option<(SpecRef, PathBuf)>,
    pub(super) random: u64,
}

impl<'a> Newcomer<'a> {
    /// Splits the present agents into the session itself, the agent it replaces (which must be in the same
    /// process), and the others.
    pub(super) fn among(mut self, mut present: Vec<Agent>) -> Self {
        let request = self.request;
        let mut take =
            |is_it: &dyn Fn(&Agent) -> bool| present.iter().position(is_it).map(|at| present.remove(at));
        self.me = take(&|agent| agent.session == request.session);
        self.predecessor = take(&|agent| {
            Some(&agent.session) == request.replaces.as_ref() && agent.location.process.is(&request.process)
        });
        self.others = present;
        self
    }

    /// Tells whether the session continues earlier work: its own or that of the agent it replaces.
    pub(super) fn goes_on(&self) -> bool {
        self.known.is_some() || self.predecessor.is_some()
    }

    fn former(&self) -> Option<&Agent> {
        self.predecessor.as_ref().or(self.known.as_ref())
    }

    /// Returns the name wish that counts. A session that is present keeps its name, and one that replaces
    /// another gets that agent's name; only `rename` changes them.
    fn wish(&self) -> &NameWish {
        let is_settled = self.me.is_some() || self.predecessor.is_some();
        if is_settled { &NameWish::Any } else { &self.request.wish }
    }

    /// Returns the session's new record.
    pub(super) fn agent(&self) -> Result<Agent, PresenceError> {
        let (request, me) = (self.request, self.me.as_ref());
        let taken: Vec<&str> = self.others.iter().map(|agent| agent.name.as_str()).collect();
        let former = self.former().map(|former| former.name.as_str());
        let name = rules::settle_name(self.wish(), former, self.random, &taken)?;
        let (spec, spec_file) = match (&self.spec, self.former()) {
            (Some((spec, file)), _) => (Some(spec.clone()), Some(file.clone())),
            (None, Some(former)) => (former.spec.clone(), former.location.spec_file.clone()),
            (None, None) => (None, None),
        };
        let known_model = || self.known.as_ref().and_then(|known| known.model.clone());
        Ok(Agent {
            session: request.session.clone(),
            name: name.into(),
            kind: me.map_or(&request.kind, |me| &me.kind).clone(),
            project: self.project.clone(),
            branch: self.place.branch.clone(),
            model: request.model.clone().or_else(known_model),
            joined_at: me.map_or(self.now, |me| me.joined_at),
            spec,
            location: Location {
                machine: self.machine.clone(),
                process: request.process.clone(),
                cwd: request.cwd.clone(),
                worktree: self.place.worktree.clone(),
                terminal: request.terminal.clone(),
                spec_file,
            },
        })
    }

    /// Tells whether the session gets the letters that wait for a gone agent of its name: it must be new and
    /// have asked for exactly that name.
    pub(super) fn inherits_name(&self, agent: &Agent) -> bool {
        self.me.is_none() && self.wish().is_for(&agent.name)
    }

    /// Returns the changes to journal. A new branch or model of a session that is already present is not
    /// journalled by itself.
    pub(super) fn arrival(&self, agent: &Agent) -> Vec<Change> {
        let mut changes = Vec::new();
        if self.is_first {
            let (machine, repository) = (self.machine.clone(), self.place.repository.clone());
            let seen = PresenceChange::RepositorySeen { machine, repository, project: self.project.clone() };
            changes.push(Change::Presence(seen));
        }
        let as_registered = self.me.clone().map(|me| Agent {
            branch: agent.branch.clone(),
            model: agent.model.clone(),
            ..me
        });
        if as_registered.as_ref() != Some(agent) {
            changes.push(Change::Presence(PresenceChange::Joined(Box::new(agent.clone()))));
        }
        changes
    }
}
