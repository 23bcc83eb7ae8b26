//! Presence verbs that identify the caller (an agent, the person or nobody), and check what it may do.

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
    /// Identifies the caller: a registered agent, the person, or neither.
    pub fn caller(&mut self, facts: &CallerFacts) -> Result<Caller, StoreError> {
        let files = self.engine.side_files();
        who_calls(&*self.host, &*files, &*self.engine.read()?, facts)
    }

    /// Returns the caller's ancestors, nearest first, up to the first that is recorded as hosting a session,
    /// and that session. Such a record may be out of date, so a process below it never counts as the person.
    pub fn ancestors(&self) -> (Vec<Process>, Option<SessionId>) {
        let files = self.engine.side_files();
        let hosted = OnceCell::new();
        let is_host = |process: &Process| {
            files.session_hosted_by(process).is_some_and(|session| hosted.set(session).is_ok())
        };
        let ancestors = self.host.ancestors_until(&is_host);
        (ancestors, hosted.into_inner())
    }

    /// Returns the agent that a verb is about: the caller itself, or the agent that the person names. An
    /// agent speaks only for itself.
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

    /// Refuses every caller but the person with a typed word or a token, for verbs that weaken or remove
    /// protection.
    pub fn require_confirmed(&mut self, facts: &CallerFacts) -> Result<(), PresenceError> {
        let caller = self.caller(facts)?;
        Ok(require_confirmed(&caller, facts)?)
    }
}

/// Identifies the caller: the registered agent nearest up the process tree; else the person, if there is
/// proof; else an anonymous caller. If one process hosts several sessions, the hints decide, else the session
/// that was active last. **A hint alone makes nobody an agent**: the variables that an agent CLI sets for its
/// own commands leak into every program started there.
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
            // Read the states of the sessions only if there are several.
            _ => hosted
                .into_iter()
                .max_by_key(|(agent, _)| files.activity(&agent.session).map(|activity| activity.last_active)),
        };
        if let Some((agent, _)) = likeliest {
            // The caller may be a command of another session of that process, which has left.
            let is_hinted = |agent: &Agent| facts.hints.iter().any(|hint| agent.session.has_cli_id(hint));
            let is_left = |(other, is_here): &&(Agent, bool)| !is_here && other.location.process.is(ancestor);
            if !is_hinted(agent) && agents.iter().filter(is_left).any(|(other, _)| is_hinted(other)) {
                return Ok(Caller::Anonymous(NotAllowed::NotJoined));
            }
            return Ok(Caller::Agent(Box::new(agent.clone())));
        }
    }
    // A session that was asked to leave still counts as an agent while its process lives.
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

/// Refuses every caller but the person with a typed word or a token, for verbs that weaken or remove
/// protection.
pub(crate) fn require_confirmed(caller: &Caller, facts: &CallerFacts) -> Result<(), NotAllowed> {
    require_person(caller)?;
    if facts.proof.is_confirmed() { Ok(()) } else { Err(NotAllowed::NotConfirmed) }
}
