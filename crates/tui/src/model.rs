//! The model: the whole state of the screen, with its panels, tabs, selection and input.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use consort_core::Timestamp;
use ratatui_core::layout::Rect;

use crate::Data;
use crate::Effect;
use crate::Interest;
use crate::LineEdit;
use crate::WeakeningChange;

/// A panel of the screen, in the order of the digits that open them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panel {
    #[default]
    Agents,
    Messages,
    Tasks,
    Reservations,
    Radar,
    Runs,
    Knowledge,
    Settings,
    Feed,
}

impl Panel {
    pub const ALL: [Self; 9] = [
        Self::Agents,
        Self::Messages,
        Self::Tasks,
        Self::Reservations,
        Self::Radar,
        Self::Runs,
        Self::Knowledge,
        Self::Settings,
        Self::Feed,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Agents => "Agents",
            Self::Messages => "Messages",
            Self::Tasks => "Tasks",
            Self::Reservations => "Reserved",
            Self::Radar => "Radar",
            Self::Runs => "Runs",
            Self::Knowledge => "Knowledge",
            Self::Settings => "Settings",
            Self::Feed => "Feed",
        }
    }

    /// Returns the title for narrow terminals.
    pub(crate) fn short_title(self) -> &'static str {
        match self {
            Self::Messages => "Msgs",
            Self::Reservations => "Resv",
            Self::Knowledge => "Know",
            Self::Settings => "Set",
            panel => panel.title(),
        }
    }

    /// Returns the panel's index, from 0.
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|panel| *panel == self).unwrap_or(0)
    }

    pub(crate) fn after(self, steps: isize) -> Self {
        let count = Self::ALL.len() as isize;
        Self::ALL[(self.index() as isize + steps).rem_euclid(count) as usize]
    }
}

/// A tab of the detail about one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetailTab {
    #[default]
    Activity,
    Pane,
    Messages,
    Diff,
    Work,
    Run,
    Handoff,
}

impl DetailTab {
    pub const ALL: [Self; 7] =
        [Self::Activity, Self::Pane, Self::Messages, Self::Diff, Self::Work, Self::Run, Self::Handoff];

    pub fn title(self) -> &'static str {
        match self {
            Self::Activity => "Activity",
            Self::Pane => "Pane",
            Self::Messages => "Messages",
            Self::Diff => "Diff",
            Self::Work => "Work",
            Self::Run => "Run",
            Self::Handoff => "Handoff",
        }
    }

    pub fn index(self) -> usize {
        Self::ALL.iter().position(|tab| *tab == self).unwrap_or(0)
    }
}

/// A tab of the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ChatTab {
    #[default]
    Agents,
    With(String),
    All,
}

/// The part of the screen that keys act on while nothing is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FocusedFrame {
    /// The queue of items that need the person.
    Queue,
    #[default]
    Main,
}

/// The order of agents within their group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Attention,
    Name,
    Age,
    Lines,
}

impl Sort {
    pub const ALL: [Self; 4] = [Self::Attention, Self::Name, Self::Age, Self::Lines];

    pub fn words(self) -> &'static str {
        match self {
            Self::Attention => "who needs you",
            Self::Name => "name",
            Self::Age => "last active",
            Self::Lines => "lines changed",
        }
    }
}

/// The purpose of an input line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPurpose {
    /// An answer to an item of the queue, by its key; `given` has the answers to the earlier ones of several
    /// questions.
    Answer {
        item: String,
        given: Vec<String>,
    },
    Message(String),
    Reply {
        to: String,
        called: String,
    },
    Broadcast,
    Filter,
    Command,
    /// A task for a run.
    Run,
    /// The first prompt of an agent in a pane.
    Open(String),
    /// A question to the knowledge.
    Ask,
    /// A new value for a setting; `now` is its present value.
    Set {
        key: String,
        now: String,
    },
    /// The word that confirms a change.
    Word {
        word: String,
        confirmed: WeakeningChange,
    },
}

/// An input line with its purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub purpose: InputPurpose,
    pub line: LineEdit,
}

/// A window over the panels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    Help {
        scroll: usize,
    },
    /// The output of a command.
    Page {
        title: String,
        lines: Vec<String>,
        scroll: usize,
    },
    /// A question whether to carry an effect out, which `y` confirms.
    Confirm {
        what: String,
        effect: Effect,
    },
    Choose {
        title: String,
        options: Vec<(String, Choice)>,
        at: usize,
    },
}

/// An action that can be chosen from a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    NewRun,
    OpenPane(String),
    /// Hands the work of `from` over to `to`.
    HandOver {
        from: String,
        to: String,
    },
    /// Proposes a task to an agent.
    Assign {
        task: Box<crate::TaskInfo>,
        to: String,
    },
    /// Writes to an agent.
    Write(String),
    /// Writes to two agents.
    WriteBoth(String, String),
    Override {
        path: String,
        worktree: String,
    },
    Release {
        path: String,
        worktree: String,
    },
    Show(Vec<String>),
    /// Hides an item of the queue.
    Hide(String),
    Nothing,
}

