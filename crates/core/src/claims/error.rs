//! Errors of the claims room: why a claim, reservation, release or restore was refused, with hints.

use thiserror::Error;

use super::HoldView;
use super::PatternError;
use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::presence::NotAllowed;
use crate::text;

/// The reason a verb of the claims room was refused.
#[derive(Debug, Error)]
pub enum ClaimError {
    #[error("{}", describe(.0))]
    Held(Vec<HoldView>),
    #[error("nobody holds `{resource}`")]
    NotHeld { resource: String, nearest: Option<String> },
    #[error("`{resource}` is part of `{within}`, which you have reserved")]
    InYours { resource: String, within: String },
    #[error("`{resource}` is held by {holder}, not by you")]
    NotYours { resource: String, holder: String, asker_is_person: bool },
    #[error("`{resource}` is yours")]
    Yours { resource: String },
    #[error("`{resource}` is held by {holder} and was never contested")]
    NotContested { resource: String, holder: String },
    #[error("`{resource}` is contested, and {holder} has {seconds} s left to answer")]
    TooEarly { resource: String, holder: String, seconds: i64 },
    #[error("`{resource}` is held by the person")]
    ThePersons { resource: String },
    #[error("nothing is named")]
    Nothing,
    #[error("the name is {length} characters long; {limit} is the limit")]
    TooLong { length: usize, limit: usize },
    #[error("{name} waits for what you hold, and you for what it holds")]
    Circle {
        name: String,
        /// The resources that the other agent waits for, in words.
        wants: Option<String>,
    },
    #[error("only its holder and the person can have {path} restored")]
    NotTheHolder { path: String },
    #[error("nothing is kept of {path}")]
    NothingKept { path: String },
    #[error("{path} was changed by someone else just now")]
    ChangedMeanwhile { path: String },
    #[error("cannot write {path}")]
    NotWritten {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn describe(conflicts: &[HoldView]) -> String {
    let one = |seen: &HoldView| {
        let reason = seen.hold.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(": {}", text::quoted(reason, 120)));
        format!(
            "`{}` is held by {}{reason}",
            text::foreign(&seen.hold.resource.shown(), 200),
            seen.hold.label
        )
    };
    conflicts.iter().map(one).collect::<Vec<_>>().join("; ")
}

impl Explain for ClaimError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Held(_)
            | Self::NotYours { .. }
            | Self::NotContested { .. }
            | Self::ThePersons { .. }
            | Self::NotTheHolder { .. }
            | Self::Circle { .. }
            | Self::TooEarly { .. } => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::Held(conflicts) => {
                let Some(seen) = conflicts.first() else { return Vec::new() };
                let resource = text::shell_quoted(&seen.hold.resource.shown());
                if seen.hold.holder == crate::journal::Actor::Person {
                    "the person holds it; ask: consort send @me '…'".to_owned()
                } else {
                    format!("ask {0}: consort send {0} '…'; or: consort holds contest {resource}", seen.name)
                }
            }
            Self::NotHeld { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NotHeld { nearest: None, .. } => "`consort holds list` lists what is reserved".into(),
            Self::InYours { within, .. } => {
                format!("`consort release {}` gives up all of it", text::shell_quoted(within))
            }
            Self::NotYours { resource, asker_is_person: true, .. } => {
                format!("`consort release --force {}` takes it away", text::shell_quoted(resource))
            }
            Self::NotYours { resource, .. } | Self::NotContested { resource, .. } => {
                let resource = text::shell_quoted(resource);
                format!(
                    "`consort holds contest {resource}` asks for it; after that: `consort release --force {resource}`"
                )
            }
            Self::ThePersons { .. } => "only the person lets it go; ask: consort send @me '…'".into(),
            Self::TooEarly { resource, .. } => {
                let resource = text::shell_quoted(resource);
                format!("then: consort release --force {resource}; the person need not wait")
            }
            Self::Yours { resource } => {
                format!("`consort release {}` lets it go", text::shell_quoted(resource))
            }
            Self::Circle { name, wants } => {
                let wants = wants.as_ref().map_or_else(String::new, |wants| format!(" (it wants {wants})"));
                format!(
                    "neither gets it before one lets go{wants}: consort release <path>; or agree: consort send {name} '…'"
                )
            }
            Self::NotTheHolder { path } => {
                format!("`consort explain {}` says who holds it", text::shell_quoted(path))
            }
            Self::NothingKept { path } => format!(
                "what holders write is kept for a day, but not what git ignores, what looks like a secret or is \
                 longer than 1 MiB; git may have it: git log -p -- {}",
                text::shell_quoted(path)
            ),
            Self::ChangedMeanwhile { .. } => "run the command again; the file was left as it is".into(),
            Self::NotWritten { .. } => "check that the file and its directory are yours to change".into(),
            Self::Nothing => "name a path, or any words for what you work on".into(),
            Self::TooLong { .. } | Self::Pattern(_) => "use a shorter or a simpler one".into(),
            Self::NotAllowed(error) => return error.hints(),
            Self::Store(error) => return error.hints(),
        }]
    }
}
