//! The port of the convergence room: what an engine must store of predictions and
//! domains.

use std::path::Path;

use super::Counters;
use super::LearnedDomain;
use super::Prediction;
use super::RadarNote;
use crate::engine::StoreError;
use crate::journal::Number;

/// The reads that convergence needs.
pub trait ConvergenceStore {
    /// Predictions that have not ended, oldest first.
    fn active_predictions(&self) -> Result<Vec<Prediction>, StoreError>;

    /// Those of that number, of all projects.
    fn predictions_numbered(&self, number: Number) -> Result<Vec<Prediction>, StoreError>;

    /// Predictions that have ended, newest first.
    fn past_predictions(&self) -> Result<Vec<Prediction>, StoreError>;

    fn tally(&self) -> Result<Counters, StoreError>;

    /// Topics that the person has put into a domain, or into none.
    fn assigned_domains(&self) -> Result<Vec<(String, Option<String>)>, StoreError>;

    fn learned_domains(&self) -> Result<Vec<LearnedDomain>, StoreError>;

    /// What is published for who works in that worktree, from the tables.
    fn radar_note(&self, worktree: &Path) -> Result<RadarNote, StoreError>;
}
