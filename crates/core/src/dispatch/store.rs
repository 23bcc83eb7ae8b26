//! The port of the dispatch room: the reads of runs that an engine must offer.

use super::DailyCliSpending;
use super::ReceiptHead;
use super::RunRecord;
use crate::engine::StoreError;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::project::ProjectId;

/// The reads that dispatch needs. None of them grows with the number of runs that have ended.
pub trait DispatchStore {
    /// Returns the runs of a project, newest first; with `before`, only those with a lower number.
    fn runs(
        &self,
        project: &ProjectId,
        before: Option<Number>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError>;

    /// Returns all runs that have not ended, of every project, oldest first.
    fn open_runs(&self) -> Result<Vec<RunRecord>, StoreError>;

    fn run_of(&self, id: ChangeId) -> Result<Option<RunRecord>, StoreError>;

    fn run_numbered(&self, project: &ProjectId, number: Number) -> Result<Option<RunRecord>, StoreError>;

    /// Returns the head of the last receipt of a project.
    fn receipt_head(&self, project: &ProjectId) -> Result<Option<ReceiptHead>, StoreError>;

    /// Returns the spending of a project from day `since` on.
    fn spending(&self, project: &ProjectId, since: i64) -> Result<Vec<DailyCliSpending>, StoreError>;
}
