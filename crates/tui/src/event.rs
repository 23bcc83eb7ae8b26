//! The events that the screen reacts to.

use consort_core::Timestamp;
use crossterm::event::KeyEvent;
use crossterm::event::MouseEvent;

use crate::AgentInfo;
use crate::AgentTabText;
use crate::AgentTopicsInfo;
use crate::CommandRun;
use crate::FeedLine;
use crate::Item;
use crate::MessageInfo;
use crate::Pair;
use crate::ReservationInfo;
use crate::RunInfo;
use crate::SettingInfo;
use crate::TaskInfo;
use crate::WeakeningChange;

/// An event from the terminal or from the door.
#[derive(Clone, Debug)]
pub enum Event {
    Key(KeyEvent),
    Mouse(MouseEvent),
    /// A text was pasted.
    Paste(String),
    Resize(u16, u16),
    News(Vec<News>),
    /// An effect needs the terminal, to run `consort` with these words.
    Terminal(Vec<String>),
    /// A change has to be confirmed by a typed word.
    Ask(WeakeningChange),
    /// A command has ended.
    Done(CommandOutcome),
}

/// New data for the screen. Only data that has changed is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// The present time.
    Now(Timestamp),
    Agents(Vec<AgentInfo>),
    Queue(Vec<Item>),
    Messages(Vec<MessageInfo>),
    Reservations(Vec<ReservationInfo>),
    Tasks(Vec<TaskInfo>),
    Radar(Vec<Pair>, Vec<AgentTopicsInfo>),
    Runs(Vec<RunInfo>),
    /// Entries that were added to the journal.
    Feed(Vec<FeedLine>),
    /// The feed starts again with no entries, because another store has replaced the last one.
    FeedBegins,
    Settings(Vec<SettingInfo>),
    Detail(AgentTabText),
    /// A question to the knowledge, and the lines that were found.
    Found(String, Vec<String>),
    /// The reason why the screen is not up to date; `None` once it is again.
    Trouble(Option<String>),
    /// A line to be shown once.
    Notice(String),
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutcome {
    pub command: CommandRun,
    pub is_well: bool,
    /// The output of the command, on either stream.
    pub text: String,
}