/// A change that `u` takes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    pub what: String,
    pub how: UndoAction,
}

/// The way to take a change back; most variants hold the earlier value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoAction {
    Pinned(BTreeSet<String>),
    Muted(BTreeSet<String>),
    Sort(Sort),
    Scope(Option<String>),
    /// A typed text that was not sent or whose command failed.
    Typed(Box<Input>),
    Effect(Effect),
}

/// A notice that is shown for a while at the bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub is_error: bool,
    pub at: Timestamp,
}

/// The thing that a click is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClickTarget {
    Panel(Panel),
    Item(usize),
    /// An option of the selected item.
    Option(usize),
    Agent(String),
    Row(usize),
    DetailTab(DetailTab),
    Detail,
    Chat(ChatTab),
    InputLine,
    Choice(usize),
}

/// The colours that the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalColours {
    pub has_colour: bool,
    pub is_light: bool,
}

/// The whole state of the screen.
#[derive(Clone, Debug)]
pub struct Model {
    pub data: Data,
    pub now: Timestamp,
    pub size: (u16, u16),
    pub colours: TerminalColours,
    /// The project that the screen was started in.
    pub project: String,
    /// The project whose agents are shown; `None` for all projects.
    pub scope: Option<String>,
    /// The agent CLIs that can be opened.
    pub clis: Vec<String>,
    /// The advice that is shown if no agent is here.
    pub hint: String,
    pub panel: Panel,
    pub focus: FocusedFrame,
    /// The selected item of the queue, by its key.
    pub item: Option<String>,
    /// The selected agent, by its key.
    pub agent: Option<String>,
    /// The selected row of each other panel.
    pub rows: [usize; 9],
    pub tab: DetailTab,
    /// Whether the detail fills the panel.
    pub is_detail_open: bool,
    /// The number of lines that the detail or a chat is scrolled by.
    pub scroll: usize,
    pub chat: ChatTab,
    pub input: Option<Input>,
    pub overlay: Option<Overlay>,
    pub toast: Option<Toast>,
    pub trouble: Option<String>,
    pub filter: String,
    /// The agent whose entries the feed shows; `None` for all entries.
    pub feed_of: Option<String>,
    pub sort: Sort,
    pub pinned: BTreeSet<String>,
    pub muted: BTreeSet<String>,
    pub undo: Vec<Undo>,
    /// The panel to return to once the last run has ended.
    pub came_from: Option<Panel>,
    /// Whether a run was seen running since the person started one from this screen.
    pub saw_run: bool,
    /// The time at which each item of the queue came up, by its key.
    pub appeared: BTreeMap<String, Timestamp>,
    /// The time of the answer for items that were answered just now, by key.
    pub answered: BTreeMap<String, Timestamp>,
    /// The keys of items that were dealt with.
    pub dismissed: BTreeSet<String>,
    pub interest: Interest,
    /// The areas that can be clicked, as they were drawn last; later ones are on top.
    pub targets: Vec<(Rect, ClickTarget)>,
    /// The seed for choosing the words that confirm a change.
    pub seed: u64,
    /// Whether the first data has arrived.
    pub is_loaded: bool,
    pub is_over: bool,
}

impl Model {
    /// Makes a screen for a project without any data.
    pub fn new(project: &str, size: (u16, u16), now: Timestamp, seed: u64) -> Self {
        Self {
            data: Data::default(),
            now,
            size,
            colours: TerminalColours { has_colour: true, is_light: false },
            project: project.to_owned(),
            scope: Some(project.to_owned()),
            clis: Vec::new(),
            hint: String::new(),
            panel: Panel::Agents,
            focus: FocusedFrame::Main,
            item: None,
            agent: None,
            rows: [0; 9],
            tab: DetailTab::Activity,
            is_detail_open: false,
            scroll: 0,
            chat: ChatTab::Agents,
            input: None,
            overlay: None,
            toast: None,
            trouble: None,
            filter: String::new(),
            feed_of: None,
            sort: Sort::Attention,
            pinned: BTreeSet::new(),
            muted: BTreeSet::new(),
            undo: Vec::new(),
            came_from: None,
            saw_run: false,
            appeared: BTreeMap::new(),
            answered: BTreeMap::new(),
            dismissed: BTreeSet::new(),
            interest: Interest::default(),
            targets: Vec::new(),
            seed,
            is_loaded: false,
            is_over: false,
        }
    }

    /// Tells whether the detail is shown beside the list.
    pub fn is_wide(&self) -> bool {
        self.size.0 >= 110
    }

    /// Returns the selected row of the panel.
    pub(crate) fn row(&self) -> usize {
        self.rows[self.panel.index()]
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.toast = Some(Toast { text: text.into(), is_error: false, at: self.now });
    }

    pub(crate) fn complain(&mut self, text: impl Into<String>) {
        self.toast = Some(Toast { text: text.into(), is_error: true, at: self.now });
    }
}
