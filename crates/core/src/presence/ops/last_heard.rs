//! Presence verb that says when a hook of each agent CLI was last heard.

use std::collections::BTreeMap;

use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::presence::Agent;
use crate::presence::LeaveReason;

/// Beginning of the ids of sessions that were announced by our MCP server, not by a hook.
const NOT_BY_HOOK: &str = "mcp-";

impl App {
    /// Returns the time when a hook of each CLI was last heard, as far back as departures are kept.
    pub fn last_hook_times(&mut self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let (present, gone) = (tx.present()?, tx.left_since(Timestamp(0), usize::MAX)?);
        drop(tx);
        let present = present.into_iter().map(|agent| {
            let heard = files.activity(&agent.session).map(|activity| activity.last_active);
            let at = heard.unwrap_or(agent.joined_at);
            (agent, at)
        });
        // An end is reported by a hook; a death is noticed by other processes some time later.
        let gone = gone.into_iter().map(|(agent, left_at, reason)| {
            let at = if reason == LeaveReason::Ended { left_at } else { agent.joined_at };
            (agent, at)
        });
        let by_hook = |agent: &Agent| !agent.session.as_str().starts_with(NOT_BY_HOOK);
        let mut heard = BTreeMap::new();
        for (agent, at) in present.chain(gone).filter(|(agent, _)| by_hook(agent)) {
            let last = heard.entry(agent.kind).or_insert(at);
            *last = at.max(*last);
        }
        Ok(heard)
    }
}
