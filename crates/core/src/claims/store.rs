//! What an engine must do for claims.

use std::path::Path;

use super::Case;
use super::Held;
use super::Hold;
use super::Pattern;
use super::Resource;
use super::Sight;
use super::Touch;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::presence::SessionId;
use crate::project::ProjectId;

pub trait ClaimStore {
    /// All that is held in a project, and on the whole machine.
    fn holds(&self, project: Option<&ProjectId>) -> Result<Vec<Hold>, StoreError>;

    /// Those on these very resources, and what the person has lifted.
    fn holds_on(&self, resources: &[Resource]) -> Result<Vec<Hold>, StoreError>;

    /// All that is held anywhere.
    fn all_holds(&self) -> Result<Vec<Hold>, StoreError>;
}

/// Notes beside the store: what hooks read instead of it, and what comes too
/// often to be recorded.
pub trait PathNotes {
    /// Whether anyone holds any paths exclusively.
    fn is_anything_held(&self) -> bool;

    /// Who holds paths that may meet these.
    fn held_near(&self, paths: &[Pattern], case: Case) -> Held;

    /// A session has written a path.
    fn touch(&self, touch: &Touch) -> Result<(), StoreError>;

    /// Who wrote the file last that is really there.
    fn touched(&self, path: &Path) -> Option<Touch>;

    /// Everything written since then.
    fn all_touched(&self, since: Timestamp) -> Vec<Touch>;

    /// Forgets what was written before then.
    fn forget_touched(&self, before: Timestamp);

    /// The files a session has seen last, newest first.
    fn sights(&self, session: &SessionId) -> Vec<Sight>;

    /// A session has seen files.
    fn saw(&self, session: &SessionId, sights: &[Sight]) -> Result<(), StoreError>;

    /// Whether a session was told this.
    /// Keeps something to say to a session for its next prompt.
    fn keep_for_later(&self, session: &SessionId, text: &str);

    /// What was kept for it, once.
    fn take_kept(&self, session: &SessionId) -> Option<String>;

    fn was_told(&self, session: &SessionId, what: &str) -> bool;

    /// The same; and from now on it was.
    fn told_before(&self, session: &SessionId, what: &str) -> bool;

    /// A command of a session has begun.
    fn begin(&self, session: &SessionId, call: &str, at: Timestamp) -> Result<(), StoreError>;

    /// It has ended; when it had begun.
    fn end(&self, session: &SessionId, call: &str, at: Timestamp) -> Option<Timestamp>;

    /// Whether a session runs a command, or has ended one since then.
    fn runs_or_ran(&self, session: &SessionId, since: Timestamp) -> bool;
}
