//! The messages room: the messages that agents and the person send each other, their delivery, and receipts.
//!
//! A [`Message`] has an id and, for people, a number within its project; its text is
//! stored only in its journal entry. Each recipient has a *letter* of its own: waiting,
//! then delivered (handed over by a recorded process), then read.
//!
//! A process that delivers a letter first records the delivery, then shows the letter.
//! The letter is marked as read afterwards: by a later event of the session's hooks, or
//! at once if the reader asked for it. A letter whose delivery was cut short is
//! delivered again, and says so.
//!
//! **Each recipient reads an acknowledged message once; a letter that is shown twice is
//! marked as shown again.**

mod error;
mod mail_flags;
mod message_type;
mod model;
mod ops;
mod quote;
mod rules;
mod store;
#[cfg(test)]
mod tests;
mod wording;

pub use error::MessageError;
pub use error::MessageRefusal;
pub use message_type::MessageType;
pub use message_type::Priority;
pub use model::Correspondent;
pub use model::DeliveredBatch;
pub use model::Delivery;
pub use model::DeliveryPoint;
pub use model::DeliveryReceipt;
pub(crate) use model::LONGEST_PROJECT;
pub use model::Letter;
pub use model::LetterState;
pub use model::MailFlags;
pub use model::Message;
pub use model::MessageChange;
pub use model::MessageName;
pub use model::OpenThread;
pub use model::Recipient;
pub use model::Recipients;
pub use model::RecordedMessage;
pub use model::RepliedTo;
pub use model::SendOutcome;
pub use model::SendRequest;
pub use model::Sender;
pub use model::SentMessage;
pub use model::UnreadLettersRequest;
pub use model::WakeCheck;
pub(crate) use ops::forget_before;
pub(crate) use ops::notice;
pub(crate) use ops::open_threads;
pub(crate) use ops::remark;
pub(crate) use ops::take_back;
pub(crate) use ops::unread_counts;
pub use quote::message as quote_message;
pub use quote::render_letter as quote_letter;
pub use rules::LONGEST_TEXT;
pub(crate) use rules::inherited;
pub(crate) use rules::meant_for_the_name;
pub use store::MessageStore;
