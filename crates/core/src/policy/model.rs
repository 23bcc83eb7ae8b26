//! Data of the policy room: rules, and what they are asked about.

use serde::Deserialize;
use serde::Serialize;

use super::Ask;
use super::AskAnswer;
use crate::Timestamp;
use crate::claims::Pattern;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::project::ProjectId;

/// What a rule says, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Allow,
    /// The person is asked, whatever allows it.
    Ask,
    Deny,
}

impl Effect {
    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|effect| effect.as_str() == name)
    }

    /// Its name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A rule of the person's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub effect: Effect,
    /// `Bash` is every CLI's shell, `Edit` whatever writes a file, `Read` whatever reads
    /// one; any other name is that of a tool, and may be a pattern (`mcp__github__*`).
    pub tool: String,
    /// Which commands or paths; all of them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Where it holds; everywhere if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl Rule {
    /// Whether it holds at that time for what is done in that project.
    pub fn holds(&self, project: Option<&ProjectId>, now: Timestamp) -> bool {
        let is_here = self.project.as_ref().is_none_or(|only| Some(only) == project);
        is_here && self.until.is_none_or(|until| now < until)
    }
}

/// A rule as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRecord {
    pub id: ChangeId,
    /// What people call it.
    pub number: Number,
    #[serde(flatten)]
    pub rule: Rule,
    pub added_at: Timestamp,
}

/// A change of the rules, or of what agents ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyChange {
    Added(Rule),
    Removed {
        rule: ChangeId,
        number: Number,
    },
    Asked(Box<Ask>),
    Answered {
        ask: ChangeId,
        answer: AskAnswer,
        by: DecidedBy,
    },
    /// Nobody waits for an answer any more.
    Closed {
        ask: ChangeId,
        /// Whether the answer that was given has reached the agent.
        was_answered: bool,
    },
}

impl PolicyChange {
    /// The rule or the question that it is about, unless it makes it.
    pub fn subject(&self) -> Option<ChangeId> {
        match self {
            Self::Added(_) | Self::Asked(_) => None,
            Self::Removed { rule, .. } => Some(*rule),
            Self::Answered { ask, .. } | Self::Closed { ask, .. } => Some(*ask),
        }
    }

    /// Who or what it changes.
    pub(crate) fn about(&self) -> Vec<String> {
        self.subject().map(|id| format!("policy:{id}")).into_iter().collect()
    }
}

/// By whom something was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Person,
    Rule {
        id: ChangeId,
        number: Number,
    },
    /// A rule that the project or the settings bring.
    Setting(String),
    /// The agent that opened it.
    Opener,
}

/// What an agent asks to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `Bash`, `Edit`, `Read`, or the tool's own name.
    pub tool: String,
    /// What its CLI calls it.
    pub name: String,
    /// Whether it is one of the CLI's own tools, used as usual. What others do is guessed from
    /// their names: that refuses, and allows nothing.
    pub is_own: bool,
    pub action: Action,
}

/// What a tool would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Commands(Commands),
    Paths(Vec<PathNames>),
    /// Nothing that rules could tell apart.
    Other,
}

/// How a file is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathNames {
    /// From the top of the worktree that is worked in; absolute outside of it.
    pub own: String,
    /// From the top of its own worktree, whichever that is.
    pub anywhere: String,
}

/// All that a shell text may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    pub calls: Vec<Call>,
    /// Whether a redirection writes a file.
    pub redirects: bool,
    /// The files that redirections write; `None` is one that the text does not tell.
    pub targets: Vec<Option<String>>,
    /// Whether every part of the text was understood; what its programs run may still be
    /// theirs to know.
    pub is_read: bool,
    /// The files that it writes, and those it shows, as far as the text tells.
    pub writes: Vec<Reached>,
    pub reads: Vec<Reached>,
    /// Whether it runs elsewhere than where its session was started, so that paths are others.
    pub is_moved: bool,
    /// Whether nothing else can be in it.
    pub is_whole: bool,
    /// Whether it is nothing but plain commands, each as it is spelt.
    pub is_plain: bool,
}

/// A program and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// `None` stands for what the text does not tell: no argument, one or many.
    pub words: Vec<Option<String>>,
    /// The names of the variables that are set with it.
    pub variables: Vec<String>,
    /// Those of its arguments that are in the home directory, as they are spelt (`~/.ssh`).
    pub homes: Vec<String>,
    /// Whether all it does is to run others of these.
    pub is_wrapper: bool,
    /// The words that have it run another program, take orders or work outside of the project.
    pub detours: Vec<usize>,
    /// The words that are paths out of the project.
    pub outside: Vec<usize>,
}

/// Files that a command reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// From the top of the worktree that is worked in; absolute outside of it.
    pub own: Pattern,
    /// From the top of their own worktree, whichever that is.
    pub anywhere: Pattern,
    /// Whether no rule for a program means them too: outside of the project, and what tells
    /// programs what to do.
    pub is_off_limits: bool,
}

/// What the rules say, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict<'a, N> {
    pub effect: Effect,
    /// What the rule that decided is called; of several that allow, the first.
    pub name: &'a N,
    pub rule: &'a Rule,
}
