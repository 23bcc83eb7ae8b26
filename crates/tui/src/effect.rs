//! The effects that the screen asks for, and the door that carries them out.

use consort_core::Timestamp;

use crate::DetailTab;
use crate::Input;
use crate::Panel;

/// An action outside of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Runs `consort` with these words, as the person would type them.
    Run(CommandRun),
    /// Runs `consort` with the terminal, for a command that asks or has a screen of its own.
    InTerminal(CommandRun),
    /// Carries out a change that the person has confirmed by typing the word that was shown.
    Confirmed(WeakeningChange),
    /// Ends an override, by which everyone may write a path.
    EndOverride {
        path: String,
        worktree: String,
    },
    /// Brings the pane of an agent to the front, or shows it in this terminal.
    Focus {
        agent: String,
    },
    /// Interrupts an agent, as Esc does in its own terminal.
    Interrupt {
        agent: String,
    },
    /// Changes a setting in the person's file; without a value, removes it from that file.
    Set {
        key: String,
        value: Option<String>,
        /// The input line that the value was typed in.
        typed: Option<Box<Input>>,
    },
    /// Marks the messages of an agent as read.
    MarkRead {
        from: String,
    },
    /// Searches the knowledge of this project for words, or evaluates an expression.
    Ask(String),
    /// Says which part of the screen the person looks at: the door gathers only its data.
    Look(Interest),
    /// Draws everything again, because something else has written to the terminal.
    Redraw,
    /// Puts a text into the clipboard of the terminal.
    Copy(String),
    Quit,
}

/// A `consort` command with its input and the form in which its outcome is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRun {
    pub words: Vec<String>,
    pub input: Option<String>,
    /// The directory that the command runs in, if not the screen's.
    pub cwd: Option<String>,
    pub shown: OutcomeForm,
    /// The input line that the command came from, given back if the command fails.
    pub typed: Option<Box<Input>>,
}

impl CommandRun {
    /// Makes a command of these words.
    pub fn new<const N: usize>(words: [&str; N]) -> Self {
        Self { words: words.map(str::to_owned).to_vec(), ..Self::default() }
    }

    /// Sets the command's standard input.
    pub fn with_input(self, input: &str) -> Self {
        Self { input: Some(input.to_owned()), ..self }
    }

    /// Sets the directory that the command runs in; an empty one stands for the screen's.
    pub fn in_dir(self, dir: &str) -> Self {
        Self { cwd: Some(dir.to_owned()).filter(|dir| !dir.is_empty()), ..self }
    }

    /// Makes the screen show everything that the command prints.
    pub fn as_page(self) -> Self {
        Self { shown: OutcomeForm::Page, ..self }
    }
}

/// The form in which the outcome of a command is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutcomeForm {
    /// A line at the bottom.
    #[default]
    Line,
    /// Everything that the command printed, on a page over the screen.
    Page,
}

/// A change that weakens protection, and so has to be confirmed by a typed word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeakeningChange {
    /// Lets everyone write a path for ten minutes.
    Override { path: String, worktree: String },
    /// Takes a reservation from its holder.
    Release { path: String, worktree: String },
    /// Changes a setting to a value that protects less.
    Set { key: String, value: Option<String> },
}

/// The part of the screen that the person looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    pub panel: Panel,
    /// The agent whose tab is open, by its key.
    pub agent: Option<String>,
    pub tab: DetailTab,
    /// The number of lines of the tab that are wanted.
    pub lines: usize,
}

/// Carries effects out. Their outcomes arrive later, as [`crate::Event`]s.
pub trait EffectRunner {
    /// Notes that the person has just pressed a key, and returns the time.
    fn touched(&mut self) -> Timestamp;

    /// Begins to carry an effect out, without waiting for it.
    fn carry_out(&mut self, effect: Effect);

    /// Runs `consort` in the terminal, which belongs to the command until it ends.
    fn in_terminal(&mut self, command: &CommandRun);
}
