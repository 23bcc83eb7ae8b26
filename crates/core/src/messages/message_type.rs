//! What a message is for, and how urgent it is.

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;

/// The purpose of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    /// The message is only for information.
    #[default]
    Info,
    /// The sender wants an answer.
    Question,
    /// The sender works on something.
    Claim,
    /// The sender is done with something.
    Release,
    /// The sender proposes work to the recipient.
    Delegate,
    /// The sender hands work over, with everything known about it.
    Handoff,
    /// The message answers a question or a proposal.
    Ack,
    /// The sender cannot go on.
    Block,
}

impl MessageType {
    /// All types.
    pub const ALL: [Self; 8] = [
        Self::Info,
        Self::Question,
        Self::Claim,
        Self::Release,
        Self::Delegate,
        Self::Handoff,
        Self::Ack,
        Self::Block,
    ];

    /// Returns the type's name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Question => "question",
            Self::Claim => "claim",
            Self::Release => "release",
            Self::Delegate => "delegate",
            Self::Handoff => "handoff",
            Self::Ack => "ack",
            Self::Block => "block",
        }
    }

    /// Finds the type of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    pub(super) fn priority(self) -> Priority {
        match self {
            Self::Handoff | Self::Block => Priority::Urgent,
            _ => Priority::Normal,
        }
    }

    /// Returns the age up to which a letter of this type may interrupt a turn. The letter itself never
    /// expires.
    pub(super) fn lifetime(self) -> Option<i64> {
        let minutes = match self {
            Self::Info => 30,
            Self::Question => 15,
            Self::Delegate | Self::Handoff => 10,
            Self::Release | Self::Ack => 5,
            Self::Claim | Self::Block => return None,
        };
        Some(minutes * Timestamp::MINUTE)
    }
}

/// The urgency of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The message never keeps a turn going.
    Low,
    Normal,
    High,
    Urgent,
}

impl Priority {
    /// All priorities, lowest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Normal, Self::High, Self::Urgent];

    /// Returns the priority's name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Urgent => "urgent",
        }
    }

    /// Finds the priority of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.as_str() == name)
    }
}
