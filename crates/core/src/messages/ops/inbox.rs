//! Reading one's letters because one asks for them.

use super::delivery_states;
use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::Process;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Seq;
use crate::messages::Correspondent;
use crate::messages::Flag;
use crate::messages::InboxRequest;
use crate::messages::Letter;
use crate::messages::MessageChange;
use crate::messages::rules::Hand;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

impl App {
    /// The letters not read yet, in the order they were sent. Unless it only
    /// peeks they are delivered with this, and [`App::has_read`] must follow
    /// once they were shown.
    pub fn inbox(&mut self, request: &InboxRequest) -> Result<Vec<Letter>, StoreError> {
        self.inbox_some(request, |_| true)
    }

    /// The same of some of them.
    pub fn inbox_some(
        &mut self,
        request: &InboxRequest,
        is_wanted: impl Fn(Seq) -> bool,
    ) -> Result<Vec<Letter>, StoreError> {
        let flags = self.engine.side_files();
        let waiting = |tx: &dyn Tx, host: &dyn Host| -> Result<Vec<Letter>, StoreError> {
            let mut letters = waiting(host, &*flags, tx, request)?;
            letters.retain(|letter| is_wanted(letter.message.number));
            Ok(letters)
        };
        let tx = self.engine.read()?;
        let letters = waiting(&*tx, &*self.host)?;
        drop(tx);
        if request.peek || letters.is_empty() {
            return Ok(letters);
        }
        let now = self.host.now();
        let hand = self.host.me().ok_or_else(|| StoreError::Failed("this process cannot be found".into()))?;
        let tx = self.engine.write()?;
        // What was there a moment ago may have been read since.
        let letters = waiting(&*tx, &*self.host)?;
        if letters.is_empty() {
            return Ok(letters);
        }
        let (to, numbers) = (request.mailbox.clone(), numbers(&letters));
        let delivered = Change::Messages(MessageChange::Delivered { to, numbers, hand });
        let project = project(&*tx, &request.mailbox)?;
        Self::conclude(&*self.host, tx, now, project, request.mailbox.clone(), vec![delivered])?;
        Ok(letters)
    }

    /// Notes that letters were shown to whoever asked for them.
    pub fn has_read(&mut self, mailbox: &Actor, letters: &[Letter]) -> Result<(), StoreError> {
        if letters.is_empty() {
            return Ok(());
        }
        let now = self.host.now();
        let mut tx = self.engine.write()?;
        let numbers = numbers(letters);
        if let Actor::Agent(session) = mailbox {
            // Which of the others a hook should hand over is for a hook to say.
            let unread = tx.unread(mailbox)?;
            if unread.iter().all(|letter| numbers.contains(&letter.message.number)) {
                tx.set_flag(session, Flag::default());
            }
        }
        let project = project(&*tx, mailbox)?;
        let read = Change::Messages(MessageChange::Read { to: mailbox.clone(), numbers });
        Self::conclude(&*self.host, tx, now, project, mailbox.clone(), vec![read])?;
        Ok(())
    }

    /// Notes that letters which were delivered could not be shown: whoever handed
    /// them over is as good as gone.
    pub fn has_not_shown(&mut self, mailbox: &Actor, letters: &[Letter]) -> Result<(), StoreError> {
        if letters.is_empty() {
            return Ok(());
        }
        let now = self.host.now();
        let tx = self.engine.write()?;
        let (to, numbers, hand) = (mailbox.clone(), numbers(letters), Process::default());
        let project = project(&*tx, mailbox)?;
        let delivered = Change::Messages(MessageChange::Delivered { to, numbers, hand });
        Self::conclude(&*self.host, tx, now, project, mailbox.clone(), vec![delivered])?;
        Ok(())
    }

    /// How many letters someone has not read.
    pub fn unread_count(&mut self, mailbox: &Actor) -> Result<usize, StoreError> {
        Ok(self.engine.read()?.unread_counts()?.remove(mailbox).unwrap_or(0))
    }
}

/// The letters that nobody has shown or is showing.
fn waiting(
    host: &dyn Host,
    flags: &dyn SideFiles,
    tx: &dyn Tx,
    request: &InboxRequest,
) -> Result<Vec<Letter>, StoreError> {
    let mut letters = tx.unread(&request.mailbox)?;
    let fate = delivery_states(host, flags, &request.mailbox);
    letters.retain_mut(|letter| {
        let fate = letter.hand.as_ref().map(&fate);
        letter.again = fate == Some(Hand::CutShort);
        let from = &letter.message.sent.from;
        let is_wanted = match &request.from {
            None => true,
            Some(Correspondent::Named(name)) => name.eq_ignore_ascii_case(&from.name),
            Some(Correspondent::Only(who)) => *who == from.who,
        };
        is_wanted && matches!(fate, None | Some(Hand::CutShort))
    });
    Ok(letters)
}

fn numbers(letters: &[Letter]) -> Vec<Seq> {
    letters.iter().map(|letter| letter.message.number).collect()
}

/// An agent's receipts are news of its project, the person's of all.
fn project(tx: &dyn Tx, mailbox: &Actor) -> Result<Option<ProjectId>, StoreError> {
    Ok(match mailbox {
        Actor::Agent(session) => tx.agent(session)?.map(|(agent, _)| agent.project.id),
        Actor::Person | Actor::Consort => None,
    })
}
