//! Monitor verbs for opening a pane: check the permission, choose the agent's name, record the pane.

use crate::App;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Number;
use crate::monitor::MonitorChange;
use crate::monitor::MonitorError;
use crate::monitor::OpenedPane;
use crate::monitor::Permissions;
use crate::presence::AgentName;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::NameWish;

/// A request to open an agent: its caller, and the name and permissions of the new agent.
#[derive(Clone, Debug)]
pub struct MayOpenRequest {
    pub caller: CallerFacts,
    /// The requested name of the agent.
    pub name: Option<String>,
    pub permissions: Option<Permissions>,
    /// Whether the caller passes arguments of its own to the CLI.
    pub has_arguments: bool,
}

impl App {
    /// Returns the opener and a free name for the agent, or an error if the caller may not open it.
    pub fn may_open(&mut self, request: &MayOpenRequest) -> Result<(Actor, AgentName), MonitorError> {
        let opener = match self.caller(&request.caller)? {
            Caller::Person => Actor::Person,
            Caller::Anonymous(why) => return Err(why.into()),
            Caller::Agent(agent) => {
                let asks = self.engine.side_files().activity(&agent.session).and_then(|now| now.asks_first);
                let own = if asks == Some(false) { Permissions::Edit } else { Permissions::Ask };
                if request.has_arguments {
                    return Err(MonitorError::TooLoose { what: "arguments of its own" });
                }
                if request.permissions.is_some_and(|wanted| wanted > own) {
                    return Err(MonitorError::TooLoose { what: "more permissions than its own" });
                }
                Actor::Agent(agent.session)
            }
        };
        let wish = request.name.clone().map_or(NameWish::Any, NameWish::Insist);
        let opened = self.engine.read()?.panes()?.into_iter().filter_map(|record| record.opened);
        let promised: Vec<String> = opened.map(|opened| opened.name.to_string()).collect();
        Ok((opener, self.free_name(&wish, &promised)?))
    }

    /// Records that a pane was opened, and returns the pane's number.
    pub fn note_opened(&mut self, opened: OpenedPane) -> Result<Number, MonitorError> {
        let now = self.host.now();
        let (project, actor) = (opened.project.clone(), opened.by.clone());
        let tx = self.engine.write()?;
        let changes = vec![Change::Monitor(MonitorChange::Opened(Box::new(opened)))];
        let recorded = Self::conclude(&*self.host, tx, now, project, actor, changes)?;
        Ok(recorded.and_then(|recorded| recorded.numbers.first().copied().flatten()).unwrap_or_default())
    }
}
