//! Presence verb that tells a session at its start who it is, which other agents are here, and what it has
//! left unfinished.

use crate::App;
use crate::claims;
use crate::config::HookSettings;
use crate::convergence;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::messages;
use crate::presence::Agent;
use crate::presence::JoinOutcome;
use crate::presence::Unfinished;
use crate::presence::wording;
use crate::presence::wording::Start;
use crate::side_files::SideFiles;

/// Most reservations of others that a session is told of.
const RESERVED: usize = 3;

/// Most reservations of its own, and most open conversations, that a session is reminded of.
const REMINDED: usize = 2;

impl App {
    /// Words what a session is told when it starts or goes on; [`App::note_roster_told`] must follow.
    pub fn start_text(
        &mut self,
        joined: &JoinOutcome,
        settings: HookSettings,
    ) -> Result<Option<String>, StoreError> {
        let (me, files) = (&joined.agent, self.engine.side_files());
        let topics = self.topics_in(&me.project.id);
        let tx = self.engine.read()?;
        let held = claims::others_holds(&*self.host, &*files, &*tx, me, RESERVED)?;
        // A failure here costs a reminder, not the rest.
        let unfinished = match joined.goes_on {
            true => unfinished(&*self.host, &*files, &*tx, me).unwrap_or_default(),
            false => Unfinished::default(),
        };
        let foreseen = match settings.convergence {
            true => convergence::predictions_for(&*tx, &me.session).unwrap_or_default(),
            false => Vec::new(),
        };
        drop(tx);
        let start = Start {
            me,
            others: &joined.others,
            unseen: joined.unseen.len(),
            topics: &topics,
            held: &held,
            unfinished: &unfinished,
            foreseen: &foreseen,
            now: self.host.now(),
        };
        Ok(wording::start(&start, settings))
    }
}

/// Returns the unfinished work of an agent: its reservations, its task, its open conversations.
fn unfinished(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    agent: &Agent,
) -> Result<Unfinished, StoreError> {
    let held = claims::held_by(host, files, tx, agent, REMINDED)?;
    let task = tx.task_of(&agent.session)?.map(|record| record.key);
    let mut threads = messages::open_threads(tx, agent, host.now())?;
    threads.truncate(REMINDED);
    Ok(Unfinished { held, task, threads })
}
