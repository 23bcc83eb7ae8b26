//! What the screen wants done, and the door that does it.

use consort_core::Timestamp;

use crate::DetailTab;
use crate::Input;
use crate::Panel;

/// Something to be done outside of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Runs `consort` with these words, as the person would type them.
    Run(Errand),
    /// The same, with the terminal: it asks, or shows something of its own.
    InTerminal(Errand),
    /// Does what takes a word that was shown and typed back.
    Confirmed(Confirmed),
    /// Takes back that everyone may write a path.
    EndOverride {
        path: String,
        worktree: String,
    },
    /// Brings the pane of an agent to the front, or shows it in this terminal.
    Focus {
        agent: String,
    },
    /// Stops what an agent does, as Esc does in its own terminal.
    Interrupt {
        agent: String,
    },
    /// Changes a setting of the person's; without a value, it is nobody's own any more.
    Set {
        key: String,
        value: Option<String>,
        /// The line that it came from.
        typed: Option<Box<Input>>,
    },
    /// Marks the messages of an agent as read.
    MarkRead {
        from: String,
    },
    /// Asks the knowledge of this project: words, or an expression.
    Ask(String),
    /// What is looked at from now on: only that is gathered.
    Look(Interest),
    /// Draws everything again: something else has written to the terminal.
    Redraw,
    /// Puts a text into the clipboard of the terminal.
    Copy(String),
    Quit,
}

/// A command with its input, and how its outcome is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errand {
    pub words: Vec<String>,
    pub input: Option<String>,
    /// Where it is run, if not where the screen is.
    pub cwd: Option<String>,
    pub shown: Shown,
    /// The line that it came from: given back if it comes to nothing.
    pub typed: Option<Box<Input>>,
}

impl Errand {
    /// A command of these words.
    pub fn new<const N: usize>(words: [&str; N]) -> Self {
        Self { words: words.map(str::to_owned).to_vec(), ..Self::default() }
    }

    /// With this on its standard input.
    pub fn with_input(self, input: &str) -> Self {
        Self { input: Some(input.to_owned()), ..self }
    }

    /// In that directory.
    pub fn in_dir(self, dir: &str) -> Self {
        Self { cwd: Some(dir.to_owned()).filter(|dir| !dir.is_empty()), ..self }
    }

    /// With all that it prints shown.
    pub fn as_page(self) -> Self {
        Self { shown: Shown::Page, ..self }
    }
}

/// How the outcome of a command is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// A line at the bottom.
    #[default]
    Line,
    /// All that it printed, over the screen.
    Page,
}

/// What weakens protection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// Everyone may write a path for ten minutes.
    Override { path: String, worktree: String },
    /// Takes a reservation from its holder.
    Release { path: String, worktree: String },
    /// Changes a setting to what protects less.
    Set { key: String, value: Option<String> },
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    pub panel: Panel,
    /// The agent whose tab is open, by its key.
    pub agent: Option<String>,
    pub tab: DetailTab,
    /// How many lines of it are wanted.
    pub lines: usize,
}

/// Carries effects out. What comes of them arrives as [`crate::Event`]s, later.
pub trait Door {
    /// The person has pressed a key: now.
    fn touched(&mut self) -> Timestamp;

    /// Begins to carry it out, and does not wait.
    fn carry_out(&mut self, effect: Effect);

    /// Runs `consort` with these words in the terminal, which is the command's until it ends.
    fn in_terminal(&mut self, errand: &Errand);
}
