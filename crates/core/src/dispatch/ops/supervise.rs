//! Dispatch verbs of a run's supervisor: it begins, parks, extends and ends the run. One more ends
//! the runs of dead supervisors.

use super::ask::accounts;
use super::ask::own_process;
use crate::App;
use crate::Timestamp;
use crate::dispatch::Accounts;
use crate::dispatch::BudgetReservation;
use crate::dispatch::Caps;
use crate::dispatch::Cost;
use crate::dispatch::DispatchChange;
use crate::dispatch::DispatchError;
use crate::dispatch::GateRefusal;
use crate::dispatch::Receipt;
use crate::dispatch::ReviewOf;
use crate::dispatch::RunEnd;
use crate::dispatch::RunRecord;
use crate::dispatch::RunState;
use crate::dispatch::extend_reservation;
use crate::dispatch::staggered;
use crate::dispatch::wording;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::SessionId;
use crate::tasks;

/// Milliseconds between two parked runs of a CLI that go on after a limit.
const STAGGER: i64 = 5 * Timestamp::SECOND;

impl App {
    /// Makes the calling process the owner of a run, and records that the run has started.
    pub fn start_run(&mut self, id: ChangeId) -> Result<RunRecord, DispatchError> {
        let owner = own_process(&*self.host);
        let started = |number| DispatchChange::Started { run: id, number, owner: owner.clone() };
        let record = self.change_run(id, &started, None)?;
        Ok(RunRecord { owner, state: RunState::Running, ..record })
    }

    /// Records that a run waits until `until`, or a little longer if other runs of its CLI wait
    /// too. Returns the time that was recorded.
    pub fn park_run(
        &mut self,
        id: ChangeId,
        until: Timestamp,
        why: &str,
    ) -> Result<Timestamp, DispatchError> {
        let now = self.host.now();
        // In one transaction: otherwise runs that meet the limit together would get the same time.
        let tx = self.engine.write()?;
        let record = open_run(&*tx, id)?;
        let open = tx.open_runs()?;
        let others = open.iter().filter(|run| run.id != id && run.spec.cli == record.spec.cli);
        let until = staggered(until, others.filter_map(|run| run.parked_until).collect(), STAGGER);
        let parked = DispatchChange::Parked { run: id, number: record.number, until, why: why.to_owned() };
        let changes = changes(&*self.host, &*tx, &record, parked, None)?;
        Self::conclude(&*self.host, tx, now, record.project, Actor::Consort, changes)?;
        Ok(until)
    }

    /// Sets more money aside for a run that has used `used`; returns how much is set aside now.
    pub fn reserve_more_money(
        &mut self,
        id: ChangeId,
        caps: &Caps,
        used: Cost,
    ) -> Result<Cost, DispatchError> {
        let now = self.host.now();
        let tx = self.engine.write()?;
        let record = tx.run_of(id)?.ok_or_else(|| DispatchError::NoSuchRun { name: id.to_string() })?;
        let accounts = match &record.project {
            Some(project) => accounts(&*tx, project, now)?,
            None => Accounts::default(),
        };
        let had = BudgetReservation { amount: record.spec.reserved };
        let amount = extend_reservation(caps, &accounts, had, used).map_err(GateRefusal::from)?.amount;
        let number = record.number;
        let changes = vec![Change::Dispatch(DispatchChange::Reserved { run: id, number, amount })];
        Self::conclude(&*self.host, tx, now, record.project, Actor::Consort, changes)?;
        Ok(amount)
    }

    /// Tells the agent that asked for a run, or else the person, that the run has stalled, and what
    /// was found.
    pub fn tell_stalled_run(&mut self, id: ChangeId, found: &str) -> Result<(), DispatchError> {
        let now = self.host.now();
        let tx = self.engine.write()?;
        let record = open_run(&*tx, id)?;
        let starter = starter(&*tx, &record)?;
        let to: Vec<&Agent> = starter.iter().collect();
        let text = wording::stalled(&record, found);
        let changes = vec![messages::notice(&to, MessageType::Info, Priority::High, text)];
        Self::conclude(&*self.host, tx, now, record.project, Actor::Consort, changes)?;
        Ok(())
    }

    /// Checks that the caller may end a run: the person may end any, an agent its own.
    pub fn may_stop_run(&mut self, caller: &CallerFacts, run: &RunRecord) -> Result<(), DispatchError> {
        match self.caller(caller)? {
            Caller::Person => Ok(()),
            Caller::Agent(agent) if run.by == Actor::Agent(agent.session.clone()) => Ok(()),
            Caller::Agent(_) => Err(DispatchError::NotYours { number: run.number }),
            Caller::Anonymous(why) => Err(why.into()),
        }
    }

    /// Ends a run, once. The agent that asked for it is told how it ended, with the beginning of
    /// the result.
    pub fn end_run(&mut self, id: ChangeId, end: RunEnd, result: &str) -> Result<RunRecord, DispatchError> {
        let ended = |number| DispatchChange::Ended { run: id, number, end: Box::new(end.clone()) };
        self.change_run(id, &ended, Some(result))
    }

