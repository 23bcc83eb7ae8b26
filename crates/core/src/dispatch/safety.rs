//! Safety levels, classes of actions, and which level lets a run do which class by itself.
//!
//! A tool call is of the class of its worst part. **Anything unclear is of the strictest class**:
//! an unknown tool, or a command whose text does not say what it runs. An unknown program or a
//! script is run as any other: what it does is not in the text, and is kept in bounds by the CLI's
//! own sandbox and the shield.

mod args;
mod bounds;
mod classify;
mod git;
mod inline;
mod ours;
mod paths;
mod programs;
mod system;
mod tools;
mod wording;

use serde::Deserialize;
use serde::Serialize;

pub use bounds::RunBounds;
pub use classify::Classified;
pub use classify::classify;
pub use wording::safety_refusal;
pub use wording::tool_refusal;

/// The environment variable with a session's safety level. A hook has it from the CLI that starts it,
/// and the CLI from the supervisor: if a command of the session sets it, that reaches only the
/// programs which that command starts, and no hook of the session.
pub const SAFETY_VARIABLE: &str = "CONSORT_SAFETY";

/// The safety level of a run, from the strictest to the loosest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Safety {
    /// The run reads, and says what it would do.
    Suggest,
    /// The run edits files and runs commands, and destroys nothing.
    #[default]
    AutoEdit,
    /// The run does all but destroy commits or uncommitted changes and change the machine.
    FullAuto,
}

impl Safety {
    pub const ALL: [Self; 3] = [Self::Suggest, Self::AutoEdit, Self::FullAuto];

    /// Returns the name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suggest => "suggest",
            Self::AutoEdit => "auto-edit",
            Self::FullAuto => "full-auto",
        }
    }

    /// Finds the level by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|safety| safety.as_str() == name)
    }

    /// Reads the level from the variable. An unknown value means the strictest level.
    pub fn from_variable(value: &str) -> Self {
        Self::named(value).unwrap_or(Self::Suggest)
    }

    /// Tells whether the level allows actions of a class.
    pub fn allows(self, class: ActionClass) -> bool {
        class.needs().is_some_and(|needs| self >= needs)
    }
}

/// The class of a tool call, from the mildest to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionClass {
    FileRead,
    /// Asks something of another machine.
    Network,
    FileWrite,
    BashExec,
    /// Puts another agent to work.
    AgentDispatch,
    FileDelete,
    /// Runs a command that destroys what may not come back.
    BashDestructive,
    /// Sends work to a place where others have it: a push, a publication.
    GitPush,
    /// Destroys commits or uncommitted changes.
    GitDestructive,
    /// Changes the machine, or the settings that protect it.
    SystemModify,
}

impl ActionClass {
    pub const ALL: [Self; 10] = [
        Self::FileRead,
        Self::Network,
        Self::FileWrite,
        Self::BashExec,
        Self::AgentDispatch,
        Self::FileDelete,
        Self::BashDestructive,
        Self::GitPush,
        Self::GitDestructive,
        Self::SystemModify,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileRead => "file_read",
            Self::Network => "network",
            Self::FileWrite => "file_write",
            Self::BashExec => "bash_exec",
            Self::AgentDispatch => "agent_dispatch",
            Self::FileDelete => "file_delete",
            Self::BashDestructive => "bash_destructive",
            Self::GitPush => "git_push",
            Self::GitDestructive => "git_destructive",
            Self::SystemModify => "system_modify",
        }
    }

    /// Returns the strictest level that allows the class; `None` for what only the person may do.
    fn needs(self) -> Option<Safety> {
        match self {
            Self::FileRead | Self::Network => Some(Safety::Suggest),
            Self::FileWrite | Self::BashExec | Self::AgentDispatch => Some(Safety::AutoEdit),
            Self::FileDelete | Self::BashDestructive | Self::GitPush => Some(Safety::FullAuto),
            Self::GitDestructive | Self::SystemModify => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_allows_what_the_table_says() {
        let table = [
            (ActionClass::FileRead, "yes yes yes"),
            (ActionClass::Network, "yes yes yes"),
            (ActionClass::FileWrite, "no yes yes"),
            (ActionClass::BashExec, "no yes yes"),
            (ActionClass::AgentDispatch, "no yes yes"),
            (ActionClass::FileDelete, "no no yes"),
            (ActionClass::BashDestructive, "no no yes"),
            (ActionClass::GitPush, "no no yes"),
            (ActionClass::GitDestructive, "no no no"),
            (ActionClass::SystemModify, "no no no"),
        ];
        assert_eq!(table.map(|(class, _)| class), ActionClass::ALL);
        for (class, expected) in table {
            let told = Safety::ALL.map(|safety| if safety.allows(class) { "yes" } else { "no" });
            assert_eq!(told.join(" "), expected, "{}", class.as_str());
        }
    }

    #[test]
    fn what_the_variable_is_not_meant_to_say_is_the_strictest() {
        for safety in Safety::ALL {
            assert_eq!(Safety::from_variable(safety.as_str()), safety);
        }
        for value in ["", "Full-Auto", "full-auto ", "0", "everything"] {
            assert_eq!(Safety::from_variable(value), Safety::Suggest, "{value}");
        }
    }
}
