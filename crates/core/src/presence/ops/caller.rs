//! Who calls, and for whom it may speak.

use std::cell::Cell;

use super::is_alive;
use crate::App;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::host::Host;
use crate::host::Process;
use crate::journal::Actor;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::PresenceError;
use crate::presence::PresenceStore;
use crate::presence::PulseStore;
use crate::presence::rules;

impl<E: Engine, H: Host> App<E, H> {
    pub fn caller(&mut self, facts: &CallerFacts) -> Result<Caller, StoreError> {
        let pulses = self.engine.pulses();
        who_calls(&self.host, &pulses, &self.engine.read()?, facts)
    }

    /// The caller's ancestors, nearest first, as far as they tell who it is: up
    /// to the one that is noted to host a session, and whether there is one. Such
    /// a note may be late, so whoever has it above is not the person in any case.
    pub fn ancestors(&self) -> (Vec<Process>, bool) {
        let (pulses, name) = (self.engine.pulses(), self.host.name());
        let is_noted = Cell::new(false);
        let is_host = |process: &Process| {
            is_noted.set(pulses.is_host(&name, process));
            is_noted.get()
        };
        (self.host.ancestors_until(&is_host), is_noted.get())
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
            (Caller::Person, None) | (Caller::Stranger, _) => Err(PresenceError::NotRegistered),
        }
    }
}

/// Who calls: the registered agent nearest up the process tree. Only where
/// there is none does the session id from the environment decide. Where one
/// process hosts several sessions, the hints tell them apart, or else which was
/// heard from last.
pub(crate) fn who_calls(
    host: &impl Host,
    pulses: &impl PulseStore,
    store: &impl PresenceStore,
    facts: &CallerFacts,
) -> Result<Caller, StoreError> {
    let lineage = || facts.own.iter().chain(&facts.ancestors);
    let pids: Vec<u32> = lineage().map(|ancestor| ancestor.pid).collect();
    let agents = store.by_pids(&facts.host, &pids)?;
    for ancestor in lineage() {
        let is_it =
            |agent: &&Agent| agent.process.pid == ancestor.pid && agent.process.start == ancestor.start;
        let likelier = |a: &&Agent, b: &&Agent| {
            let rank = |agent: &Agent| {
                let last_active = pulses.heard(&agent.session).map(|heard| heard.last_active);
                let is_meant = facts.thread.as_ref() == Some(&agent.session);
                (is_meant, facts.hints.contains(&agent.session), last_active)
            };
            rank(a).cmp(&rank(b))
        };
        let likeliest = agents.iter().filter(is_it).max_by(likelier);
        if let Some(agent) = likeliest {
            return Ok(Caller::Agent(Box::new(agent.clone())));
        }
    }
    // What an agent CLI tells its own commands leaks into whatever is started
    // there, so it counts only where there is nobody to ask. But one that was
    // set free of its session does not become the person.
    let leaked = facts.hints.first().filter(|_| rules::is_orphan(&facts.ancestors));
    if let Some(claimed) = leaked.or(facts.claimed.as_ref())
        && let Some((agent, None)) = store.agent(claimed)?
        && is_alive(host, pulses, &agent)
    {
        return Ok(Caller::Agent(Box::new(agent)));
    }
    // Whoever says that it is a session is not the person, also if it is none.
    let is_session = facts.in_agent || leaked.is_some() || facts.claimed.is_some();
    Ok(if is_session { Caller::Stranger } else { Caller::Person })
}