    /// Ends the runs whose owner is gone, and returns them. `end_orphans` first ends the processes
    /// that their workers have left behind: once a run has ended, nobody looks for them any more.
    pub fn interrupt_dead_runs(
        &mut self,
        end_orphans: &dyn Fn(&RunRecord),
    ) -> Result<Vec<RunRecord>, DispatchError> {
        let open = self.engine.read()?.open_runs()?;
        let is_dead = |run: &RunRecord| {
            self.host.is_here(&run.owner.machine) && !self.host.is_alive(&run.owner.process)
        };
        let dead: Vec<RunRecord> = open.into_iter().filter(|run| is_dead(run)).collect();
        let mut ended = Vec::new();
        for run in dead {
            end_orphans(&run);
            let end = RunEnd::bare(RunState::Interrupted);
            // A supervisor may have taken the run over or ended it meanwhile.
            let owner = run.owner.clone();
            let tx = self.engine.write()?;
            let now = tx.run_of(run.id)?.filter(|now| now.owner == owner && !now.state.has_ended());
            let Some(run) = now else { continue };
            let change = DispatchChange::Ended { run: run.id, number: run.number, end: Box::new(end) };
            let at = self.host.now();
            let changes = changes(&*self.host, &*tx, &run, change, Some(""))?;
            Self::conclude(&*self.host, tx, at, run.project.clone(), Actor::Consort, changes)?;
            ended.push(run);
        }
        Ok(ended)
    }

    fn change_run(
        &mut self,
        id: ChangeId,
        change: &dyn Fn(Number) -> DispatchChange,
        result: Option<&str>,
    ) -> Result<RunRecord, DispatchError> {
        let now = self.host.now();
        let tx = self.engine.write()?;
        let record = open_run(&*tx, id)?;
        let changes = changes(&*self.host, &*tx, &record, change(record.number), result)?;
        Self::conclude(&*self.host, tx, now, record.project.clone(), Actor::Consort, changes)?;
        Ok(record)
    }
}

/// Finds a run, and fails if it has ended.
fn open_run(tx: &dyn Tx, id: ChangeId) -> Result<RunRecord, DispatchError> {
    let record = tx.run_of(id)?.ok_or_else(|| DispatchError::NoSuchRun { name: id.to_string() })?;
    match record.state.has_ended() {
        true => Err(DispatchError::HasEnded { number: record.number, state: record.state }),
        false => Ok(record),
    }
}

/// Adds to a change of a run its receipt, the end of its task, and the messages about its end.
fn changes(
    host: &dyn Host,
    tx: &dyn Tx,
    run: &RunRecord,
    mut change: DispatchChange,
    result: Option<&str>,
) -> Result<Vec<Change>, StoreError> {
    if let (DispatchChange::Ended { end, .. }, Some(project)) = (&mut change, &run.project) {
        let last = tx.receipt_head(project)?;
        let receipt = Receipt::of(run, end, host.now());
        end.receipt = Some(Box::new(receipt.sealed(last.as_ref(), &|bytes| host.digest(bytes))));
    }
    let told = match &change {
        DispatchChange::Ended { end, .. } => Some(wording::ended(run, end, result.unwrap_or_default())),
        _ => None,
    };
    let has_ended = match &change {
        DispatchChange::Ended { end, .. } => Some(end.is_done_and_merged()),
        _ => None,
    };
    let mut changes = vec![Change::Dispatch(change)];
    if let Some((key, is_done_and_merged)) = run.spec.takes.as_ref().zip(has_ended) {
        let worker = (run.id, &run.spec.name);
        changes.extend(tasks::end_for_run(tx, key, worker, is_done_and_merged, host.now())?);
    }
    let mut tell = |to: &[&Agent], text: String| {
        changes.push(messages::notice(to, MessageType::Info, Priority::High, text));
    };
    if let Some((text, starter)) = told.zip(starter(tx, run)?) {
        tell(&[&starter], text);
    }
    // A review is for the person, and for the agent that did the work.
    if let (Some(of), Some(true), Some(result)) = (&run.spec.reviews, has_ended, result) {
        let reviewed = match of {
            ReviewOf::Agent(session) => present(tx, session)?,
            ReviewOf::Run(id) => match tx.run_of(*id)? {
                Some(reviewed) => starter(tx, &reviewed)?,
                None => None,
            },
        };
        let text = wording::reviewed(run, result);
        tell(&[], text.clone());
        if let Some(agent) = reviewed {
            tell(&[&agent], text);
        }
    }
    Ok(changes)
}

/// Returns the agent that asked for a run, unless it has left since.
fn starter(tx: &dyn Tx, run: &RunRecord) -> Result<Option<Agent>, StoreError> {
    match &run.by {
        Actor::Agent(session) => present(tx, session),
        Actor::Person | Actor::Consort => Ok(None),
    }
}

/// Returns the agent of a session, unless it has left.
fn present(tx: &dyn Tx, session: &SessionId) -> Result<Option<Agent>, StoreError> {
    Ok(tx.agent(session)?.filter(|(_, left)| left.is_none()).map(|(agent, _)| agent))
}
