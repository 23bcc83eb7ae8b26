//! Presence verb that finds a free name for an agent before it starts.

use super::partition_alive;
use super::random_number;
use crate::App;
use crate::presence::AgentName;
use crate::presence::NameWish;
use crate::presence::PresenceError;
use crate::presence::rules;

impl App {
    /// Returns a name that no present agent has and that is not in `promised`. The name may still be taken
    /// when the agent joins, which then gets a similar one.
    pub fn free_name(&mut self, wish: &NameWish, promised: &[String]) -> Result<AgentName, PresenceError> {
        let files = self.engine.side_files();
        let (present, _) = partition_alive(&*self.host, &*files, self.engine.read()?.present()?);
        let taken: Vec<&str> = present
            .iter()
            .map(|agent| agent.name.as_str())
            .chain(promised.iter().map(String::as_str))
            .collect();
        rules::settle_name(wish, None, random_number(&*self.host), &taken).map(Into::into)
    }
}
