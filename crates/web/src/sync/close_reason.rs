//! The reasons for closing a y-websocket connection, with their close codes.

use axum::extract::ws::CloseFrame;
use axum::extract::ws::Message;
use axum::extract::ws::close_code;
use consort_core::engine::StoreError;
use consort_knowledge::document::CrdtError;

/// Most bytes of a reason in a close frame, beside its code.
const LONGEST: usize = 123;

/// The reason for closing a connection. A y-websocket client connects again by itself, except
/// after codes from 4400 to 4499: those say that this would not help.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CloseReason {
    code: u16,
    reason: String,
}

impl CloseReason {
    pub(super) fn malformed(why: impl std::fmt::Display) -> Self {
        Self { code: 4400, reason: why.to_string() }
    }

    /// Makes the reason for a failure that may pass, such as a busy store.
    pub(super) fn later(why: impl std::fmt::Display) -> Self {
        Self { code: 4503, reason: why.to_string() }
    }

    pub(super) fn behind() -> Self {
        Self::later("this peer fell behind, or the store was replaced: connect again")
    }

    pub(super) fn ending() -> Self {
        Self { code: close_code::AWAY, reason: "the server ends".into() }
    }

    /// Makes the reason for entries of the journal that make no document.
    pub(super) fn internal(error: &CrdtError) -> Self {
        Self { code: 4500, reason: format!("the document cannot be made: {error}") }
    }

    pub(super) fn message(self) -> Message {
        let reason = &self.reason[..self.reason.floor_char_boundary(LONGEST)];
        Message::Close(Some(CloseFrame { code: self.code, reason: reason.into() }))
    }
}

impl From<StoreError> for CloseReason {
    fn from(error: StoreError) -> Self {
        Self::later(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_letters() {
        let Message::Close(Some(frame)) = CloseReason::malformed("ä".repeat(100)).message() else {
            panic!()
        };
        assert_eq!((frame.code, frame.reason.len()), (4400, 122));
    }
}
