//! Combines the status that an agent's hooks report with the state that its screen shows. Pure.
//!
//! If hooks are connected, they decide; the screen overrides them only for events that have no hook: an
//! interrupted turn, a dialog, a limit, an error, an exit.

use std::time::Duration;

use super::PaneState;
use crate::presence::Status;

/// Time that the screen must contradict the hooks before the screen is believed about a turn.
const CONTRADICTS: Duration = Duration::from_secs(2);

/// Returns the state of a pane: `heard` is what its hooks said last, `seen` what its screen has shown for
/// the time `held`.
pub fn combine(heard: Option<Status>, seen: PaneState, held: Duration) -> PaneState {
    let is_idle = |state: PaneState| {
        matches!(
            state,
            PaneState::Ready | PaneState::Finished | PaneState::Suggestion | PaneState::Background
        )
    };
    match (heard, seen) {
        (None, seen) => seen,
        // No hook reports these.
        (
            _,
            PaneState::Exited | PaneState::Dead | PaneState::Limit | PaneState::Error | PaneState::Retrying,
        ) => seen,
        (_, seen) if seen.has_menu() => seen,
        (Some(Status::Working), seen) if is_idle(seen) && held >= CONTRADICTS => seen,
        (Some(Status::Working), _) => PaneState::Working,
        (Some(Status::Waiting), PaneState::Unknown | PaneState::Starting) => PaneState::Permission,
        // The dialog was answered: an agent does not work while it shows one.
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
