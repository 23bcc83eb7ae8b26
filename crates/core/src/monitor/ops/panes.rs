//! Monitor verbs that list panes, find one by name, and check who may use it.

use crate::App;
use crate::journal::Actor;
use crate::monitor::MonitorError;
use crate::monitor::PaneAddress;
use crate::monitor::PaneIdentity;
use crate::monitor::PaneRecord;
use crate::monitor::PaneSubject;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::partition_alive;
use crate::text;

impl App {
    /// Lists every known pane on this machine: the panes that we opened, and those that a running agent has
    /// registered from, whoever started it.
    pub fn panes(&mut self) -> Result<Vec<PaneSubject>, MonitorError> {
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let is_here = |place: &PaneIdentity| self.host.is_here(&place.machine);
        let records = tx.panes()?.into_iter().filter(|record| record.place().is_some_and(is_here));
        let mut records: Vec<PaneRecord> = records.collect();
        let mut in_panes = tx.present()?;
        drop(tx);
        in_panes.retain(|agent| {
            let terminal = &agent.location.terminal;
            let has_pane = terminal.tmux.is_some() && terminal.pane.is_some();
            has_pane && self.host.is_here(&agent.location.machine)
        });
        let (alive, _) = partition_alive(&*self.host, &*files, in_panes);
        let mut subjects = Vec::new();
        for agent in alive {
            let terminal = &agent.location.terminal;
            let (Some(server), Some(id)) = (&terminal.tmux, &terminal.pane) else { continue };
            let address = PaneAddress { server: server.clone(), id: id.clone() };
            let at =
                records.iter().position(|record| record.place().is_some_and(|place| place.hosts(&agent)));
            let record = at.map(|at| records.swap_remove(at));
            let heard = files.activity(&agent.session);
            subjects.push(PaneSubject { address, agent: Some(agent), heard, record });
        }
        subjects.extend(records.into_iter().filter_map(|record| {
            let address = record.place()?.address.clone();
            Some(PaneSubject { address, agent: None, heard: None, record: Some(record) })
        }));
        subjects.sort_by_key(|subject| (subject.number().unwrap_or(i64::MAX), subject.name()));
        Ok(subjects)
    }

    /// Finds the pane of an agent by the agent's name, the name it was opened under, or the pane's number.
    pub fn find_pane(&mut self, name: &str) -> Result<PaneSubject, MonitorError> {
        let mut panes = self.panes()?;
        let is_it =
            |subject: &PaneSubject| subject.name().eq_ignore_ascii_case(name) || subject.is_opened_as(name);
        if let Some(at) = panes.iter().position(is_it) {
            return Ok(panes.swap_remove(at));
        }
        if let Ok(agent) = self.find_agent(name) {
            let is_its =
                |pane: &PaneSubject| pane.agent.as_ref().is_some_and(|one| one.session == agent.session);
            let found = panes.into_iter().find(is_its);
            return found.ok_or_else(|| MonitorError::NoPane { name: agent.name.to_string() });
        }
        let names: Vec<String> = panes.iter().map(PaneSubject::name).collect();
        let nearest = text::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        Err(MonitorError::NoSuchPane { name: name.to_owned(), nearest })
    }

    /// Refuses a caller that is neither the person nor the agent that opened the pane.
    pub fn require_pane_access(
        &mut self,
        caller: &CallerFacts,
        pane: &PaneSubject,
    ) -> Result<Actor, MonitorError> {
        let not_yours = || MonitorError::NotYours { name: pane.name() };
        match self.caller(caller)? {
            Caller::Person => Ok(Actor::Person),
            Caller::Anonymous(why) => Err(why.into()),
            Caller::Agent(agent) => {
                let me = Actor::Agent(agent.session);
                pane.opener().filter(|by| **by == me).cloned().ok_or_else(not_yours)
            }
        }
    }

    /// Returns the place of a pane on this machine, by its address and the process it was opened with.
    pub fn pane_identity(&self, address: &PaneAddress, pid: u32) -> PaneIdentity {
        let process = self.host.process(pid).unwrap_or_default();
        let process = crate::host::Process { pid, start: process.start, ..Default::default() };
        PaneIdentity { machine: self.host.name(), address: address.clone(), process }
    }
}
