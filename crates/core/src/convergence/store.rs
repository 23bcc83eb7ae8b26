//! The port of the convergence room: the reads of predictions and domains that an engine must offer.

use std::path::Path;

use super::Counters;
use super::LearnedDomain;
use super::Prediction;
use super::PublishedConvergence;
use crate::engine::StoreError;
use crate::journal::Number;

/// The reads that convergence needs.
pub trait ConvergenceStore {
    /// Returns the predictions that have not ended, oldest first.
    fn active_predictions(&self) -> Result<Vec<Prediction>, StoreError>;

    /// Returns the predictions with that number, of all projects.
    fn predictions_numbered(&self, number: Number) -> Result<Vec<Prediction>, StoreError>;

    /// Returns the predictions that have ended, newest first.
    fn past_predictions(&self) -> Result<Vec<Prediction>, StoreError>;

    fn tally(&self) -> Result<Counters, StoreError>;

    /// Returns the topics that the person has assigned to a domain, or to none.
    fn assigned_domains(&self) -> Result<Vec<(String, Option<String>)>, StoreError>;

    fn learned_domains(&self) -> Result<Vec<LearnedDomain>, StoreError>;

    /// Builds from the tables what is published for agents in that worktree.
    fn radar_note(&self, worktree: &Path) -> Result<PublishedConvergence, StoreError>;
}
