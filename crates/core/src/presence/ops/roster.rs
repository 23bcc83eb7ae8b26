//! Presence verbs that tell a session which agents have come and gone.

use std::collections::BTreeSet;

use super::partition_alive;
use crate::App;
use crate::claims;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::presence::Agent;
use crate::presence::JoinOutcome;
use crate::presence::LeaveReason;
use crate::presence::SessionId;
use crate::presence::wording;
use crate::presence::wording::Arrival;
use crate::side_files::SideFiles;

impl App {
    /// Words the news for a session, each item once: agents that joined its project, their reservations of
    /// its files, and departed agents that it had dealt with. Without news it opens no database.
    pub fn roster_news(
        &mut self,
        session: &SessionId,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let files = self.engine.side_files();
        if !files.take_roster_news(session) {
            return Ok(None);
        }
        let tx = self.engine.read()?;
        let Some((me, None)) = tx.agent(session)? else { return Ok(None) };
        if !hook_settings(&*tx, &me.location.worktree, environment)?.tells_arrivals() {
            return Ok(None);
        }
        let (present, _) = partition_alive(&*self.host, &*files, tx.present()?);
        let others = present.iter().filter(|one| one.session != *session);
        let others: Vec<&Agent> = others.filter(|one| one.project.id == me.project.id).collect();
        let mut came = Vec::new();
        for agent in files.not_met(session, others) {
            let in_the_way = claims::in_the_way_of(&*self.host, &*files, &*tx, agent, &me)?;
            came.push(Arrival { agent, in_the_way });
        }
        let gone = departed(&*files, &*tx, session, &present)?;
        Ok(wording::roster(&came, &gone.iter().collect::<Vec<_>>()))
    }

    /// Notes that a session was told which agents are here when it joined.
    pub fn note_roster_told(&mut self, told: &JoinOutcome) {
        let (session, files) = (&told.agent.session, self.engine.side_files());
        let others = told.others.iter().map(|seen| &seen.agent).chain(&told.unseen).collect();
        let _ = files.not_met(session, others);
        if let Some(count) = &told.arrival_count {
            files.note_roster_known(session, count);
        }
    }
}

/// Returns the agents that a session had dealt with and that are gone, each only once.
fn departed(
    files: &dyn SideFiles,
    tx: &dyn Tx,
    session: &SessionId,
    present: &[Agent],
) -> Result<Vec<Agent>, StoreError> {
    let mut gone = Vec::new();
    let met: BTreeSet<SessionId> = files.read_log(session).met();
    for other in met.iter().filter(|other| present.iter().all(|agent| agent.session != **other)) {
        let Some((agent, reason)) = tx.agent(other)? else { continue };
        if reason != Some(LeaveReason::Replaced) && !files.note_notified(session, &format!("gone {other}")) {
            gone.push(agent);
        }
    }
    Ok(gone)
}
