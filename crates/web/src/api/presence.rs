//! Routes of the presence room: who, status, and agents that join, leave or are renamed.

use consort_core::presence::Caller;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_core::presence::PresenceError;
use consort_core::presence::WhoScope;
use serde::Deserialize;
use serde_json::json;

use super::ApiCall;
use super::ApiResult;
use super::missing;
use super::told;
use crate::reply::ApiError;

/// An agent that joins, leaves or is renamed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    /// The name that the agent is to have.
    name: Option<String>,
    /// The agent that is meant, if the person calls.
    agent: Option<String>,
    /// The kind of the agent that joins.
    kind: Option<String>,
}

impl ApiCall<'_> {
    pub(super) fn who(&mut self, named: Option<&str>) -> ApiResult {
        let scope = self.project()?.map_or(WhoScope::Everywhere, WhoScope::Project);
        let you = match self.app.caller(&self.caller)? {
            Caller::Agent(agent) => Some(agent.session),
            Caller::Person | Caller::Anonymous(_) => None,
        };
        let calls = self.calls;
        let outcome = self.app.who(&scope, you.as_ref(), |agents| calls.look(agents))?;
        let mut items = Vec::new();
        for seen in &outcome.agents {
            items.push(self.app.who_item(seen)?);
        }
        let Some(named) = named else { return self.items(&items) };
        let agent = self.app.find_agent(named)?;
        let item = items.into_iter().find(|item| item["session"] == agent.session.as_str());
        told(self.app.wrap_one("agent", &item))
    }

    /// Summarises a project.
    pub(super) fn status(&mut self) -> ApiResult {
        let (project, calls) = (self.one_project()?, self.calls);
        let status = self.app.status(&self.caller, &project, |agents| calls.look(agents))?;
        told(self.app.wrap_one("status", &status))
    }

    pub(super) fn act_on_agent(&mut self, verb: &str, want: Named) -> ApiResult {
        match verb {
            "join" => self.join(want),
            "leave" => {
                // Confirmed, because an agent that is sent away loses its reservations.
                if want.agent.is_some() && matches!(self.app.caller(&self.caller)?, Caller::Person) {
                    self.app.require_confirmed(&self.caller)?;
                }
                let caller = self.app.caller(&self.caller)?;
                let (agent, actor) = self.app.subject(caller, want.agent.as_deref())?;
                let outcome = self.app.leave(&agent.session, LeaveReason::Asked, actor)?;
                let outcome = outcome.ok_or(PresenceError::NotRegistered)?;
                told(self.app.wrap_one("agent", &outcome))
            }
            "rename" => {
                let name = want.name.ok_or_else(|| missing("name"))?;
                let caller = self.app.caller(&self.caller)?;
                let (agent, actor) = self.app.subject(caller, want.agent.as_deref())?;
                let outcome = self.app.rename(&agent.session, &name, actor)?;
                let renamed = json!({ "name": outcome.to, "was": outcome.from, "session": agent.session });
                told(self.app.wrap_one("agent", &renamed))
            }
            _ => Err(ApiError::not_found()),
        }
    }

    /// Registers the agent whose process is at the other end of the connection.
    fn join(&mut self, want: Named) -> ApiResult {
        let kind = want.kind.as_deref().unwrap_or("http");
        let mut request = self.calls.join_request(kind, self.ends).ok_or(PresenceError::NotRegistered)?;
        if let Some(name) = want.name {
            request.wish = NameWish::Insist(name);
        }
        let outcome = self.app.join(&request)?;
        let mut agent = self.app.wrap_one("agent", &outcome.agent);
        agent["agent"]["joined"] = outcome.joined.into();
        agent["agent"]["others"] = outcome.others.len().into();
        told(agent)
    }
}
