//! The error for callers without the right to do something: the reason, and the proof that would be enough.

use serde::Serialize;
use thiserror::Error;

use super::Unproven;
use crate::explain::ErrorKind;
use crate::explain::Explain;

/// The reason a caller may not do what it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotAllowed {
    #[error("this agent session has not joined")]
    NotJoined,
    #[error("the caller is anonymous: {}", why(.0))]
    Anonymous(Unproven),
    #[error("only the person may do this")]
    NotThePerson,
    #[error("this takes a word typed on your terminal, or a token")]
    NotConfirmed,
}

fn why(unproven: &Unproven) -> String {
    match unproven {
        Unproven::NoTerminal => "no agent is above it, and it has no terminal of its own".into(),
        Unproven::Unwatched => "its tmux pane has not been looked at for ten minutes".into(),
        Unproven::Marked(variable) => format!("no agent is above it, but its environment has {variable}"),
        Unproven::Elsewhere => "it is not a process of yours on this machine".into(),
    }
}

impl Explain for NotAllowed {
    fn kind(&self) -> ErrorKind {
        ErrorKind::User
    }

    fn hints(&self) -> Vec<String> {
        const TOKEN: &str = "for a script: `consort token new --for <commands>`, then `--token-file <file>`";
        match self {
            Self::NotJoined => vec![
                "`consort agent join` registers the agent session it is run in".into(),
                "a person uses a terminal in which no agent is or was joined".into(),
            ],
            Self::Anonymous(Unproven::Marked(variable)) => {
                vec![
                    format!("unset {variable}, or run it in a terminal and type the word it shows"),
                    TOKEN.into(),
                ]
            }
            Self::Anonymous(Unproven::Unwatched) => {
                vec!["run it in a pane that you look at".into(), TOKEN.into()]
            }
            Self::Anonymous(_) | Self::NotConfirmed => {
                vec!["run it in a terminal of yours".into(), TOKEN.into()]
            }
            Self::NotThePerson => vec!["ask your user: consort send @me '…'".into()],
        }
    }
}
