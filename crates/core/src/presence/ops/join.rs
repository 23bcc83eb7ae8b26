//! Presence verbs by which a session joins: because it asked to, or because a hook has seen it.

use std::path::PathBuf;

use super::Identified;
use super::agent_views;
use super::belongings;
use super::identify;
use super::is_alive;
use super::left_for;
use super::partition_alive;
use super::random_number;
use crate::App;
use crate::Timestamp;
use crate::claims;
use crate::config::HookSettings;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::PlacedDirectory;
use crate::journal::Actor;
use crate::journal::Change;
use crate::messages::MailFlags;
use crate::presence::Agent;
use crate::presence::JoinOutcome;
use crate::presence::JoinRequest;
use crate::presence::LeaveReason;
use crate::presence::PresenceError;
use crate::presence::newcomer::Newcomer;
use crate::presence::rules;
use crate::presence::wording;
use crate::side_files::SideFiles;
use crate::tasks;
use crate::tasks::SpecRef;

impl App {
    /// Registers a session that asked to join, or refreshes its record. Refuses a session that runs in
    /// another process.
    pub fn join(&mut self, request: &JoinRequest) -> Result<JoinOutcome, PresenceError> {
        let known = self.engine.read()?.agent(&request.session)?;
        if let Some((agent, None)) = known
            && !agent.location.process.is(&request.process)
            && is_alive(&*self.host, &*self.engine.side_files(), &agent)
        {
            let pid = agent.location.process.pid;
            return Err(PresenceError::RunsElsewhere { session: request.session.clone(), pid });
        }
        let (_, outcome) = self.admit(request, |_, _| true, &|_| None, usize::MAX)?;
        let outcome = outcome.ok_or(PresenceError::NotRegistered)?;
        self.note_roster_told(&outcome);
        Ok(outcome)
    }

    /// Registers a session that a hook has seen, unless it was asked to leave or the settings let sessions
    /// join only when they ask. `begins` is set for an event that begins a session or a turn. `environment`
    /// overrides published settings.
    pub fn join_by_hook(
        &mut self,
        request: &JoinRequest,
        begins: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(HookSettings, Option<JoinOutcome>), PresenceError> {
        let session = request.session.clone();
        let welcome =
            move |settings: &HookSettings, known| rules::is_welcome(settings, &session, known, begins);
        self.admit(request, welcome, environment, wording::MOST_DESCRIBED)
    }

    /// Registers a session if `welcome` allows it, by the settings and, for a known session, the reason it
    /// left (`None`: it has not). The activity of other agents is looked up for at most `most_seen` of them,
    /// the first by name: otherwise a start among fifty agents would read fifty files to show eight.
    fn admit(
        &mut self,
        request: &JoinRequest,
        welcome: impl Fn(&HookSettings, Option<Option<LeaveReason>>) -> bool,
        environment: &dyn Fn(&str) -> Option<String>,
        most_seen: usize,
    ) -> Result<(HookSettings, Option<JoinOutcome>), PresenceError> {
        let now = self.host.now();
        let place = self.host.place(&request.cwd);
        let files = self.engine.side_files();

        // Decide first without the write lock: a session that is not welcome need not queue for it, and `git`
        // must not run while others wait.
        let tx = self.engine.read()?;
        let settings = hook_settings(&*tx, &place.worktree, environment)?;
        let known = tx.agent(&request.session)?.map(|(_, reason)| reason);
        if !welcome(&settings, known) {
            return Ok((settings, None));
        }
        let identified = identify(&*self.host, &*tx, &place)?;
        let facts = JoinFacts { files: &*files, request, now, place, identified };
        // Nor need a session queue that is already present and changes nothing, as after a compaction.
        let has_state = files.activity(&request.session).is_some();
        let is_here = known == Some(None) && has_state && request.spec.is_none() && files.is_current();
        let nothing_new = match is_here {
            true => facts.decide(&*self.host, &*tx)?.filter(|decision| decision.changes.is_empty()),
            false => None,
        };
        drop(tx);
        let (decision, arrival_count) = match nothing_new {
            Some(decision) => {
                // If the session has left meanwhile, its files are not created again.
                files.note_host(&decision.agent);
                (decision, None)
            }
            None => {
                self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
                let tx = self.engine.write()?;
                let Some(mut decision) = facts.decide(&*self.host, &*tx)? else {
                    // Dead agents are still listed: record their leaving first, which frees their names.
                    drop(tx);
                    self.record_departures()?;
                    return self.admit(request, welcome, environment, most_seen);
                };
                let arrival_count = decision.newcomer.me.is_none().then(|| files.next_arrival_count());
                let changes = std::mem::take(&mut decision.changes);
                let (actor, project) =
                    (Actor::Agent(decision.agent.session.clone()), decision.agent.project.id.clone());
                Self::conclude(&*self.host, tx, now, Some(project), actor, changes)?;
                begin(&*files, &decision.agent, decision.newcomer.me.is_none(), now)?;
                (decision, arrival_count)
            }
        };
        let JoinDecision { newcomer, agent, .. } = decision;
        let project = agent.project.id.clone();
        let (joined, goes_on) = (newcomer.me.is_none(), newcomer.goes_on());
        let here = newcomer.others.into_iter().filter(|agent| agent.project.id == project);
        let mut here: Vec<Agent> = here.collect();
        here.sort_by(|one, other| one.name.cmp(&other.name));
        let seen = here.drain(..here.len().min(most_seen)).collect();
        let mut others = agent_views(&*self.host, &*files, seen);
        others.sort_by_cached_key(rules::by_attention);
        Ok((settings, Some(JoinOutcome { agent, joined, goes_on, others, unseen: here, arrival_count })))
    }
}

/// The facts about a joining session that are gathered before the transaction.
struct JoinFacts<'a> {
    files: &'a dyn SideFiles,
    request: &'a JoinRequest,
    now: Timestamp,
    place: PlacedDirectory,
    identified: Identified,
}

