//! The port of the dispatch room: what an engine must store of runs.

use super::ReceiptHead;
use super::RunRecord;
use super::Spending;
use crate::engine::StoreError;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::project::ProjectId;

/// The reads that dispatch needs. None of them grows with the number of runs that have ended.
pub trait DispatchStore {
    /// The runs of a project, the newest first, from before that number.
    fn runs(
        &self,
        project: &ProjectId,
        before: Option<Number>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError>;

    /// All that have not ended, of every project, the oldest first.
    fn open_runs(&self) -> Result<Vec<RunRecord>, StoreError>;

    fn run_of(&self, id: ChangeId) -> Result<Option<RunRecord>, StoreError>;

    fn run_numbered(&self, project: &ProjectId, number: Number) -> Result<Option<RunRecord>, StoreError>;

    /// The last receipt of a project.
    fn receipt_head(&self, project: &ProjectId) -> Result<Option<ReceiptHead>, StoreError>;

    /// What a project has spent since that day.
    fn spending(&self, project: &ProjectId, since: i64) -> Result<Vec<Spending>, StoreError>;
}
