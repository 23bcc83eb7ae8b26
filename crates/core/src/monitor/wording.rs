//! Words the notices to an agent about the state of a pane that it opened.

use super::OpenedPane;
use super::PaneStateChange;
use super::RecordedPaneState;
use crate::text;

/// Most characters of a question or an error that a notice quotes.
const ABOUT: usize = 300;

/// Words the notice to the agent that opened a pane, when the pane has come into a state that matters.
pub(crate) fn told_opener(turn: &PaneStateChange, opened: &OpenedPane) -> String {
    let name = &turn.name;
    let about =
        turn.about.as_deref().map_or_else(String::new, |about| format!(": {}", text::quoted(about, ABOUT)));
    match turn.state {
        RecordedPaneState::Waiting => format!(
            "{name}, which you opened, waits for an answer{about}. A question you may answer: \
             `answer`; a permission is your user's."
        ),
        RecordedPaneState::Limit => format!("{name}, which you opened, has reached a limit{about}."),
        RecordedPaneState::Error => {
            format!("{name}, which you opened, stands at an error{about}. `screen` shows it.")
        }
        RecordedPaneState::Finished => format!(
            "{name}, which you opened, has finished its turn. `screen` shows its last words; its work is in {}.",
            text::foreign(&opened.cwd.to_string_lossy(), 200)
        ),
        RecordedPaneState::Stalled => format!(
            "{name}, which you opened, has shown no progress for long{about}. Leave its files alone: it may go on."
        ),
        RecordedPaneState::Unconfirmed => {
            format!(
                "{name}, which you opened, has not been seen to take its first prompt. `screen` shows it."
            )
        }
        RecordedPaneState::Exited => format!("{name}, which you opened, has ended{about}."),
        RecordedPaneState::Dead => format!("{name}, which you opened, was ended{about}."),
        RecordedPaneState::Working => format!("{name}, which you opened, goes on."),
    }
}
