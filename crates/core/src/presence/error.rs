//! Errors of the presence room: the reasons joining, renaming or finding an agent was refused, with hints.

use thiserror::Error;

use super::AgentName;
use super::NotAllowed;
use super::SessionId;
use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;

/// The reason a session cannot join or be renamed, or an agent is not found.
#[derive(Debug, Error)]
pub enum PresenceError {
    #[error("`{name}` is not a valid name")]
    InvalidName { name: String },
    #[error("the name `{name}` belongs to another agent")]
    NameTaken { name: AgentName },
    #[error("this agent is called `{name}` already")]
    SameName { name: AgentName },
    #[error("no agent called `{name}` is here")]
    NoSuchAgent { name: String, nearest: Option<String> },
    #[error("no project called `{named}` was ever seen")]
    NoSuchProject { named: String, nearest: Option<String> },
    #[error("{caller} cannot act for `{name}`")]
    NotTheCaller { caller: AgentName, name: String },
    #[error("the caller is not a registered agent")]
    NotRegistered,
    #[error("no agent is named, and you are not one")]
    NoAgentNamed,
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error("session `{session}` runs in another process ({pid})")]
    RunsElsewhere { session: SessionId, pid: u32 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Explain for PresenceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NameTaken { .. } => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
            Self::NotAllowed(error) => error.kind(),
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::InvalidName { .. } => {
                vec![
                    "use letters, digits, `_` and `-`, starting with a letter or digit, at most 50".into(),
                    "`you`, `me`, `all`, `user`, `person` and `consort` mean somebody else".into(),
                ]
            }
            Self::NameTaken { .. } => vec!["`consort who --all` lists the names in use".into()],
            Self::SameName { .. } => Vec::new(),
            Self::NoSuchAgent { nearest: Some(nearest), .. }
            | Self::NoSuchProject { nearest: Some(nearest), .. } => {
                vec![format!("did you mean `{nearest}`?")]
            }
            Self::NoSuchAgent { nearest: None, .. } => vec!["`consort who --all` lists who is here".into()],
            Self::NoSuchProject { nearest: None, .. } => {
                vec!["`consort who --all` shows the projects".into()]
            }
            Self::NotTheCaller { .. } => {
                vec!["only the person at the keyboard can act for another agent".into()]
            }
            Self::NoAgentNamed => {
                vec!["name it with `--agent <name>`; `consort who` lists them".into()]
            }
            Self::NotRegistered => vec![
                "run this inside an agent session, or name the agent with `--agent <name>`".into(),
                "`consort agent join` registers the agent session it is run in".into(),
            ],
            Self::NotAllowed(error) => error.hints(),
            Self::RunsElsewhere { .. } => {
                vec!["run this inside that process, or leave `--session` out to join as yourself".into()]
            }
            Self::Store(error) => error.hints(),
        }
    }
}
