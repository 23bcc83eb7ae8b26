//! Looking back: what was sent, and how far it has come.

use super::name_of;
use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::Seq;
use crate::messages::MessageError;
use crate::messages::Refusal;
use crate::messages::SentMessage;

impl App {
    /// The last messages that someone sent, with their receipts.
    pub fn sent(&mut self, from: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError> {
        let tx = self.engine.read()?;
        named(&*tx, tx.sent_by(from, limit)?)
    }

    /// The thread that a message belongs to.
    pub fn thread(&mut self, number: Seq) -> Result<Vec<SentMessage>, MessageError> {
        let tx = self.engine.read()?;
        let message = tx.message(number)?.ok_or(Refusal::NoSuchMessage { number })?;
        Ok(named(&*tx, tx.thread(message.thread())?)?)
    }

    /// The last messages between two.
    pub fn between(
        &mut self,
        one: &Actor,
        other: &Actor,
        limit: usize,
    ) -> Result<Vec<SentMessage>, StoreError> {
        let tx = self.engine.read()?;
        named(&*tx, tx.between(one, other, limit)?)
    }
}

/// Receipts with the names their owners have now.
fn named(tx: &dyn Tx, mut posts: Vec<SentMessage>) -> Result<Vec<SentMessage>, StoreError> {
    for receipt in posts.iter_mut().flat_map(|post| &mut post.receipts) {
        receipt.name = name_of(tx, &receipt.to)?;
    }
    Ok(posts)
}
