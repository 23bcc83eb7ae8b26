//! Formats messages with their receipts, for `inbox --sent` and `inbox --thread`.

use consort_core::Timestamp;
use consort_core::journal::Actor;
use consort_core::messages::DeliveryReceipt;
use consort_core::messages::LetterState;
use consort_core::messages::SentMessage;
use consort_core::messages::quote_message;
use consort_core::project::ProjectId;
use consort_core::text;

/// Formats whole messages, each with its state at every recipient.
pub(crate) fn posts(posts: &[SentMessage], reader: &Actor, here: &ProjectId, now: Timestamp) -> String {
    let mut shown = String::new();
    for post in posts {
        shown.push_str(&quote_message(&post.message, reader, Some(here), now));
        let receipts: Vec<String> =
            post.receipts.iter().map(|receipt| describe(receipt, reader, now)).collect();
        shown.push_str(&format!("  to {}\n", receipts.join(", ")));
    }
    shown
}

/// Formats a receipt: `Falcon (read 3m ago)`.
fn describe(receipt: &DeliveryReceipt, reader: &Actor, now: Timestamp) -> String {
    let name = if receipt.to == *reader { "you".into() } else { text::one_line(&receipt.name, 60) };
    let state = match receipt.state {
        LetterState::Waiting => "waiting",
        LetterState::Delivered => "delivered",
        LetterState::Read => "read",
    };
    match receipt.at.map(|at| text::age(now.since(at))).as_deref() {
        None => format!("{name} ({state})"),
        Some("now") => format!("{name} ({state} just now)"),
        Some(age) => format!("{name} ({state} {age} ago)"),
    }
}
