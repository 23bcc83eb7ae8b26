//! Presence verb that finds out who is calling: an agent, the person or nobody, and for
//! whom that caller may speak.

use std::cell::OnceCell;

use crate::App;
use crate::engine::StoreError;
use crate::host::Host;
use crate::host::Process;
use crate::journal::Actor;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::NotAllowed;
use crate::presence::PresenceError;
use crate::presence::PresenceStore;
use crate::presence::Proof;
use crate::presence::SessionId;
use crate::side_files::SideFiles;

impl App {
    /// Who is calling.
    pub fn caller(&mut self, facts: &CallerFacts) -> Result<Caller, StoreError> {
        let files = self.engine.side_files();
        who_calls(&*self.host, &*files, &*self.engine.read()?, facts)
    }

    /// The caller's ancestors, nearest first, as far as they tell who it is: up
    /// to the one that is noted to host a session, and that session. Such a note may be
    /// late, so a process below it is never the person.
    pub fn ancestors(&self) -> (Vec<Process>, Option<SessionId>) {
        let files = self.engine.side_files();
        let hosted = OnceCell::new();
        let is_host =
            |process: &Process| files.hosted_by(process).is_some_and(|session| hosted.set(session).is_ok());
        let ancestors = self.host.ancestors_until(&is_host);
        (ancestors, hosted.into_inner())
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
            (Caller::Person, None) => Err(PresenceError::NoAgentNamed),
            (Caller::Anonymous(why), _) => Err(why.into()),
        }
    }

    /// Refuses every caller but the person.
    pub fn require_person(&mut self, facts: &CallerFacts) -> Result<(), PresenceError> {
        let caller = self.caller(facts)?;
        Ok(require_person(&caller)?)
    }

    /// The same for what weakens or removes protection: a word was typed, or there
    /// is a token for it.
    pub fn require_confirmed(&mut self, facts: &CallerFacts) -> Result<(), PresenceError> {
        let caller = self.caller(facts)?;
        Ok(require_confirmed(&caller, facts)?)
    }
}

/// Who calls: the registered agent nearest up the process tree; else the person,
/// if there is proof; else nobody in particular. Where one process hosts several
/// sessions, the hints tell them apart, or else which was heard from last. **A hint
/// makes nobody an agent**: what an agent CLI tells its own commands leaks into
/// whatever is started there.
pub(crate) fn who_calls(
    host: &dyn Host,
    files: &dyn SideFiles,
    store: &dyn PresenceStore,
    facts: &CallerFacts,
) -> Result<Caller, StoreError> {
    let lineage = || facts.own.iter().chain(&facts.ancestors);
    let pids: Vec<u32> = lineage().map(|ancestor| ancestor.pid).collect();
    let mut agents = store.by_pids(&pids)?;
    agents.retain(|(agent, _)| host.is_here(&agent.location.machine));
    for ancestor in lineage() {
        let is_it = |(agent, is_here): &&(Agent, bool)| *is_here && agent.location.process.is(ancestor);
        let is = |agent: &Agent, hint: &SessionId| agent.session.has_cli_id(hint);
        let rank = |(agent, _): &&(Agent, bool)| {
            let is_thread = facts.thread.as_ref().is_some_and(|thread| is(agent, thread));
            (is_thread, facts.hints.iter().any(|hint| is(agent, hint)))
        };
        let mut hosted: Vec<&(Agent, bool)> = agents.iter().filter(is_it).collect();
        let best = hosted.iter().map(rank).max();
        hosted.retain(|hosted| Some(rank(hosted)) == best);
        let likeliest = match hosted[..] {
            [only] => Some(only),
            // Only now are their states read.
            _ => hosted
                .into_iter()
                .max_by_key(|(agent, _)| files.activity(&agent.session).map(|activity| activity.last_active)),
        };
        if let Some((agent, _)) = likeliest {
            // It may be the command of another session of that process, which has left.
            let is_hinted = |agent: &Agent| facts.hints.iter().any(|hint| agent.session.has_cli_id(hint));
            let is_left = |(other, is_here): &&(Agent, bool)| !is_here && other.location.process.is(ancestor);
            if !is_hinted(agent) && agents.iter().filter(is_left).any(|(other, _)| is_hinted(other)) {
                return Ok(Caller::Anonymous(NotAllowed::NotJoined));
            }
            return Ok(Caller::Agent(Box::new(agent.clone())));
        }
    }
    // One that has left is an agent still, as long as its process lives.
    let has_left =
        agents.iter().any(|(agent, _)| lineage().any(|ancestor| agent.location.process.is(ancestor)));
    if facts.in_agent || has_left {
        return Ok(Caller::Anonymous(NotAllowed::NotJoined));
    }
    Ok(match &facts.proof {
        Proof::None(why) => Caller::Anonymous(NotAllowed::Anonymous(why.clone())),
        Proof::Terminal | Proof::Typed | Proof::Token => Caller::Person,
    })
}

/// Refuses every caller but the person.
pub(crate) fn require_person(caller: &Caller) -> Result<(), NotAllowed> {
    match caller {
        Caller::Person => Ok(()),
        Caller::Agent(_) => Err(NotAllowed::NotThePerson),
        Caller::Anonymous(why) => Err(why.clone()),
    }
}

/// The same for what weakens or removes protection.
pub(crate) fn require_confirmed(caller: &Caller, facts: &CallerFacts) -> Result<(), NotAllowed> {
    require_person(caller)?;
    if facts.proof.is_confirmed() { Ok(()) } else { Err(NotAllowed::NotConfirmed) }
}
