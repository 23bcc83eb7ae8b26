//! The messages room: what agents say to each other, and what each has read.
//!
//! A [`Message`] is known by its number, which is its entry's place in the
//! journal; its text is kept there and nowhere else. Each recipient has a
//! *letter* of its own: waiting, then delivered (handed to it, by a process
//! that is named), then read.
//!
//! A process that delivers a letter records that first, shows it, and only then has
//! it read: by a hook's next event, or at once where the reader asked for it.
//! A letter whose handing was cut short is handed again, and says so.
//!
//! **A message that was acknowledged is read once by each recipient; what is
//! shown twice is marked as shown again.**

mod error;
mod mail_flags;
mod model;
mod ops;
mod quote;
mod rules;
mod store;
#[cfg(test)]
mod tests;
mod wording;

pub use error::MessageError;
pub use error::Refusal;
pub use model::Correspondent;
pub use model::DeliveredBatch;
pub use model::DeliveryPoint;
pub use model::InboxRequest;
pub(crate) use model::LONGEST_PROJECT;
pub use model::Letter;
pub use model::LetterState;
pub use model::MailFlag;
pub use model::Message;
pub use model::MessageChange;
pub use model::MessageName;
pub use model::MessageType;
pub use model::OpenThread;
pub use model::Priority;
pub use model::Receipt;
pub use model::Recipient;
pub use model::Recipients;
pub use model::RecordedMessage;
pub use model::RepliedTo;
pub use model::SendOutcome;
pub use model::SendRequest;
pub use model::Sender;
pub use model::SentMessage;
pub use model::WakeCheck;
pub(crate) use ops::forget_before;
pub(crate) use ops::notice;
pub(crate) use ops::open_threads;
pub(crate) use ops::remark;
pub(crate) use ops::take_back;
pub(crate) use ops::unread_counts;
pub use quote::letter as quote_letter;
pub use quote::message as quote_message;
pub use rules::LONGEST_TEXT;
pub(crate) use rules::inherited;
pub(crate) use rules::meant_for_the_name;
pub use store::MessageStore;
