//! Messages verbs that deliver waiting letters to a session through its hooks, and record them as read.

use super::delivery_states;
use super::name_projects;
use crate::App;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::MachineProcess;
use crate::journal::Actor;
use crate::journal::Change;
use crate::messages::DeliveredBatch;
use crate::messages::DeliveryPoint;
use crate::messages::MessageChange;
use crate::messages::quote;
use crate::messages::rules;
use crate::messages::rules::DeliveryPlan;
use crate::messages::rules::DeliveryState;
use crate::presence::SessionId;
use crate::time::Timestamp;

/// Most waiting letters that one hook delivers; the next delivers more.
const MOST: usize = 24;

/// Most waiting letters that a hook looks at where the first are not for this moment.
const MOST_LOOKED_AT: usize = 512;

impl App {
    /// Collects the letters that a hook delivers to its session at this moment, and records them as
    /// delivered; [`App::note_batch_shown`] must follow once they were written out. Records letters delivered before as
    /// read if the moment proves it. Opens no database if the flags say that there is nothing to do.
    pub fn collect(
        &mut self,
        session: &SessionId,
        moment: DeliveryPoint,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<DeliveredBatch>, StoreError> {
        let flags = self.engine.side_files();
        if !moment.concerns(flags.mail_flags(session)) {
            return Ok(None);
        }
        let now = self.host.now();
        let mailbox = Actor::Agent(session.clone());
        // At the start there is usually no mail: check with a read transaction first.
        if moment == DeliveryPoint::Start && !self.engine.read()?.has_unread(&mailbox)? {
            return Ok(None);
        }
        let mut tx = self.engine.write()?;
        let Some((me, None)) = tx.agent(session)? else { return Ok(None) };
        let (mut plan, is_more) =
            planned(&*tx, &mailbox, moment, now, delivery_states(&*self.host, &*flags, &mailbox))?;

        let mut changes = Vec::new();
        if !plan.read.is_empty() {
            let (to, messages) = (mailbox.clone(), plan.read.clone());
            changes.push(Change::Messages(MessageChange::Read { to, messages }));
        }
        let mut batch = None;
        let mut handed = 0;
        if !plan.hand.is_empty()
            && let Some(by) = self.host.own_machine_process()
        {
            let settings = hook_settings(&*tx, &me.location.worktree, environment)?;
            let known =
                if settings.introduces_senders() { flags.introduced_senders(session) } else { Vec::new() };
            let is_stranger = |who: &Actor| !known.contains(&who.to_string());
            let handed_over = plan.hand.iter_mut().map(|letter| &mut letter.message);
            name_projects(&*tx, Some(&me.project.id), handed_over)?;
            let (text, count) = quote::batch(
                &plan.hand,
                settings,
                &me.project.id,
                is_more,
                is_stranger,
                now,
                moment.budget(),
            );
            handed = count;
            let now_handed = &plan.hand[..count];
            let messages = now_handed.iter().map(|letter| letter.message.id).collect();
            let delivered = MessageChange::Delivered { to: mailbox.clone(), messages, by: by.clone() };
            changes.push(Change::Messages(delivered));
            if settings.introduces_senders() {
                let mut met: Vec<&Actor> =
                    now_handed.iter().map(|letter| &letter.message.sent.from.who).collect();
                met.sort();
                met.dedup();
                met.retain(|who| is_stranger(who));
                let met: Vec<String> = met.into_iter().map(ToString::to_string).collect();
                // A failure is harmless: the senders would be introduced twice.
                if !met.is_empty() {
                    let _ = flags.note_introduced(session, &met);
                }
            }
            batch = Some(DeliveredBatch { text, session: session.clone(), by });
        }
        let mut flag = rules::flag_after(&plan, handed, now);
        if is_more {
            // The next hook looks at the remaining letters, unless this one found none for a tool's result.
            flag.later = true;
            flag.new |= handed > 0 || !moment.hands_over();
        }
        tx.set_mail_flags(session, flag);
        Self::conclude(&*self.host, tx, now, Some(me.project.id), mailbox, changes)?;
        Ok(batch)
    }

    /// Notes that a batch was written out in full, to the last byte.
    pub fn note_batch_shown(&mut self, batch: &DeliveredBatch) -> Result<(), StoreError> {
        self.engine.side_files().note_shown(&batch.session, &batch.by)
    }
}

/// Decides what becomes of the letters of a mailbox at this moment; says too whether there are more.
fn planned(
    tx: &dyn Tx,
    mailbox: &Actor,
    moment: DeliveryPoint,
    now: Timestamp,
    states: impl Fn(&MachineProcess) -> DeliveryState,
) -> Result<(DeliveryPlan, bool), StoreError> {
    // A hook that delivers no letters need only know whether there are any.
    let most = if moment.hands_over() { MOST } else { 1 };
    let earlier = rules::judge_deliveries(&tx.deliveries(mailbox)?, moment, now, states);
    let (letters, is_more) = tx.most_urgent(mailbox, &earlier.settled(), most)?;
    let plan = rules::plan(letters, &earlier, moment, now);
    if !(moment.hands_over() && is_more && plan.hand.is_empty()) {
        return Ok((plan, is_more));
    }
    // The oldest are too old to be shown with a tool's result; there may be fresh ones behind them.
    let (letters, is_more) = tx.most_urgent(mailbox, &earlier.settled(), MOST_LOOKED_AT)?;
    let mut plan = rules::plan(letters, &earlier, moment, now);
    let rest = plan.hand.split_off(plan.hand.len().min(MOST));
    let is_more = is_more || !rest.is_empty();
    plan.rest.extend(rest);
    Ok((plan, is_more))
}
