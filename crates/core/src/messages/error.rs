//! Errors of the messages room: the reasons a message could not be sent or found, with hints.

use serde::Serialize;
use thiserror::Error;

use super::MessageName;
use super::rules::LONGEST_TEXT;
use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::journal::Number;
use crate::presence::NotAllowed;

/// The reason a message was not sent or not found.
#[derive(Debug, Error)]
pub enum MessageError {
    #[error(transparent)]
    Refused(#[from] MessageRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reason a request is refused, or one recipient of it is not reached.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRefusal {
    #[error("no agent called `{name}` is here")]
    NoSuchAgent { name: String, nearest: Option<String> },
    #[error("`{name}` may be {}", called.join(" or "))]
    SeveralAgents { name: String, called: Vec<String> },
    #[error("`{name}` is gone")]
    Gone { name: String },
    #[error("`{name}` cannot send to itself")]
    ToSelf { name: String },
    #[error("no other agent is here")]
    Alone,
    #[error("no recipient is named")]
    Nobody,
    #[error("the message is empty")]
    Empty,
    #[error("the message is {bytes} bytes long; {LONGEST_TEXT} is the limit")]
    TooLong { bytes: usize },
    #[error("the message has what looks like {what}, at character {at}")]
    Secret { what: &'static str, at: usize },
    #[error("there is no message {name}")]
    NoSuchMessage { name: MessageName },
    #[error("{name} is a message in several projects: {}", called.join(", "))]
    SeveralMessages { name: MessageName, called: Vec<String> },
    #[error("the key `{key}` was used for another message, #{number}")]
    KeyUsed { key: String, number: Number },
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error("{caller} cannot send as `{name}`")]
    NotTheCaller { caller: String, name: String },
}

impl Explain for MessageError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(refusal) => refusal.kind(),
            Self::Store(error) => error.kind(),
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Refused(refusal) => refusal.hints(),
            Self::Store(error) => error.hints(),
        }
    }
}

impl Explain for MessageRefusal {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::KeyUsed { .. } => ErrorKind::Conflict,
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::NoSuchAgent { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchAgent { name, nearest: None } if !is_a_word(name) => {
                "the text is the last argument: put it in quotes, after the names".into()
            }
            Self::NoSuchAgent { nearest: None, .. } => {
                "`consort who --all` lists who is here; a text of several words is put in quotes".into()
            }
            Self::SeveralAgents { .. } => "use the whole name".into(),
            Self::Gone { .. } => "`consort who --all` lists who is here and who left".into(),
            Self::ToSelf { .. } => "`consort who` lists the others".into(),
            Self::Secret { .. } => {
                "leave it out, and name where it is kept; the person may send it with `--even-so`".into()
            }
            Self::Alone => "`--everywhere` reaches the agents of other projects, `@me` the person".into(),
            Self::Nobody => "name an agent, `all` or `@me`; `consort reply <n>` answers a message".into(),
            Self::Empty => "give the text as the last argument, or `-` to read it from standard input".into(),
            Self::TooLong { .. } => "put it in a file and send the path".into(),
            Self::NoSuchMessage { .. } => {
                "`consort inbox --all` and `consort inbox --sent` show numbers".into()
            }
            Self::SeveralMessages { called, .. } => {
                format!("name its project: `{}`", called.first().map_or("", String::as_str))
            }
            Self::KeyUsed { .. } => "use another key for another text".into(),
            Self::NotAllowed(error) => return error.hints(),
            Self::NotTheCaller { .. } => "only the person can send for an agent".into(),
        }]
    }
}

fn is_a_word(name: &str) -> bool {
    crate::presence::is_valid_name(name)
}
