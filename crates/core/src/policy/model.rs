//! Data of the policy room: rules, and the requests that they are matched against.

use serde::Deserialize;
use serde::Serialize;

use super::Ask;
use super::AskAnswer;
use crate::Timestamp;
use crate::claims::Pattern;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::project::ProjectId;

/// The effect of a rule, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    Allow,
    /// The person is asked, whatever rule allows the request.
    Ask,
    Deny,
}

impl RuleEffect {
    /// Finds the effect by its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|effect| effect.as_str() == name)
    }

    /// Returns the name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A rule of the person's, or of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub effect: RuleEffect,
    /// The tool that the rule is about: `Bash` is every CLI's shell, `Edit` whatever writes a file,
    /// `Read` whatever reads one; any other name is that of a tool, and may be a pattern
    /// (`mcp__github__*`).
    pub tool: String,
    /// The commands or paths that the rule is about; all of them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The project in which the rule holds; every project if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl Rule {
    /// Tells whether the rule holds in a project at a time.
    pub fn holds(&self, project: Option<&ProjectId>, now: Timestamp) -> bool {
        let is_here = self.project.as_ref().is_none_or(|only| Some(only) == project);
        is_here && self.until.is_none_or(|until| now < until)
    }
}

/// A rule as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRecord {
    pub id: ChangeId,
    /// The number that people call the rule by.
    pub number: Number,
    #[serde(flatten)]
    pub rule: Rule,
    pub added_at: Timestamp,
}

/// A change of the rules, or of a question of an agent.
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
    /// The question is closed: nobody waits for an answer any more.
    Closed {
        ask: ChangeId,
        /// Whether the answer that was given has reached the agent.
        was_answered: bool,
    },
}

impl PolicyChange {
    /// Returns the rule or question that is changed; `None` for a change that makes it.
    pub fn subject(&self) -> Option<ChangeId> {
        match self {
            Self::Added(_) | Self::Asked(_) => None,
            Self::Removed { rule, .. } => Some(*rule),
            Self::Answered { ask, .. } | Self::Closed { ask, .. } => Some(*ask),
        }
    }

    /// Returns the keys of the subjects that the change is about.
    pub(crate) fn about(&self) -> Vec<String> {
        self.subject().map(|id| format!("policy:{id}")).into_iter().collect()
    }
}

/// The person, rule, setting or agent that decided something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Person,
    Rule {
        id: ChangeId,
        number: Number,
    },
    /// A rule that the project's or the person's settings bring.
    Setting(String),
    /// The agent that opened the asking agent.
    Opener,
}

/// A call of a tool, as rules are matched against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRequest {
    /// `Bash`, `Edit`, `Read`, or the tool's own name.
    pub tool: String,
    /// The CLI's own name of the tool.
    pub name: String,
    /// Whether the tool is one of the CLI's own, used as usual. The effect of other tools is
    /// guessed from their names: a guess can refuse, but allows nothing.
    pub is_own: bool,
    pub action: Action,
}

/// The action that a tool would carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Commands(Commands),
    Paths(Vec<PathNames>),
    /// Anything else, which no pattern can be compared with.
    Other,
}

/// The names by which rules may mean a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathNames {
    /// The path from the top of the worktree that is worked in; absolute outside of it.
    pub own: String,
    /// The path from the top of the file's own worktree, whichever that is.
    pub anywhere: String,
}

/// All programs that a shell text may run, and the files that it reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    pub calls: Vec<ProgramCall>,
    /// Whether a redirection writes a file.
    pub redirects: bool,
    /// The files that redirections write; `None` is one that the text does not tell.
    pub targets: Vec<Option<String>>,
    /// Whether every part of the text was understood. Its programs may still run others in ways
    /// that are not followed.
    pub is_read: bool,
    /// The files that the text writes, and in `reads` those that it shows, as far as the text
    /// tells.
    pub writes: Vec<ReachedPatterns>,
    pub reads: Vec<ReachedPatterns>,
    /// Whether the text runs in another directory than the one that its session was started in, so
    /// that its paths mean other files.
    pub is_moved: bool,
    /// Whether the text can run nothing but these calls.
    pub is_whole: bool,
    /// Whether the text is nothing but plain commands, each run as it is spelt.
    pub is_plain: bool,
}

/// A program and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramCall {
    /// The program and its arguments as it gets them; `None` stands for what the text does not
    /// tell: no argument, one or many.
    pub words: Vec<Option<String>>,
    /// The names of the variables that are set for the program.
    pub variables: Vec<String>,
    /// Those of the arguments that are in the home directory, as they are spelt (`~/.ssh`).
    pub homes: Vec<String>,
    /// Whether all that the program does is to run others of these calls.
    pub is_wrapper: bool,
    /// The indexes of words that have the program run another, take orders or work outside of the
    /// project.
    pub detours: Vec<usize>,
    /// The indexes of words that are paths out of the project.
    pub outside: Vec<usize>,
}

/// Files that a command reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedPatterns {
    /// The files from the top of the worktree that is worked in; absolute outside of it.
    pub own: Pattern,
    /// The files from the top of their own worktree, whichever that is.
    pub anywhere: Pattern,
    /// Whether these files are beyond every rule that allows a program: they are outside of the
    /// project, or tell programs what to do.
    pub is_off_limits: bool,
}

/// The decision of the rules, and the rule that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyVerdict<'a, N> {
    pub effect: RuleEffect,
    /// The name of the rule that decided; of several that allow, the first.
    pub name: &'a N,
    pub rule: &'a Rule,
}
