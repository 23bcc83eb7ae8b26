//! Errors of the tasks room: the reasons a task could not be claimed, completed or given back, with hints.

use std::path::PathBuf;

use thiserror::Error;

use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::journal::Seq;
use crate::presence::NotAllowed;
use crate::text;

/// The reason a task cannot be claimed, completed or given back.
#[derive(Debug, Error)]
pub enum TaskError {
    #[error("no spec is given, and you have joined with none")]
    NoSpec {
        /// A spec that is worked on in this project.
        known: Option<String>,
    },
    #[error("the spec {path} cannot be read")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("there is no task `{id}` in {spec}")]
    NoSuchTask { id: String, spec: String, nearest: Option<String> },
    #[error("no task is named, and you have claimed none")]
    NoTask,
    #[error("you have claimed `{id}` of {spec} already")]
    AlreadyHaveClaim { id: String, spec: String },
    #[error("`{id}` is claimed by {by}")]
    AlreadyClaimed { id: String, by: String },
    #[error("`{id}` is not claimed")]
    NotClaimed { id: String },
    #[error("`{id}` is not yours: {by} has it")]
    NotYours { id: String, by: String },
    #[error("`{id}` was completed by {by}")]
    AlreadyCompleted { id: String, by: String },
    #[error("`{id}` waits for {}", waits_for.join(", "))]
    NotReady { id: String, waits_for: Vec<String> },
    #[error("nothing is ready in {spec}: {why}")]
    NothingReady { spec: String, why: String },
    #[error("your claim on `{id}` (generation {yours}) is over; it is at generation {now}{}", with.as_ref().map_or_else(String::new, |with| format!(", with {with}")))]
    TooLate { id: String, yours: Seq, now: Seq, with: Option<String> },
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Explain for TaskError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::AlreadyHaveClaim { .. }
            | Self::AlreadyClaimed { .. }
            | Self::NotYours { .. }
            | Self::AlreadyCompleted { .. }
            | Self::NotReady { .. }
            | Self::NothingReady { .. }
            | Self::TooLate { .. } => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::NoSpec { known: Some(spec) } => {
                format!("`consort task next --spec {}` takes one that is worked on here", text::shell_quoted(spec))
            }
            Self::NoSpec { known: None } => {
                "`--spec <file>` names one, a Markdown file with lines like `- [ ] T-1: …`; `consort agent join --spec \
                 <file>` joins with one"
                    .into()
            }
            Self::Unreadable { .. } => "check the path; it is relative to where you are".into(),
            Self::NoSuchTask { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchTask { nearest: None, .. } => "`consort task list` lists them".into(),
            Self::NoTask => "`consort task next` claims the first that is ready".into(),
            Self::AlreadyHaveClaim { id, .. } => {
                format!("`consort task done {id}` or `consort task drop {id}` first")
            }
            Self::AlreadyClaimed { .. } | Self::NotReady { .. } | Self::AlreadyCompleted { .. } => {
                "`consort task next` claims the first that is ready".into()
            }
            Self::NotClaimed { id } => format!("`consort task claim {id}` claims it"),
            Self::NotYours { by, .. } => {
                format!("ask: consort send {by} '…'; `--take-anyway` is for the person only")
            }
            Self::NothingReady { .. } => "`consort task list` shows who has what".into(),
            Self::TooLate { id, .. } => format!(
                "it was given back, by the person or because your process had ended; `consort task list` shows how it \
                 stands; for the person: `consort task done {id} --take-anyway`"
            ),
            Self::NotAllowed(error) => return error.hints(),
            Self::Store(error) => return error.hints(),
        }]
    }
}
