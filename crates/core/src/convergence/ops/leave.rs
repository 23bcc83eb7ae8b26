//! What a session leaves behind when it is over.

use super::settle::settle;
use crate::Timestamp;
use crate::config::hook_settings;
use crate::convergence::ConvergenceChange;
use crate::convergence::Domains;
use crate::convergence::TrailNotes;
use crate::convergence::learn;
use crate::convergence::model;
use crate::convergence::that_count;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Change;
use crate::presence::Agent;

/// What becomes of predictions about it, once it is gone, and what its prompts
/// teach. Each is an entry of its own.
pub(crate) fn last_words(
    notes: &impl TrailNotes,
    tx: &mut impl Tx,
    agent: &Agent,
    now: Timestamp,
) -> Result<Vec<Vec<Change>>, StoreError> {
    let mut entries = Vec::new();
    let endings = settle(notes, tx, now, |prediction| prediction.concerns(&agent.session))?;
    entries.extend(endings.into_iter().map(|(_, change)| vec![Change::Convergence(change)]));
    if let Some(trail) = notes.trail(&agent.session)
        && hook_settings(tx, &agent.worktree, &|_| None)?.convergence
    {
        let published = tx.published(Some(&agent.worktree))?;
        let configured = published.iter().rfind(|(key, _)| key == "convergence.domains");
        let configured = configured.map_or(Domains::DEFAULT, |(_, value)| value.as_str());
        let (assigned, known) = (tx.assigned_domains()?, tx.learned_domains()?);
        let domains = model::domains(
            configured,
            assigned.iter().map(|(topic, domain)| (topic.as_str(), domain.as_deref())),
            that_count(&known).map(|one| (one.topic.as_str(), one.domain.as_str())),
        );
        let mut learned = learn(&trail.steps, &domains, &known, now);
        learned.retain(|one| !assigned.iter().any(|(topic, _)| *topic == one.topic));
        if !learned.is_empty() {
            entries.push(vec![Change::Convergence(ConvergenceChange::Learned { learned })]);
        }
    }
    Ok(entries)
}
