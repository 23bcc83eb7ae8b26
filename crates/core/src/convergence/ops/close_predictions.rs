//! Closes the predictions about a session that leaves, and learns from its prompts which topics belong
//! together.

use super::predict::settle;
use crate::Timestamp;
use crate::config::HookSettings;
use crate::convergence::ConvergenceChange;
use crate::convergence::Prediction;
use crate::convergence::learn;
use crate::convergence::model;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Change;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::side_files::SideFiles;

/// Returns the changes when agents leave: outcomes of the predictions about them, and domains learned from
/// their prompts.
pub(crate) fn close_predictions(
    files: &dyn SideFiles,
    tx: &dyn Tx,
    leaving: &[&Agent],
    now: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let sessions: Vec<SessionId> = leaving.iter().map(|agent| agent.session.clone()).collect();
    let concerns = |prediction: &Prediction| sessions.iter().any(|session| prediction.concerns(session));
    let (_, mut changes) = settle(files, tx, now, &sessions, concerns)?;
    let assigned = tx.assigned_domains()?;
    let mut known = tx.learned_domains()?;
    let mut is_news = false;
    for agent in leaving {
        let published = tx.published(Some(&agent.location.worktree))?;
        let Some(trail) = files.trail(&agent.session) else { continue };
        if !HookSettings::from_published(&published, &|_| None).convergence {
            continue;
        }
        let configured = model::configured_domains(&published, &|_| None);
        let domains = model::domains(&configured, &assigned, &[], now);
        // Prompts from before the session came back were already learned from.
        let new = trail.steps.iter().position(|step| step.at >= agent.joined_at).unwrap_or(trail.steps.len());
        let mut learned = learn(&trail.steps[new..], &domains, &known, now);
        learned.retain(|one| !assigned.iter().any(|(topic, _)| *topic == one.topic));
        if !learned.is_empty() {
            (known, is_news) = (learned, true);
        }
    }
    if is_news {
        changes.push(Change::Convergence(ConvergenceChange::Learned { learned: known }));
    }
    Ok(changes)
}
