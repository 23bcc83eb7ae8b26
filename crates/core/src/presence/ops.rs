//! Presence's verbs, one transaction each.

use std::collections::BTreeMap;
use std::path::Path;

use super::Agent;
use super::AgentName;
use super::Caller;
use super::Glimpse;
use super::JoinOutcome;
use super::JoinRequest;
use super::LeaveOutcome;
use super::LeaveReason;
use super::NameWish;
use super::PresenceChange;
use super::PresenceError;
use super::PresenceStore;
use super::Pulse;
use super::PulseOutcome;
use super::PulseStore;
use super::RenameOutcome;
use super::Scope;
use super::Seen;
use super::SessionId;
use super::Subagent;
use super::WhoOutcome;
use super::rules;
use crate::App;
use crate::Timestamp;
use crate::config::HookSettings;
use crate::config::hook_settings;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Tx as _;
use crate::host::Host;
use crate::host::Place;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::JournalStore as _;
use crate::journal::NewEntry;
use crate::project::Project;
use crate::project::ProjectId;
use crate::project::normalise_origin;
use crate::text;

impl<E: Engine, H: Host> App<E, H> {
    /// Registers a session because it asked, or refreshes it.
    pub fn join(&mut self, request: &JoinRequest) -> Result<JoinOutcome, PresenceError> {
        let (_, outcome) = self.admit(request, |_, _| true, &|_| None)?;
        outcome.ok_or(PresenceError::NotRegistered)
    }

