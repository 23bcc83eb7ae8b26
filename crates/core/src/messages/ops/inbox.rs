//! Messages verbs for a mailbox that is read on request: list the new letters, and mark them as read.

use super::delivery_states;
use super::name_projects;
use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::MachineProcess;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::messages::Correspondent;
use crate::messages::Letter;
use crate::messages::MailFlags;
use crate::messages::MessageChange;
use crate::messages::UnreadLettersRequest;
use crate::messages::rules::DeliveryState;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

impl App {
    /// Returns the letters not read yet, in the order they were sent. Unless the request only peeks, they are
    /// recorded as delivered, and [`App::mark_read`] must follow once they were shown.
    pub fn inbox(&mut self, request: &UnreadLettersRequest) -> Result<Vec<Letter>, StoreError> {
        self.inbox_where(request, |_| true)
    }

    /// Returns the letters as [`App::inbox`] does, but only those that `is_wanted` selects.
    pub fn inbox_where(
        &mut self,
        request: &UnreadLettersRequest,
        is_wanted: impl Fn(ChangeId) -> bool,
    ) -> Result<Vec<Letter>, StoreError> {
        let flags = self.engine.side_files();
        let waiting = |tx: &dyn Tx, host: &dyn Host| -> Result<Vec<Letter>, StoreError> {
            let mut letters = waiting(host, &*flags, tx, request)?;
            letters.retain(|letter| is_wanted(letter.message.id));
            name_projects(tx, None, letters.iter_mut().map(|letter| &mut letter.message))?;
            Ok(letters)
        };
        let tx = self.engine.read()?;
        let letters = waiting(&*tx, &*self.host)?;
        drop(tx);
        if request.peek || letters.is_empty() {
            return Ok(letters);
        }
        let now = self.host.now();
        let by = self
            .host
            .own_machine_process()
            .ok_or_else(|| StoreError::Failed("this process cannot be found".into()))?;
        let tx = self.engine.write()?;
        // Look again under the write lock: the letters may have been read since.
        let letters = waiting(&*tx, &*self.host)?;
        if letters.is_empty() {
            return Ok(letters);
        }
        let (to, messages) = (request.mailbox.clone(), ids(&letters));
        let delivered = Change::Messages(MessageChange::Delivered { to, messages, by });
        let project = project(&*tx, &request.mailbox)?;
        Self::conclude(&*self.host, tx, now, project, request.mailbox.clone(), vec![delivered])?;
        Ok(letters)
    }

    /// Records as read the letters that were shown to the caller.
    pub fn mark_read(&mut self, mailbox: &Actor, letters: &[Letter]) -> Result<(), StoreError> {
        if letters.is_empty() {
            return Ok(());
        }
        let now = self.host.now();
        let mut tx = self.engine.write()?;
        let messages = ids(letters);
        if let Actor::Agent(session) = mailbox {
            // If other letters are left, the flags stay: a hook decides which of them to deliver.
            let unread = tx.unread(mailbox)?;
            if unread.iter().all(|letter| messages.contains(&letter.message.id)) {
                tx.set_mail_flags(session, MailFlags::default());
            }
        }
        let project = project(&*tx, mailbox)?;
        let read = Change::Messages(MessageChange::Read { to: mailbox.clone(), messages });
        Self::conclude(&*self.host, tx, now, project, mailbox.clone(), vec![read])?;
        Ok(())
    }

    /// Records that delivered letters could not be shown, as if the delivering process had ended too early:
    /// they will be delivered again.
    pub fn mark_not_shown(&mut self, mailbox: &Actor, letters: &[Letter]) -> Result<(), StoreError> {
        if letters.is_empty() {
            return Ok(());
        }
        let now = self.host.now();
        let tx = self.engine.write()?;
        let (to, messages, by) = (mailbox.clone(), ids(letters), MachineProcess::default());
        let project = project(&*tx, mailbox)?;
        let delivered = Change::Messages(MessageChange::Delivered { to, messages, by });
        Self::conclude(&*self.host, tx, now, project, mailbox.clone(), vec![delivered])?;
        Ok(())
    }

    /// Counts the unread letters of a mailbox.
    pub fn unread_count(&mut self, mailbox: &Actor) -> Result<usize, StoreError> {
        Ok(self.engine.read()?.unread_counts()?.remove(mailbox).unwrap_or(0))
    }
}

/// Returns the requested letters that no process has shown or is showing.
fn waiting(
    host: &dyn Host,
    flags: &dyn SideFiles,
    tx: &dyn Tx,
    request: &UnreadLettersRequest,
) -> Result<Vec<Letter>, StoreError> {
    let mut letters = tx.unread(&request.mailbox)?;
    let state_of = delivery_states(host, flags, &request.mailbox);
    letters.retain_mut(|letter| {
        let state = letter.delivered_by.as_ref().map(&state_of);
        letter.again = state == Some(DeliveryState::CutShort);
        let from = &letter.message.sent.from;
        let is_wanted = match &request.from {
            None => true,
            Some(Correspondent::Named(name)) => name.eq_ignore_ascii_case(&from.name),
            Some(Correspondent::Only(who)) => *who == from.who,
        };
        is_wanted && matches!(state, None | Some(DeliveryState::CutShort))
    });
    Ok(letters)
}

fn ids(letters: &[Letter]) -> Vec<ChangeId> {
    letters.iter().map(|letter| letter.message.id).collect()
}

/// Returns the project that a mailbox's receipts are recorded in: an agent's own, or none for the person.
fn project(tx: &dyn Tx, mailbox: &Actor) -> Result<Option<ProjectId>, StoreError> {
    Ok(match mailbox {
        Actor::Agent(session) => tx.agent(session)?.map(|(agent, _)| agent.project.id),
        Actor::Person | Actor::Consort => None,
    })
}
