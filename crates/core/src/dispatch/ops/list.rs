//! Dispatch verbs that read: runs, and what they cost.

use std::rc::Rc;

use crate::App;
use crate::Timestamp;
use crate::dispatch::Cost;
use crate::dispatch::DispatchChange;
use crate::dispatch::DispatchError;
use crate::dispatch::Estimate;
use crate::dispatch::Finding;
use crate::dispatch::Receipt;
use crate::dispatch::RunRecord;
use crate::dispatch::Spending;
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

/// How many rows are read at a time.
const STEP: usize = 100;

impl App {
    /// The latest runs of a project that are wanted, the newest first.
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

    /// All that have not ended, everywhere.
    pub fn open_runs(&mut self) -> Result<Vec<RunRecord>, DispatchError> {
        Ok(self.engine.read()?.open_runs()?)
    }

    /// The run that a number or an id means.
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

    /// The run of that id.
    pub fn run_by_id(&mut self, id: ChangeId) -> Result<RunRecord, DispatchError> {
        let found = self.engine.read()?.run_of(id)?;
        found.ok_or_else(|| DispatchError::NoSuchRun { name: id.to_string() })
    }

    /// What a run of that role would cost, by the latest of them.
    pub fn estimate_run(&mut self, project: &ProjectId, role: &str) -> Result<Option<Cost>, DispatchError> {
        let latest = self.engine.read()?.runs(project, None, STEP)?;
        let alike = latest.iter().filter(|run| run.spec.role == role).filter_map(|run| run.end.as_ref());
        let used: Vec<Usage> = alike.map(|end| end.usage).collect();
        Ok(match estimate(&used, None) {
            Estimate::Known(cost) => Some(cost),
            Estimate::Unknown => None,
        })
    }

    /// How many receipts a project has, and what is wrong with them.
    pub fn audit_runs(&mut self, project: &ProjectId) -> Result<(usize, Vec<Finding>), DispatchError> {
        let host = Rc::clone(&self.host);
        let tx = self.engine.read()?;
        let ended = tx.runs(project, None, usize::MAX)?.into_iter().filter_map(|run| run.end);
        let receipts: Vec<Receipt> = ended.filter_map(|end| end.receipt).map(|receipt| *receipt).collect();
        let head = tx.receipt_head(project)?;
        let found = audit(&receipts, 1, head.as_ref(), &|bytes| host.digest(bytes));
        Ok((receipts.len(), found))
    }

    /// Does not list the runs any more that have ended. Their receipts and costs stay.
    pub fn hide_runs(&mut self, caller: &CallerFacts, project: &ProjectId) -> Result<(), DispatchError> {
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

    /// What a project has spent in the last so many days, today included.
    pub fn spending(&mut self, project: &ProjectId, days: i64) -> Result<Vec<Spending>, DispatchError> {
        let today = self.host.now().0.div_euclid(Timestamp::DAY);
        Ok(self.engine.read()?.spending(project, today.saturating_sub(days - 1))?)
    }
}
