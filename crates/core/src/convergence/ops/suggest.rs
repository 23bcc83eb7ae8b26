//! Convergence verb that ranks agents by how suitable they are for a task.

use super::PublishedView;
use crate::App;
use crate::Timestamp;
use crate::convergence::Candidate;
use crate::convergence::ConvergenceError;
use crate::convergence::rules;
use crate::convergence::topics;
use crate::journal::Actor;
use crate::presence;
use crate::presence::SessionId;
use crate::project::ProjectId;

impl App {
    /// Ranks the agents of a project by suitability for a task, best first, with reasons. The caller is left
    /// out.
    pub fn delegation_candidates(
        &mut self,
        task: &str,
        project: &ProjectId,
        caller: Option<&SessionId>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<Candidate>, ConvergenceError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let mut agents = self.engine.read()?.present()?;
        agents.retain(|agent| {
            agent.project.id == *project
                && Some(&agent.session) != caller
                && presence::is_alive(&*self.host, &*files, agent)
        });
        let Some(first) = agents.first() else { return Err(ConvergenceError::Nobody) };
        let note = self.radar_note(&first.location.worktree);
        let view = PublishedView::new(note, &first.location.worktree, &*self.host, environment);
        let wanted = topics(task, &view.noise);
        if wanted.is_empty() {
            return Err(ConvergenceError::EmptyTask { task: task.to_owned() });
        }
        let mut candidates = Vec::new();
        for seen in presence::agent_views(&*self.host, &*files, agents) {
            let agent = &seen.agent;
            let steps = files.trail(&agent.session).map(|trail| trail.steps).unwrap_or_default();
            let tx = self.engine.read()?;
            let (task, unread) =
                (tx.task_of(&agent.session)?, tx.unread(&Actor::Agent(agent.session.clone()))?);
            drop(tx);
            let silent_for = now.since(seen.last_active).max(0);
            let facts = rules::CandidateFacts {
                steps: &steps,
                status: seen.status,
                has_task: task.is_some(),
                unread: unread.len(),
                is_silent: silent_for >= Timestamp::HOUR,
            };
            let (score, reasons) = rules::suitability(&wanted, &view.domains, &facts);
            let (name, session) = (agent.name.to_string(), agent.session.clone());
            candidates.push(Candidate { name, session, status: seen.status, score, reasons });
        }
        candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(candidates)
    }
}
