//! Dispatch verbs that read: runs, and what they cost.

use crate::App;
use crate::Timestamp;
use crate::dispatch::DispatchError;
use crate::dispatch::RunRecord;
use crate::dispatch::Spending;
use crate::journal::ChangeId;
use crate::journal::Number;
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

    /// What a project has spent in the last so many days, today included.
    pub fn spending(&mut self, project: &ProjectId, days: i64) -> Result<Vec<Spending>, DispatchError> {
        let today = self.host.now().0.div_euclid(Timestamp::DAY);
        Ok(self.engine.read()?.spending(project, today.saturating_sub(days - 1))?)
    }
}
