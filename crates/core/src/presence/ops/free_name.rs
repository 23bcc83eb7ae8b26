//! Presence verb that finds a name for an agent that is yet to come.

use super::partition_alive;
use super::random_number;
use crate::App;
use crate::presence::AgentName;
use crate::presence::NameWish;
use crate::presence::PresenceError;
use crate::presence::rules;

impl App {
    /// A name that no present agent has, and none of those in `promised`. An agent that joins
    /// with it may still find it taken, and gets one like it then.
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
