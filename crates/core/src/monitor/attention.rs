//! Decides whether a pane needs the person or its opener, for what reason, and with which remedies. Pure.

use serde::Serialize;

use super::PaneState;
use super::RecordedPaneState;

/// The reason an agent needs somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttentionReason {
    /// This variant and the five below mirror the [`PaneState`] of the same name.
    Permission,
    Question,
    Plan,
    Dialog,
    Limit,
    Error,
    /// The agent seems to have stalled, and no attempt to get it going has helped.
    Stalled,
    /// The agent's first prompt was not seen to arrive.
    Unconfirmed,
}

impl AttentionReason {
    /// Returns the reason, from the state that a pane shows and the state last recorded for it.
    pub fn of(state: PaneState, recorded: Option<RecordedPaneState>) -> Option<Self> {
        match state {
            PaneState::Permission => Some(Self::Permission),
            PaneState::Question => Some(Self::Question),
            PaneState::Plan => Some(Self::Plan),
            PaneState::Dialog => Some(Self::Dialog),
            PaneState::Limit => Some(Self::Limit),
            PaneState::Error => Some(Self::Error),
            PaneState::Working | PaneState::Retrying => {
                (recorded == Some(RecordedPaneState::Stalled)).then_some(Self::Stalled)
            }
            PaneState::Ready | PaneState::Suggestion | PaneState::Unknown => {
                (recorded == Some(RecordedPaneState::Unconfirmed)).then_some(Self::Unconfirmed)
            }
            PaneState::Starting
            | PaneState::Background
            | PaneState::Finished
            | PaneState::Exited
            | PaneState::Dead => None,
        }
    }

    /// Returns the reason as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Dialog => "dialog",
            Self::Limit => "limit",
            Self::Error => "error",
            Self::Stalled => "stalled",
            Self::Unconfirmed => "unconfirmed",
        }
    }

    /// Lists the remedies beside answering the dialog; a dialog has no others.
    pub fn remedies(self) -> &'static [Remedy] {
        match self {
            Self::Permission | Self::Question | Self::Plan | Self::Dialog => &[],
            Self::Limit | Self::Error | Self::Stalled | Self::Unconfirmed => &Remedy::ALL,
        }
    }
}

/// An action that people can take for an agent that does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Type a word into its terminal, or its first prompt again.
    Nudge,
    /// Leave the agent alone, and do not ask again until something has changed.
    Wait,
    /// End the agent.
    Close,
    /// Show the agent's terminal to the person.
    TakeOver,
}

impl Remedy {
    pub const ALL: [Self; 4] = [Self::Nudge, Self::Wait, Self::Close, Self::TakeOver];

    /// Returns the remedy's name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nudge => "nudge",
            Self::Wait => "wait",
            Self::Close => "close",
            Self::TakeOver => "take over",
        }
    }

    /// Finds the remedy that a word names; `take-over` and `take over` are the same.
    pub fn named(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase().replace('-', " ");
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_still_needs_somebody() {
        let stalled = Some(RecordedPaneState::Stalled);
        assert_eq!(AttentionReason::of(PaneState::Working, stalled), Some(AttentionReason::Stalled));
        assert_eq!(AttentionReason::of(PaneState::Finished, stalled), None, "a late completion counts");
        assert_eq!(
            AttentionReason::of(PaneState::Working, Some(RecordedPaneState::Unconfirmed)),
            None,
            "it has arrived"
        );
        let unconfirmed = Some(RecordedPaneState::Unconfirmed);
        assert_eq!(AttentionReason::of(PaneState::Ready, unconfirmed), Some(AttentionReason::Unconfirmed));
        for state in PaneState::ALL {
            let is_asked = state.has_menu() || state == PaneState::Error;
            assert_eq!(AttentionReason::of(state, None).is_some(), is_asked, "{state:?}");
        }
    }
}
