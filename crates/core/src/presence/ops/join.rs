//! Presence verbs by which a session joins: because it asked, or because a hook has
//! seen it.

use std::path::PathBuf;

use super::Identified;
use super::identify;
use super::is_alive;
use super::partition_alive;
use super::random_number;
use super::repository_seen;
use super::see;
use super::succeed::succeed;
use crate::App;
use crate::Timestamp;
use crate::config::HookSettings;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::messages;
use crate::presence::Agent;
use crate::presence::JoinOutcome;
use crate::presence::JoinRequest;
use crate::presence::LeaveReason;
use crate::presence::Location;
use crate::presence::NameWish;
use crate::presence::PresenceError;
use crate::presence::rules;
use crate::side_files::SideFiles;
use crate::tasks;
use crate::tasks::SpecRef;

impl App {
    /// Registers a session because it asked, or refreshes it. One that runs in
    /// another process stays there.
    pub fn join(&mut self, request: &JoinRequest) -> Result<JoinOutcome, PresenceError> {
        let known = self.engine.read()?.agent(&request.session)?;
        if let Some((agent, None)) = known
            && !agent.location.process.is(&request.process)
            && is_alive(&*self.host, &*self.engine.side_files(), &agent)
        {
            let pid = agent.location.process.pid;
            return Err(PresenceError::RunsElsewhere { session: request.session.clone(), pid });
        }
        let (_, outcome) = self.admit(request, |_, _| true, &|_| None)?;
        let outcome = outcome.ok_or(PresenceError::NotRegistered)?;
        self.note_roster_told(&outcome.agent.session, &outcome.others);
        Ok(outcome)
    }

    /// Registers a session that a hook has seen, unless it was asked to leave
    /// or sessions are to join only when asked. `begins` is set for an event that
    /// begins something, a session or a turn. `environment` overrides published
    /// settings.
    pub fn join_by_hook(
        &mut self,
        request: &JoinRequest,
        begins: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(HookSettings, Option<JoinOutcome>), PresenceError> {
        let session = request.session.clone();
        let welcome =
            move |settings: &HookSettings, known| rules::is_welcome(settings, &session, known, begins);
        self.admit(request, welcome, environment)
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
        let files = self.engine.side_files();

        // A session that is not welcome does not queue, and `git` does not run while
        // everyone else waits.
        let tx = self.engine.read()?;
        let settings = hook_settings(&*tx, &place.worktree, environment)?;
        let known = tx.agent(&request.session)?;
        if !welcome(&settings, known.map(|(_, reason)| reason)) {
            return Ok((settings, None));
        }
        let Identified { project, is_news } = identify(&*self.host, &*tx, &place)?;
        drop(tx);
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;

        let tx = self.engine.write()?;
        let settled = tx.project_of(&place.repository)?;
        let first_sight = is_news && settled.is_none();
        let project = settled.unwrap_or(project);
        let known = tx.agent(&request.session)?;
        let (mut others, dead) = partition_alive(&*self.host, &*files, tx.present()?);
        if !dead.is_empty() {
            // Their names are free, and their leaving is news of its own.
            drop(tx);
            self.record_departures()?;
            return self.admit(request, welcome, environment);
        }
        let here = others.iter().position(|agent| agent.session == request.session);
        let me = here.map(|at| others.remove(at));
        // Whose place it takes: one that is here, in the same process.
        let is_it = |agent: &Agent| {
            Some(&agent.session) == request.replaces.as_ref() && agent.location.process.is(&request.process)
        };
        let predecessor = others.iter().position(is_it).map(|at| others.remove(at));
        let is_known = known.is_some();
        let former = predecessor.as_ref().or(known.as_ref().map(|(former, _)| former));
        // A session that is here keeps its name, and one that takes another's place has
        // that one's; `rename` changes it.
        let wish = if me.is_some() || predecessor.is_some() { &NameWish::Any } else { &request.wish };
        let name = name_of(&*self.host, wish, former, &others)?;
        let (spec, spec_file) = spec_of(&*self.host, &*tx, request, former)?;
        let agent = Agent {
            session: request.session.clone(),
            name: name.into(),
            kind: me.as_ref().map_or_else(|| request.kind.clone(), |me| me.kind.clone()),
            project: project.clone(),
            branch: place.branch,
            model: request.model.clone().or_else(|| known.and_then(|(agent, _)| agent.model)),
            joined_at: me.as_ref().map_or(now, |me| me.joined_at),
            spec,
            location: location(&*self.host, request, place.worktree, spec_file),
        };
        let joined = me.is_none();
        let goes_on = is_known || predecessor.is_some();
        let mut changes = Vec::new();
        if first_sight {
            changes.push(repository_seen(&*self.host, place.repository, project.clone()));
        }
        changes.extend(rules::arrival(me, &agent));
        let asked_for = joined && wish.is_for(&agent.name);
        changes.extend(messages::bequeath(&*tx, &agent, asked_for)?);
        if let Some(predecessor) = &predecessor {
            changes.extend(succeed(&*self.host, &*tx, predecessor, &agent, now)?);
        }
        let actor = Actor::Agent(agent.session.clone());
        Self::conclude(&*self.host, tx, now, Some(project.id.clone()), actor, changes)?;
        begin(&*files, &agent, joined, now)?;
        others.retain(|agent| agent.project.id == project.id);
        let mut others = see(&*self.host, &*files, others);
        others.sort_by(rules::by_attention);
        Ok((settings, Some(JoinOutcome { agent, joined, goes_on, others })))
    }
}

/// Begins what is kept of a session beside the store.
fn begin(files: &dyn SideFiles, agent: &Agent, joined: bool, now: Timestamp) -> Result<(), StoreError> {
    if joined || files.activity(&agent.session).is_none() {
        files.start_activity(&agent.session, now)?;
        // Without a trail it is only less foreseeable.
        let _ = files.begin_trail(&agent.session, &agent.project.id, &agent.location.worktree);
    }
    files.note_host(agent);
    Ok(())
}

/// The spec to take tasks from, and the file that it was found in.
fn spec_of(
    host: &dyn Host,
    tx: &dyn Tx,
    request: &JoinRequest,
    former: Option<&Agent>,
) -> Result<(Option<SpecRef>, Option<PathBuf>), StoreError> {
    match &request.spec {
        Some(path) => {
            let file = request.cwd.join(path);
            Ok((Some(tasks::spec_at(host, tx, &file)?), Some(file)))
        }
        None => {
            Ok(former.map_or((None, None), |former| (former.spec.clone(), former.location.spec_file.clone())))
        }
    }
}

fn location(
    host: &dyn Host,
    request: &JoinRequest,
    worktree: PathBuf,
    spec_file: Option<PathBuf>,
) -> Location {
    Location {
        machine: host.name(),
        process: request.process.clone(),
        cwd: request.cwd.clone(),
        worktree,
        terminal: request.terminal.clone(),
        spec_file,
    }
}

/// What it is called among these others.
fn name_of(
    host: &dyn Host,
    wish: &NameWish,
    former: Option<&Agent>,
    others: &[Agent],
) -> Result<String, PresenceError> {
    let taken: Vec<&str> = others.iter().map(|agent| agent.name.as_str()).collect();
    rules::settle_name(wish, former.map(|former| former.name.as_str()), random_number(host), &taken)
}
