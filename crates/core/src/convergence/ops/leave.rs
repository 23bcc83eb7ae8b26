//! What a session leaves behind when it is over.

use super::settle::settle;
use crate::Timestamp;
use crate::config::settings_from;
use crate::convergence::ConvergenceChange;
use crate::convergence::learn;
use crate::convergence::model;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Change;
use crate::presence::Agent;
use crate::side_files::SideFiles;

/// What becomes of predictions about it, once it is gone, and what its prompts
/// teach. Each is an entry of its own.
pub(crate) fn close_predictions(
    files: &dyn SideFiles,
    tx: &mut dyn Tx,
    agent: &Agent,
    now: Timestamp,
) -> Result<Vec<Vec<Change>>, StoreError> {
    let mut entries = Vec::new();
    let endings = settle(files, tx, now, |prediction| prediction.concerns(&agent.session))?;
    entries.extend(endings.into_iter().map(|(_, changes)| changes));
    let published = tx.published(Some(&agent.worktree))?;
    if let Some(trail) = files.trail(&agent.session)
        && settings_from(&published, &|_| None).convergence
    {
        let (assigned, known) = (tx.assigned_domains()?, tx.learned_domains()?);
        let configured = model::configured_domains(&published, &|_| None);
        let domains = model::domains(&configured, &assigned, &[], now);
        // What it did before it came back has taught already.
        let new = trail.steps.iter().position(|step| step.at >= agent.joined_at).unwrap_or(trail.steps.len());
        let mut learned = learn(&trail.steps[new..], &domains, &known, now);
        learned.retain(|one| !assigned.iter().any(|(topic, _)| *topic == one.topic));
        if !learned.is_empty() {
            entries.push(vec![Change::Convergence(ConvergenceChange::Learned { learned })]);
        }
    }
    Ok(entries)
}
