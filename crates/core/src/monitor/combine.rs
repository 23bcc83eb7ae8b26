//! What an agent's hooks say and what its screen shows, put together. Pure.
//!
//! Where hooks are connected their word counts; the screen overrides it only for what has no
//! hook: an interrupted turn, a dialog, a limit, an error, an end.

use std::time::Duration;

use super::PaneState;
use crate::presence::Status;

/// How long the screen must contradict the hooks before it is believed about a turn.
const CONTRADICTS: Duration = Duration::from_secs(2);

/// The state of a pane: `heard` is what its hooks said last, `seen` what its screen shows, for
/// so long.
pub fn combine(heard: Option<Status>, seen: PaneState, held: Duration) -> PaneState {
    let is_idle = |state: PaneState| {
        matches!(
            state,
            PaneState::Ready | PaneState::Finished | PaneState::Suggestion | PaneState::Background
        )
    };
    match (heard, seen) {
        (None, seen) => seen,
        // No hook tells of these.
        (
            _,
            PaneState::Exited | PaneState::Dead | PaneState::Limit | PaneState::Error | PaneState::Retrying,
        ) => seen,
        (_, seen) if seen.has_menu() => seen,
        (Some(Status::Working), seen) if is_idle(seen) && held >= CONTRADICTS => seen,
        (Some(Status::Working), _) => PaneState::Working,
        (Some(Status::Waiting), PaneState::Unknown | PaneState::Starting) => PaneState::Permission,
        // It was answered: nothing works behind a dialog.
        (Some(Status::Waiting), PaneState::Working) => PaneState::Working,
        (Some(Status::Waiting), seen) if held >= CONTRADICTS => seen,
        (Some(Status::Waiting), _) => PaneState::Permission,
        (Some(_), PaneState::Working) if held >= CONTRADICTS => PaneState::Working,
        (Some(_), seen) if is_idle(seen) => seen,
        (Some(_), _) => PaneState::Ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_count_except_for_what_they_never_tell() {
        let (long, short) = (Duration::from_secs(5), Duration::from_millis(500));
        let working = Some(Status::Working);
        assert_eq!(combine(None, PaneState::Working, short), PaneState::Working);
        assert_eq!(combine(working, PaneState::Ready, short), PaneState::Working, "between two spinners");
        assert_eq!(combine(working, PaneState::Ready, long), PaneState::Ready, "an interrupt fires no hook");
        assert_eq!(combine(working, PaneState::Permission, short), PaneState::Permission);
        assert_eq!(combine(working, PaneState::Unknown, long), PaneState::Working);
        assert_eq!(combine(working, PaneState::Limit, short), PaneState::Limit);
        assert_eq!(combine(Some(Status::Idle), PaneState::Working, short), PaneState::Ready);
        assert_eq!(combine(Some(Status::Idle), PaneState::Finished, short), PaneState::Finished);
        assert_eq!(
            combine(Some(Status::Waiting), PaneState::Working, short),
            PaneState::Working,
            "it was answered"
        );
        assert_eq!(combine(Some(Status::Waiting), PaneState::Unknown, long), PaneState::Permission);
        assert_eq!(combine(Some(Status::Waiting), PaneState::Ready, short), PaneState::Permission);
        assert_eq!(
            combine(Some(Status::Waiting), PaneState::Ready, long),
            PaneState::Ready,
            "it was cancelled"
        );
        assert_eq!(combine(Some(Status::Idle), PaneState::Exited, short), PaneState::Exited);
    }
}
