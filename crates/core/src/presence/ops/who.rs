//! Presence verbs that list the agents of a project, and find one by name.

use super::agent_views;
use super::partition_alive;
use super::stuck::waiters;
use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::messages;
use crate::presence::Activity;
use crate::presence::Agent;
use crate::presence::AgentName;
use crate::presence::AgentView;
use crate::presence::Observed;
use crate::presence::PresenceError;
use crate::presence::SessionId;
use crate::presence::Status;
use crate::presence::WhoOutcome;
use crate::presence::WhoScope;
use crate::presence::find_by_word;
use crate::presence::rules;
use crate::text;
use serde_json::Value;

/// Most agents that are listed though they have left: a machine may see a thousand sessions a day.
const MOST_GONE: usize = 100;

impl App {
    /// Returns the agent of a present session, and the number of other live agents in its project.
    pub fn present_session(&mut self, session: &SessionId) -> Result<Option<(Agent, usize)>, StoreError> {
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let Some((me, None)) = tx.agent(session)? else { return Ok(None) };
        let (alive, _) = partition_alive(&*self.host, &*files, tx.present()?);
        let is_other = |agent: &&Agent| agent.project.id == me.project.id && agent.session != me.session;
        let others = alive.iter().filter(is_other).count();
        Ok(Some((me, others)))
    }

    /// Returns the last known activity of a session.
    pub fn activity_of(&self, session: &SessionId) -> Option<Activity> {
        self.engine.side_files().activity(session)
    }

    /// Lists the agents that are here. `glimpse` adds what can be observed of each from outside.
    pub fn who(
        &mut self,
        scope: &WhoScope,
        you: Option<&SessionId>,
        glimpse: impl FnOnce(&[Agent]) -> Vec<Observed>,
    ) -> Result<WhoOutcome, PresenceError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let project = match scope {
            WhoScope::Project(project) => Some(project.clone()),
            WhoScope::Everywhere => None,
        };
        let unread = messages::unread_counts(&*tx)?;
        let (mut alive, dead) = partition_alive(&*self.host, &*files, tx.present()?);
        drop(tx);
        if !dead.is_empty() {
            // A listing must not fail because the store is read-only or busy; a later one records the
            // departures.
            let _ = self.record_departures();
        }
        if let Some(project) = &project {
            alive.retain(|agent| agent.project.id == project.id);
        }
        let observed = glimpse(&alive);
        let mut agents = agent_views(&*self.host, &*files, alive);
        let glances = self.published_glances().unwrap_or_default().panes;
        for (seen, glimpse) in agents.iter_mut().zip(observed) {
            let has_own_word = glimpse.live.is_some();
            rules::add_observed(seen, glimpse);
            if let Some(glance) = glances.iter().find(|glance| glance.is_of(&seen.agent)) {
                rules::look_at_pane(seen, glance.clone(), has_own_word);
            }
        }
        self.mark_stuck(&mut agents, now)?;
        agents.sort_by_cached_key(rules::by_attention);
        if *scope == WhoScope::Everywhere {
            let gone = self.engine.read()?.left_since(now.minus(Timestamp::DAY), MOST_GONE)?;
            agents.extend(gone.into_iter().map(|(agent, at, reason)| rules::see_gone(agent, at, reason)));
        }
        for seen in &mut agents {
            seen.you = Some(&seen.agent.session) == you;
            seen.unread = unread.get(&Actor::Agent(seen.agent.session.clone())).copied().unwrap_or(0);
        }
        Ok(WhoOutcome { at: now, project, agents })
    }

    /// Marks idle agents as stuck if they have a task, or if others contest or wait for their holds.
    fn mark_stuck(&mut self, agents: &mut [AgentView], now: Timestamp) -> Result<(), StoreError> {
        let mut idle: Vec<&mut AgentView> =
            agents.iter_mut().filter(|seen| rules::is_idle_for_long(seen, now)).collect();
        if idle.is_empty() {
            return Ok(());
        }
        let (files, tx) = (self.engine.side_files(), self.engine.read()?);
        let (holders, workers) = (tx.holders()?, tx.workers()?);
        let actor = |seen: &AgentView| Actor::Agent(seen.agent.session.clone());
        // Nobody waits for an agent that holds nothing.
        let is_held = idle.iter().any(|seen| holders.contains_key(&actor(seen)));
        let present = if is_held { tx.present()? } else { Vec::new() };
        let waiters = waiters(&*self.host, &*files, &present);
        for seen in &mut idle {
            let (me, session) = (actor(seen), &seen.agent.session);
            let is_awaited = || waiters.iter().any(|(_, waits)| waits.holders.contains(session));
            let is_wanted = holders.get(&me).is_some_and(|is_contested| *is_contested || is_awaited());
            if is_wanted || workers.contains(&me) {
                seen.status = Status::Stuck;
            }
        }
        Ok(())
    }

    /// Finds the present agent with this name, ignoring case, or the only agent that the word stands for.
    pub fn find_agent(&mut self, name: &str) -> Result<Agent, PresenceError> {
        let tx = self.engine.read()?;
        if let Some(agent) = tx.by_name(name)? {
            return Ok(agent);
        }
        let present = tx.present()?;
        if let [agent] = find_by_word(name, &present)[..] {
            return Ok(agent.clone());
        }
        let nearest = text::nearest(name, present.iter().map(|agent| agent.name.as_str())).map(str::to_owned);
        Err(PresenceError::NoSuchAgent { name: name.to_owned(), nearest })
    }

    /// Returns the JSON of an agent as doors list it: `doing` is what the agent waits for, else its activity.
    pub fn who_item(&mut self, seen: &AgentView) -> Result<Value, StoreError> {
        let task = self.claimed_task(&seen.agent.session)?;
        let mut item = serde_json::to_value(seen).unwrap_or_default();
        item["doing"] = seen.waiting_for.as_ref().or(seen.activity.as_ref()).cloned().into();
        item["task"] = task.map(|task| task.key.id).into();
        if let Some(fields) = item.as_object_mut() {
            fields.remove("activity");
        }
        Ok(item)
    }

    /// Returns the name of a session, present or gone.
    pub fn name_of(&mut self, session: &SessionId) -> Result<Option<AgentName>, StoreError> {
        Ok(self.engine.read()?.agent(session)?.map(|(agent, _)| agent.name))
    }
}