/// The decision about a joining session, with the changes to record.
struct JoinDecision<'a> {
    newcomer: Newcomer<'a>,
    agent: Agent,
    changes: Vec<Change>,
}

impl<'a> JoinFacts<'a> {
    /// Decides by what a transaction sees; returns `None` if dead agents are still listed as present.
    fn decide(&self, host: &dyn Host, tx: &dyn Tx) -> Result<Option<JoinDecision<'a>>, PresenceError> {
        let Self { files, request, now, place, identified } = self;
        let settled = tx.project_of(&place.repository)?;
        let is_unsettled = settled.is_none();
        let known = tx.agent(&request.session)?;
        let (present, dead) = partition_alive(host, *files, tx.present()?);
        if !dead.is_empty() {
            return Ok(None);
        }
        let newcomer = Newcomer {
            request,
            now: *now,
            machine: host.name(),
            place: place.clone(),
            project: settled.unwrap_or_else(|| identified.project.clone()),
            is_first: identified.is_news && is_unsettled,
            known: known.map(|(agent, _)| agent),
            me: None,
            predecessor: None,
            others: Vec::new(),
            spec: spec_of(host, tx, request)?,
            random: random_number(host),
        };
        let newcomer = newcomer.among(present);
        let agent = newcomer.agent()?;
        let mut changes = newcomer.arrival(&agent);
        if newcomer.inherits_name(&agent) {
            changes.extend(left_for(tx, &agent)?);
        }
        if let Some(predecessor) = &newcomer.predecessor {
            let label = claims::label(host, Some(&agent));
            changes.extend(belongings(tx, &predecessor.session)?.taken_over(&agent, &label, *now));
        }
        Ok(Some(JoinDecision { newcomer, agent, changes }))
    }
}

/// Creates the files of a session beside the database, if the session is new or has none.
fn begin(files: &dyn SideFiles, agent: &Agent, joined: bool, now: Timestamp) -> Result<(), StoreError> {
    if joined || files.activity(&agent.session).is_none() {
        files.start_activity(&agent.session, now)?;
        if !joined {
            // Its state was lost, and with it whether there is mail.
            files.set_mail_flags(&agent.session, MailFlags::UNKNOWN)?;
        }
        // Without a trail, only predictions about the session are missing.
        let _ = files.begin_or_continue_trail(&agent.session, &agent.project.id, &agent.location.worktree);
    }
    files.note_host(agent);
    Ok(())
}

/// Returns the spec that the request asks for, and its file.
fn spec_of(
    host: &dyn Host,
    tx: &dyn Tx,
    request: &JoinRequest,
) -> Result<Option<(SpecRef, PathBuf)>, StoreError> {
    let Some(path) = &request.spec else { return Ok(None) };
    let file = request.cwd.join(path);
    Ok(Some((tasks::spec_at(host, tx, &file)?, file)))
}
