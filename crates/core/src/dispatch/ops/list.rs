//! Dispatch verbs that read runs, costs and receipts, and one that hides ended runs.

use std::rc::Rc;

use crate::App;
use crate::Timestamp;
use crate::dispatch::Cost;
use crate::dispatch::DailyCliSpending;
use crate::dispatch::DispatchChange;
use crate::dispatch::DispatchError;
use crate::dispatch::Estimate;
use crate::dispatch::Receipt;
use crate::dispatch::ReceiptProblem;
use crate::dispatch::RunRecord;
use crate::dispatch::Usage;
use crate::dispatch::audit;
use crate::dispatch::estimate;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::presence;
use crate::presence::CallerFacts;
use crate::project::ProjectId;

/// Number of rows that are read at a time.
const STEP: usize = 100;

impl App {
    /// Returns the latest runs of a project that `is_wanted` accepts, newest first, without hidden
    /// ones.
    pub fn runs(
        &mut self,
        project: &ProjectId,
        most: usize,
        is_wanted: &dyn Fn(&RunRecord) -> bool,
    ) -> Result<Vec<RunRecord>, DispatchError> {
        let tx = self.engine.read()?;
        let (mut found, mut before) = (Vec::new(), None);
        while found.len() < most {
            let step = tx.runs(project, before, STEP.min(most.max(1)))?;
            let Some(last) = step.last() else { break };
            before = Some(last.number);
            found.extend(step.into_iter().filter(|run| !run.is_hidden && is_wanted(run)));
        }
        found.truncate(most);
        Ok(found)
    }

    /// Returns all runs that have not ended, of every project.
    pub fn open_runs(&mut self) -> Result<Vec<RunRecord>, DispatchError> {
        Ok(self.engine.read()?.open_runs()?)
    }

    /// Finds a run by its number in a project, or by its id.
    pub fn run(&mut self, project: &ProjectId, name: &str) -> Result<RunRecord, DispatchError> {
        let tx = self.engine.read()?;
        let number = name.strip_prefix('#').unwrap_or(name).parse::<Number>().ok();
        let found = match (number, ChangeId::parse(name)) {
            (Some(number), _) => tx.run_numbered(project, number)?,
            (None, Some(id)) => tx.run_of(id)?,
            (None, None) => None,
        };
        found.ok_or_else(|| DispatchError::NoSuchRun { name: name.to_owned() })
    }

    /// Finds a run by its id.
    pub fn run_by_id(&mut self, id: ChangeId) -> Result<RunRecord, DispatchError> {
        let found = self.engine.read()?.run_of(id)?;
        found.ok_or_else(|| DispatchError::NoSuchRun { name: id.to_string() })
    }

    /// Estimates the cost of a run of a role by the latest runs of it; `None` if it is unknown.
    pub fn estimate_run(&mut self, project: &ProjectId, role: &str) -> Result<Option<Cost>, DispatchError> {
        let latest = self.engine.read()?.runs(project, None, STEP)?;
        let alike = latest.iter().filter(|run| run.spec.role == role).filter_map(|run| run.end.as_ref());
        let used: Vec<Usage> = alike.map(|end| end.usage).collect();
        Ok(match estimate(&used, None) {
            Estimate::Known(cost) => Some(cost),
            Estimate::Unknown => None,
        })
    }

    /// Returns the number of a project's receipts, and the problems found in them.
    pub fn audit_runs(&mut self, project: &ProjectId) -> Result<(usize, Vec<ReceiptProblem>), DispatchError> {
        let host = Rc::clone(&self.host);
        let tx = self.engine.read()?;
        let ended = tx.runs(project, None, usize::MAX)?.into_iter().filter_map(|run| run.end);
        let receipts: Vec<Receipt> = ended.filter_map(|end| end.receipt).map(|receipt| *receipt).collect();
        let head = tx.receipt_head(project)?;
        let found = audit(&receipts, 1, head.as_ref(), &|bytes| host.digest(bytes));
        Ok((receipts.len(), found))
    }

    /// Hides all runs that have ended from lists. Their receipts and costs stay.
    pub fn hide_ended_runs(
        &mut self,
        caller: &CallerFacts,
        project: &ProjectId,
    ) -> Result<(), DispatchError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let tx = self.engine.write()?;
        let who = presence::who_calls(&*self.host, &*files, &*tx, caller)?;
        presence::require_confirmed(&who, caller)?;
        let change = DispatchChange::Hidden { project: project.clone(), before: now };
        let changes = vec![Change::Dispatch(change)];
        Self::conclude(&*self.host, tx, now, Some(project.clone()), Actor::Person, changes)?;
        Ok(())
    }

    /// Returns the spending of a project in the last `days` days, today included.
    pub fn spending(
        &mut self,
        project: &ProjectId,
        days: i64,
    ) -> Result<Vec<DailyCliSpending>, DispatchError> {
        let today = self.host.now().0.div_euclid(Timestamp::DAY);
        Ok(self.engine.read()?.spending(project, today.saturating_sub(days - 1))?)
    }
}
