//! What can happen to the screen.

use consort_core::Timestamp;
use crossterm::event::KeyEvent;
use crossterm::event::MouseEvent;

use crate::Agent;
use crate::Confirmed;
use crate::DetailText;
use crate::Errand;
use crate::FeedLine;
use crate::Heading;
use crate::Item;
use crate::Message;
use crate::Pair;
use crate::Reservation;
use crate::Run;
use crate::Setting;
use crate::Task;

/// Something that has happened.
#[derive(Clone, Debug)]
pub enum Event {
    Key(KeyEvent),
    Mouse(MouseEvent),
    /// A text was pasted.
    Paste(String),
    Resize(u16, u16),
    News(Vec<News>),
    /// What was asked for takes the terminal: `consort` with these words.
    Terminal(Vec<String>),
    /// What was asked for is to be confirmed by a word.
    Ask(Confirmed),
    /// A command has ended.
    Done(Outcome),
}

/// What is new of what is shown. Only what has changed is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// Time has passed.
    Now(Timestamp),
    Agents(Vec<Agent>),
    Queue(Vec<Item>),
    Messages(Vec<Message>),
    Reservations(Vec<Reservation>),
    Tasks(Vec<Task>),
    Radar(Vec<Pair>, Vec<Heading>),
    Runs(Vec<Run>),
    /// Entries that were added to the journal.
    Feed(Vec<FeedLine>),
    /// Another store is there: what was read of the last one is gone.
    FeedBegins,
    Settings(Vec<Setting>),
    Detail(DetailText),
    /// What was found of what was asked.
    Found(String, Vec<String>),
    /// What keeps the screen from being up to date; or nothing any more.
    Trouble(Option<String>),
    /// A line to be shown once.
    Notice(String),
}

/// How a command has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub errand: Errand,
    pub is_well: bool,
    /// What it printed, on either stream.
    pub text: String,
}
