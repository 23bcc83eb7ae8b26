//! Gathers the list of agents for the screen.

use std::collections::HashMap;
use std::path::Path;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::presence::AgentView;
use consort_core::presence::SessionId;
use consort_core::presence::Status;
use consort_core::presence::WhoScope;
use consort_core::tasks::TaskState;
use consort_core::text;
use consort_tui::AgentInfo;

use super::lines::ChangedLines;
use super::runs::RunList;
use crate::error::CommandError;
use crate::observe;
use crate::render::agents;
use crate::world::OpenWorld;
use crate::world::World;

/// The facts about agents that are kept between two looks.
#[derive(Default)]
pub(super) struct Agents {
    /// The task of each agent, with the reason for which it was claimed.
    tasks: HashMap<SessionId, (String, Option<String>)>,
    /// Whether each agent has written anything, as of its last activity.
    writers: HashMap<SessionId, (Timestamp, bool)>,
}

impl Agents {
    /// Lists the agents that are here. Their tasks are read only when they may have changed.
    pub(super) fn read(
        &mut self,
        world: &World,
        opened: &mut OpenWorld,
        lines: &ChangedLines,
        runs: &RunList,
        is_task_due: bool,
    ) -> Result<Vec<AgentInfo>, CommandError> {
        let home = &world.paths.home;
        let seen = opened.app.who(&WhoScope::Everywhere, None, |agents| observe::look(home, agents))?;
        if is_task_due {
            self.tasks.clear();
            for one in seen.agents.iter().filter(|one| one.status != Status::Gone) {
                if let Some(task) = opened.app.claimed_task(&one.agent.session)? {
                    let why = match task.state {
                        TaskState::Claimed(worker) => worker.words,
                        _ => None,
                    };
                    self.tasks.insert(one.agent.session.clone(), (task.key.id, why));
                }
            }
        }
        let mut worktrees: HashMap<&Path, usize> = HashMap::new();
        for one in seen.agents.iter().filter(|one| one.status != Status::Gone) {
            *worktrees.entry(&one.agent.location.worktree).or_default() += 1;
        }
        let mut agents = Vec::new();
        for one in &seen.agents {
            let location = &one.agent.location;
            let is_here = one.status != Status::Gone && opened.app.host().is_here(&location.machine);
            // If several agents work in one worktree, only those that have written show its lines.
            let is_alone = worktrees.get(location.worktree.as_path()).is_none_or(|count| *count < 2);
            let changed = is_here && (is_alone || self.has_written(&opened.app, one));
            let changed = changed.then(|| lines.of(&location.worktree, one.last_active)).flatten();
            agents.push(self.agent(one, opened.app.host().is_here(&location.machine), changed, runs));
        }
        Ok(agents)
    }

    fn has_written(&mut self, app: &App, seen: &AgentView) -> bool {
        let session = &seen.agent.session;
        let known = self.writers.get(session).copied();
        if let Some((_, has_written)) = known.filter(|(at, has)| *has || *at == seen.last_active) {
            return has_written;
        }
        let steps = app.trail_of(session).map(|trail| trail.steps).unwrap_or_default();
        let has_written = steps.iter().any(|step| !step.written.is_empty());
        self.writers.insert(session.clone(), (seen.last_active, has_written));
        has_written
    }

    fn agent(
        &self,
        seen: &AgentView,
        is_here: bool,
        changed: Option<(u32, u32)>,
        runs: &RunList,
    ) -> AgentInfo {
        let agent = &seen.agent;
        let task = self.tasks.get(&agent.session);
        let location = &agent.location;
        let line = |text: &str, most| text::one_line(text, most);
        AgentInfo {
            key: agent.session.to_string(),
            name: agent.name.to_string(),
            cli: line(&agent.kind, 20),
            project: line(&agent.project.name, 40),
            spec: agent.spec.as_ref().map(|spec| line(&spec.path, 60)),
            status: seen.status,
            doing: line(&agents::activity(seen), 200),
            task: task.map(|(id, _)| line(id, 30)),
            task_why: task.and_then(|(_, why)| why.as_deref()).map(|why| line(why, 200)),
            lines: changed,
            unread: seen.unread,
            cost: runs.cost_of_agent(agent.name.as_str()),
            last_active: seen.last_active,
            branch: agent.branch.as_ref().map(|branch| line(branch, 40)),
            model: agent.model.as_ref().map(|model| line(model, 40)),
            worktree: location.worktree.display().to_string(),
            place: line(&agents::place(seen), 40),
            has_pane: location.terminal.pane.is_some() && location.terminal.tmux.is_some(),
            machine: (!is_here).then(|| line(&location.machine, 16)),
            subagents: seen.subagents.iter().map(|one| line(&one.kind, 30)).collect(),
            is_you: seen.you,
        }
    }
}
