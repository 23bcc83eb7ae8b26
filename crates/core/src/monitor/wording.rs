//! Words the notices to an agent about the state of a pane that it opened.

use super::OpenedPane;
use super::PaneStateChange;
use super::RecordedState;
use crate::text;

/// Most characters of a question or an error that a notice quotes.
const ABOUT: usize = 300;

/// Words the notice to the agent that opened a pane, when the pane has come into a state that matters.
pub(crate) fn told_opener(turn: &PaneStateChange, opened: &OpenedPane) -> String {
    let name = &turn.name;
    let about =
        turn.about.as_deref().map_or_else(String::new, |about| format!(": {}", text::quoted(about, ABOUT)));
    match turn.state {
        RecordedState::Waiting => format!(
            "{name}, which you opened, waits for an answer{about}. A question you may answer: \
             `answer`; a permission is your user's."
        ),
        RecordedState::Limit => format!("{name}, which you opened, has reached a limit{about}."),
        RecordedState::Error => {
            format!("{name}, which you opened, stands at an error{about}. `screen` shows it.")
        }
        RecordedState::Finished => format!(
            "{name}, which you opened, has finished its turn. `screen` shows its last words; its work is in {}.",
            text::foreign(&opened.cwd.to_string_lossy(), 200)
        ),
        RecordedState::Stalled => format!(
            "{name}, which you opened, has shown no progress for long{about}. Leave its files alone: it may go on."
        ),
        RecordedState::Unconfirmed => {
            format!(
                "{name}, which you opened, has not been seen to take its first prompt. `screen` shows it."
            )
        }
        RecordedState::Exited => format!("{name}, which you opened, has ended{about}."),
        RecordedState::Dead => format!("{name}, which you opened, was ended{about}."),
        RecordedState::Working => format!("{name}, which you opened, goes on."),
    }
}