    /// Registers a session that a hook has seen, unless it was asked to leave
    /// or sessions are to join only when asked. `environment` overrides
    /// published settings.
    pub fn arrive(
        &mut self,
        request: &JoinRequest,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(HookSettings, Option<JoinOutcome>), PresenceError> {
        self.admit(request, rules::is_welcome, environment)
    }

    /// `welcome` decides from the settings and, if the session is known, why
    /// it left (`None`: it has not).
    fn admit(
        &mut self,
        request: &JoinRequest,
        welcome: impl Fn(&HookSettings, Option<Option<LeaveReason>>) -> bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(HookSettings, Option<JoinOutcome>), PresenceError> {
        let now = self.host.now();
        let place = self.host.place(&request.cwd);
        let pulses = self.engine.pulses();

        // Whoever is not welcome does not queue, and `git` does not run while
        // everyone else waits.
        let tx = self.engine.read()?;
        let settings = hook_settings(&tx, &place.worktree, environment)?;
        let known = tx.agent(&request.session)?;
        if !welcome(&settings, known.map(|(_, reason)| reason)) {
            return Ok((settings, None));
        }
        let (project, _) = identify(&self.host, &tx, &place)?;
        drop(tx);

        let mut tx = self.engine.write()?;
        let settled = tx.project_of(&place.repository)?;
        let first_sight = settled.is_none();
        let project = settled.unwrap_or(project);
        let known = tx.agent(&request.session)?;
        let (mut others, dead) = sort_out_the_dead(&self.host, &pulses, tx.present()?);
        if !dead.is_empty() {
            // Their names are free, and their leaving is news of its own.
            drop(tx);
            self.bury()?;
            return self.admit(request, welcome, environment);
        }
        let here = others.iter().position(|agent| agent.session == request.session);
        let me = here.map(|at| others.remove(at));
        let wish = match (&request.wish, &me) {
            // A session that is here keeps its name; `rename` changes it.
            (_, Some(_)) => &NameWish::Any,
            (wish, _) => wish,
        };
        let former = known.as_ref().map(|(agent, _)| agent.name.as_str());
        let taken: Vec<&str> = others.iter().map(|agent| agent.name.as_str()).collect();
        let name = rules::settle_name(wish, former, random_number(&self.host), &taken)?;
        let agent = Agent {
            session: request.session.clone(),
            name: name.into(),
            kind: me.as_ref().map_or_else(|| request.kind.clone(), |me| me.kind.clone()),
            process: request.process.clone(),
            host: self.host.name(),
            project: project.clone(),
            cwd: request.cwd.clone(),
            worktree: place.worktree,
            branch: place.branch,
            model: request.model.clone().or_else(|| known.and_then(|(agent, _)| agent.model)),
            terminal: request.terminal.clone(),
            joined_at: me.as_ref().map_or(now, |me| me.joined_at),
        };
        if first_sight {
            // An entry of its own: it is needed for longer than any agent's.
            let (repository, project) = (place.repository, project.clone());
            tx.record(&NewEntry {
                at: now,
                project: Some(project.id.clone()),
                actor: Actor::Consort,
                changes: vec![Change::Presence(PresenceChange::RepositorySeen { repository, project })],
                random: self.host.random(),
            })?;
        }
        let joined = me.is_none();
        // Branch and model move on while it is here; that alone is no news.
        let as_registered =
            me.map(|me| Agent { branch: agent.branch.clone(), model: agent.model.clone(), ..me });
        let changes = if as_registered.as_ref() == Some(&agent) {
            Vec::new()
        } else {
            vec![Change::Presence(PresenceChange::Joined(Box::new(agent.clone())))]
        };
        let actor = Actor::Agent(agent.session.clone());
        Self::conclude(&self.host, tx, now, Some(project.id.clone()), actor, changes)?;
        if joined || pulses.heard(&agent.session).is_none() {
            pulses.start_pulse(&agent.session, now)?;
        }
        others.retain(|agent| agent.project.id == project.id);
        let mut others: Vec<Seen> = others.into_iter().map(|agent| see(&self.host, &pulses, agent)).collect();
        others.sort_by(rules::by_attention);
        Ok((settings, Some(JoinOutcome { agent, joined, others })))
    }

    /// Ends a session's presence. `Ok(None)` when it was not here.
    pub fn leave(
        &mut self,
        session: &SessionId,
        reason: LeaveReason,
        actor: Actor,
    ) -> Result<Option<LeaveOutcome>, PresenceError> {
        let now = self.host.now();
        let tx = self.engine.write()?;
        let Some((agent, None)) = tx.agent(session)? else {
            return Ok(None);
        };
        let left = PresenceChange::Left { session: session.clone(), reason };
        let changes = vec![Change::Presence(left)];
        Self::conclude(&self.host, tx, now, Some(agent.project.id), actor, changes)?;
        self.engine.pulses().end_pulse(session)?;
        Ok(Some(LeaveOutcome { session: session.clone(), name: agent.name }))
    }

    pub fn rename(
        &mut self,
        session: &SessionId,
        name: &str,
        actor: Actor,
    ) -> Result<RenameOutcome, PresenceError> {
        let now = self.host.now();
        let pulses = self.engine.pulses();
        let tx = self.engine.write()?;
        let Some((me, None)) = tx.agent(session)? else {
            return Err(PresenceError::NotRegistered);
        };
        if me.name.as_str() == name {
            return Err(PresenceError::SameName { name: me.name });
        }
        let holder = tx.by_name(name)?.filter(|holder| holder.session != *session);
        if holder
            .clone()
            .is_some_and(|holder| !sort_out_the_dead(&self.host, &pulses, vec![holder]).1.is_empty())
        {
            drop(tx);
            self.bury()?;
            return self.rename(session, name, actor);
        }
        let taken: Vec<&str> = holder.iter().map(|holder| holder.name.as_str()).collect();
        let to = rules::settle_name(&NameWish::Insist(name.to_owned()), None, 0, &taken)?;
        let renamed = PresenceChange::Renamed {
            session: session.clone(),
            from: me.name.clone(),
            name: to.clone().into(),
        };
        let changes = vec![Change::Presence(renamed)];
        Self::conclude(&self.host, tx, now, Some(me.project.id), actor, changes)?;
        Ok(RenameOutcome { session: session.clone(), from: me.name, to: to.into() })
    }

    /// Notes what an agent does. The hot path: it comes with every tool call,
    /// so it opens no database unless the session is not known.
    pub fn pulse(&mut self, session: &SessionId, pulse: &Pulse) -> Result<PulseOutcome, StoreError> {
        if self.engine.pulses().note_pulse(session, self.host.now(), pulse)? {
            return Ok(PulseOutcome::Noted);
        }
        Ok(match self.engine.read()?.agent(session)? {
            Some((_, Some(LeaveReason::Asked))) => PulseOutcome::Dormant,
            _ => PulseOutcome::Stranger,
        })
    }

    pub fn subagent_started(&mut self, session: &SessionId, id: &str, kind: &str) -> Result<(), StoreError> {
        let started_at = self.host.now();
        let subagent = Subagent { id: id.into(), kind: kind.into(), started_at };
        self.engine.pulses().note_subagent(session, &subagent)
    }

    pub fn subagent_stopped(&mut self, session: &SessionId, id: &str) -> Result<(), StoreError> {
        self.engine.pulses().end_subagent(session, id)
    }

    /// Who is here. `glimpse` adds what can be seen of each from outside.
    pub fn who(
        &mut self,
        scope: &Scope,
        you: Option<&SessionId>,
        glimpse: impl FnOnce(&[Agent]) -> Vec<Glimpse>,
    ) -> Result<WhoOutcome, PresenceError> {
        let now = self.host.now();
        let pulses = self.engine.pulses();
        let tx = self.engine.read()?;
        let project = match scope {
            Scope::Project(project) => Some(project.clone()),
            Scope::Everywhere => None,
        };
        let (mut alive, dead) = sort_out_the_dead(&self.host, &pulses, tx.present()?);
        drop(tx);
        if !dead.is_empty() {
            // A look must not fail because the store is read-only or busy;
            // the next one buries them.
            let _ = self.bury();
        }
        if let Some(project) = &project {
            alive.retain(|agent| agent.project.id == project.id);
        }
        let glimpses = glimpse(&alive);
        let mut agents: Vec<Seen> = alive
            .into_iter()
            .zip(glimpses)
            .map(|(agent, glimpse)| rules::look(see(&self.host, &pulses, agent), glimpse))
            .collect();
        agents.sort_by(rules::by_attention);
        if *scope == Scope::Everywhere {
            let gone = self.engine.read()?.left_since(now.minus(Timestamp::DAY))?;
            agents.extend(gone.into_iter().map(|(agent, at, reason)| rules::see_gone(agent, at, reason)));
        }
        for seen in &mut agents {
            seen.you = Some(&seen.agent.session) == you;
        }
        Ok(WhoOutcome { at: now, project, agents })
    }

    /// Records the leaving of agents that died: once, and per project, so that
    /// each project's news is its own.
    fn bury(&mut self) -> Result<(), StoreError> {
        let now = self.host.now();
        let pulses = self.engine.pulses();
        let mut tx = self.engine.write()?;
        let (_, dead) = sort_out_the_dead(&self.host, &pulses, tx.present()?);
        let mut news: BTreeMap<ProjectId, Vec<Change>> = BTreeMap::new();
        for (agent, reason) in &dead {
            let left = PresenceChange::Left { session: agent.session.clone(), reason: *reason };
            news.entry(agent.project.id.clone()).or_default().push(Change::Presence(left));
        }
        for (project, changes) in &news {
            tx.record(&NewEntry {
                at: now,
                project: Some(project.clone()),
                actor: Actor::Consort,
                changes: changes.clone(),
                random: self.host.random(),
            })?;
        }
        tx.commit()?;
        for project in news.keys() {
            self.host.ring(Some(project));
        }
        dead.iter().try_for_each(|(agent, _)| pulses.end_pulse(&agent.session))
    }

    /// Who calls: the registered agent nearest up the process tree. Only where
    /// there is none does `claimed`, a session id from the environment, decide.
    /// Where one process hosts several sessions, `hints` tell them apart, or
    /// else which was heard from last.
    pub fn caller(&mut self, claimed: Option<&SessionId>, hints: &[SessionId]) -> Result<Caller, StoreError> {
        let ancestors = self.host.ancestors();
        let host_name = self.host.name();
        let pulses = self.engine.pulses();
        let tx = self.engine.read()?;
        for ancestor in &ancestors {
            let mut agents = tx.by_pid(&host_name, ancestor.pid)?;
            agents.retain(|agent| agent.process.start == ancestor.start);
            let likeliest = agents.into_iter().max_by_key(|agent| {
                let last_active = pulses.heard(&agent.session).map(|heard| heard.last_active);
                (hints.contains(&agent.session), last_active)
            });
            if let Some(agent) = likeliest {
                return Ok(Caller::Agent(Box::new(agent)));
            }
        }
        let Some(claimed) = claimed else { return Ok(Caller::Person) };
        let present = tx.agent(claimed)?.and_then(|(agent, left)| left.is_none().then_some(agent));
        let alive = present.and_then(|agent| sort_out_the_dead(&self.host, &pulses, vec![agent]).0.pop());
        Ok(alive.map_or(Caller::Person, |agent| Caller::Agent(Box::new(agent))))
    }

    /// Whom a verb is about: the caller itself, or the agent that the person
    /// names. An agent speaks for itself only.
    pub fn subject(&mut self, caller: Caller, named: Option<&str>) -> Result<(Agent, Actor), PresenceError> {
        match (caller, named) {
            (Caller::Agent(agent), Some(name)) if !agent.name.as_str().eq_ignore_ascii_case(name) => {
                Err(PresenceError::NotTheCaller { caller: agent.name, name: name.to_owned() })
            }
            (Caller::Agent(agent), _) => {
                let actor = Actor::Agent(agent.session.clone());
                Ok((*agent, actor))
            }
            (Caller::Person, Some(name)) => Ok((self.find_agent(name)?, Actor::Person)),
            (Caller::Person, None) => Err(PresenceError::NotRegistered),
        }
    }

    /// The present agent with this name, in any case.
    pub fn find_agent(&mut self, name: &str) -> Result<Agent, PresenceError> {
        let tx = self.engine.read()?;
        if let Some(agent) = tx.by_name(name)? {
            return Ok(agent);
        }
        let present = tx.present()?;
        let nearest = text::nearest(name, present.iter().map(|agent| agent.name.as_str())).map(str::to_owned);
        Err(PresenceError::NoSuchAgent { name: name.to_owned(), nearest })
    }

    /// What a session is called, present or gone.
    pub fn name_of(&mut self, session: &SessionId) -> Result<Option<AgentName>, StoreError> {
        Ok(self.engine.read()?.agent(session)?.map(|(agent, _)| agent.name))
    }

    /// The project with this name or id.
    pub fn find_project(&mut self, named: &str) -> Result<ProjectId, PresenceError> {
        let projects = self.engine.read()?.projects()?;
        let is_it = |project: &&Project| project.id.as_str() == named || project.name == named;
        if let Some(project) = projects.iter().find(is_it) {
            return Ok(project.id.clone());
        }
        let nearest = text::nearest(named, projects.iter().map(|project| project.name.as_str()));
        Err(PresenceError::NoSuchProject { named: named.to_owned(), nearest: nearest.map(str::to_owned) })
    }

    /// The project a directory belongs to.
    pub fn project(&mut self, dir: &Path) -> Result<(Project, Place), StoreError> {
        let place = self.host.place(dir);
        let tx = self.engine.read()?;
        let (project, _) = identify(&self.host, &tx, &place)?;
        Ok((project, place))
    }
}

/// The project of a place, and whether it is seen for the first time.
fn identify(
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

/// Parts those whose process lives (or, elsewhere, who were heard from) from
/// the rest.
fn sort_out_the_dead(
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

/// An agent as its pulse tells it, on the branch that is checked out now.
fn see(host: &impl Host, pulses: &impl PulseStore, mut agent: Agent) -> Seen {
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

fn random_number(host: &impl Host) -> u64 {
    host.random().iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
