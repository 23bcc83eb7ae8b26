//! The port to the engine that keeps and orders the shared state: transactions and
//! store errors.
//!
//! An engine hands out transactions. A [`Tx`] is every room's store plus the journal; dropping it
//! rolls it back, [`Tx::commit`] makes it permanent. **A verb decides and records in one
//! transaction.**

use std::path::PathBuf;
use std::rc::Rc;

use thiserror::Error;

use crate::claims::ClaimStore;
use crate::config::ConfigStore;
use crate::convergence::ConvergenceStore;
use crate::dispatch::DispatchStore;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::host::NewsTopic;
use crate::journal::JournalStore;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::KnowledgeStore;
use crate::messages::MessageStore;
use crate::monitor::MonitorStore;
use crate::policy::PolicyStore;
use crate::presence::PresenceStore;
use crate::side_files::SideFiles;
use crate::tasks::TaskStore;

/// The keeper of the shared state: hands out transactions, and the files beside the database that
/// hold volatile facts.
pub trait Engine {
    /// Closes the connection if the database file was replaced; the next transaction opens the
    /// new file. Returns whether the file was replaced.
    fn close_if_replaced(&mut self) -> bool;

    /// Returns the schema version of the store, if a newer consort made it.
    fn newer_schema(&mut self) -> Result<Option<u32>, StoreError>;

    /// Begins a transaction that may write. It is the only writer until it ends, so its reads
    /// stay true until it commits.
    fn write(&mut self) -> Result<Box<dyn Tx + '_>, StoreError>;

    /// Begins a transaction that only reads, from a consistent view.
    fn read(&mut self) -> Result<Box<dyn Tx + '_>, StoreError>;

    /// Returns the files beside the database. Each result reads the published lines at most once;
    /// a short-lived hook shares one result, until it writes to the store.
    fn side_files(&self) -> Rc<dyn SideFiles>;

    /// Returns the index of the knowledge.
    fn knowledge(&self) -> Box<dyn KnowledgeIndex>;

    /// Returns an index in memory, for one question.
    fn temporary_knowledge(&self) -> Box<dyn KnowledgeIndex>;
}

/// A transaction: everything a verb may read or change.
pub trait Tx:
    JournalStore
    + PresenceStore
    + MessageStore
    + ClaimStore
    + TaskStore
    + ConvergenceStore
    + KnowledgeStore
    + MonitorStore
    + PolicyStore
    + DispatchStore
    + ConfigStore
{
    /// Makes the recorded changes permanent, and returns the topics to notify, which `app::commit` does.
    #[must_use = "somebody may wait for it"]
    fn commit(self: Box<Self>) -> Result<Vec<NewsTopic>, StoreError>;
}

/// A failure of the store, in any verb.
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
    #[error("a newer consort has changed `{about}` in a way that this one does not understand")]
    NotUnderstood {
        about: String,
        /// The entry with that change.
        seq: i64,
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
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unusable { .. } | Self::Newer { .. } | Self::NotUnderstood { .. } => ErrorKind::User,
            Self::Busy { .. } => ErrorKind::Busy,
            Self::Entry { .. } | Self::Damaged { .. } => ErrorKind::Damaged,
            Self::IndexDamaged { .. } => ErrorKind::Retry,
            Self::Failed(_) => ErrorKind::Internal,
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
            Self::NotUnderstood { seq, .. } => vec![
                "update this consort to the version that other sessions run".into(),
                format!("`consort journal tail` shows entry {seq} as it is"),
            ],
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
