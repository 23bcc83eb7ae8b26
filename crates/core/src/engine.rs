//! The port to whatever keeps and orders the shared state.
//!
//! An engine hands out transactions. A [`Tx`] is every room's store plus the
//! journal; dropping it undoes it, [`Tx::commit`] makes it so. **What a verb
//! decides and what it records are one transaction.**

use std::path::PathBuf;

use thiserror::Error;

use crate::claims::ClaimStore;
use crate::claims::PathNotes;
use crate::config::ConfigStore;
use crate::convergence::ConvergenceStore;
use crate::convergence::TrailNotes;
use crate::explain::Explain;
use crate::explain::Kind;
use crate::journal::JournalStore;
use crate::knowledge::DigestNotes;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::KnowledgeStore;
use crate::messages::FlagStore;
use crate::messages::MessageStore;
use crate::presence::PresenceStore;
use crate::presence::PulseStore;
use crate::tasks::TaskStore;

/// Hands out transactions on the shared state, and keeps what is volatile
/// outside of them.
pub trait Engine {
    type Tx<'t>: Tx
    where
        Self: 't;
    type Pulses: PulseStore;
    type Flags: FlagStore;
    type Notes: PathNotes + TrailNotes + DigestNotes;
    type Knowledge: KnowledgeIndex;

    /// Lets go of a store that was deleted or replaced; the next transaction
    /// opens the one that is there then. For whoever lives long.
    fn let_go_if_replaced(&mut self) -> bool;

    /// A transaction that may write. It is the only writer from here on, so
    /// what it reads stays true until it commits.
    fn write(&mut self) -> Result<Self::Tx<'_>, StoreError>;

    /// A consistent view for reading.
    fn read(&mut self) -> Result<Self::Tx<'_>, StoreError>;

    /// Where volatile facts are kept.
    fn pulses(&self) -> Self::Pulses;

    /// Where hooks find out whether there is mail.
    fn flags(&self) -> Self::Flags;

    /// Where hooks find out what is held and foreseen, and note what is written
    /// and seen.
    fn notes(&self) -> Self::Notes;

    /// The index of what is known.
    fn knowledge(&self) -> Self::Knowledge;

    /// One that is forgotten with whoever asked for it.
    fn passing_knowledge(&self) -> Self::Knowledge;
}

/// Everything a verb may ask or change.
pub trait Tx:
    JournalStore
    + PresenceStore
    + MessageStore
    + ClaimStore
    + TaskStore
    + ConvergenceStore
    + KnowledgeStore
    + ConfigStore
{
    fn commit(self) -> Result<(), StoreError>;
}

/// What can go wrong with the store, whatever the verb was.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the store at {path} cannot be used")]
    Unusable {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the store stayed busy for {waited_ms} ms")]
    Busy { waited_ms: u64 },
    #[error("the store has schema {found}, written by a newer consort; this one knows {known}")]
    Newer { found: u32, known: u32 },
    #[error("entry {seq} of the journal cannot be understood")]
    Entry {
        seq: i64,
        #[source]
        source: serde_json::Error,
    },
    #[error("the store at {path} is damaged")]
    Damaged {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the index at {path} was damaged")]
    IndexDamaged {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Explain for StoreError {
    fn kind(&self) -> Kind {
        match self {
            Self::Unusable { .. } | Self::Newer { .. } => Kind::User,
            Self::Busy { .. } => Kind::Busy,
            Self::Entry { .. } | Self::Damaged { .. } => Kind::Damaged,
            Self::IndexDamaged { .. } => Kind::Retry,
            Self::Failed(_) => Kind::Internal,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Unusable { path, .. } => vec![
                format!("check that {} exists, is writable and has room", path.display()),
                "set CONSORT_HOME to keep everything in a directory of your choice".into(),
            ],
            Self::Busy { .. } => {
                vec!["try again in a moment: many processes write, or one hangs while writing".into()]
            }
            Self::Newer { .. } => vec!["update this consort to the version that other sessions run".into()],
            Self::Entry { .. } => vec!["`consort journal verify` says what else is wrong".into()],
            Self::Damaged { path, .. } => {
                let (dir, path) = (path.parent().unwrap_or(path).display(), path.display());
                vec![
                    format!("keep a copy before anything else: cp -a {dir} {dir}.damaged"),
                    format!("save what can be read: sqlite3 {path} .recover | sqlite3 {path}.recovered"),
                ]
            }
            Self::IndexDamaged { path, .. } => {
                vec![format!("it is made again from the journal; if this stays, remove {}", path.display())]
            }
            Self::Failed(_) => vec!["`consort doctor` checks the store".into()],
        }
    }
}
