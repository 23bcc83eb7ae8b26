//! Who calls, and for whom it may speak.

use super::sort_out_the_dead;
use crate::App;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::host::Host;
use crate::journal::Actor;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::PresenceError;
use crate::presence::PresenceStore as _;
use crate::presence::PulseStore as _;
use crate::presence::SessionId;

impl<E: Engine, H: Host> App<E, H> {
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
}
