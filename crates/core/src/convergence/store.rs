//! What an engine must do for convergence.

use std::path::Path;

use super::Glance;
use super::Learned;
use super::Prediction;
use super::RadarNote;
use super::Tally;
use super::Trail;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Seq;
use crate::presence::SessionId;
use crate::project::ProjectId;

pub trait ConvergenceStore {
    /// Predictions that have not ended, oldest first.
    fn active_predictions(&self) -> Result<Vec<Prediction>, StoreError>;

    fn prediction(&self, number: Seq) -> Result<Option<Prediction>, StoreError>;

    /// Predictions that have ended, newest first.
    fn past_predictions(&self) -> Result<Vec<Prediction>, StoreError>;

    fn tally(&self) -> Result<Tally, StoreError>;

    /// Topics that the person has put into a domain, or into none.
    fn assigned_domains(&self) -> Result<Vec<(String, Option<String>)>, StoreError>;

    fn learned_domains(&self) -> Result<Vec<Learned>, StoreError>;

    /// What is published for who works in that worktree, from the tables.
    fn radar_note(&self, worktree: &Path) -> Result<RadarNote, StoreError>;
}

/// Trails come with every prompt and every file: they lie beside the store.
/// **Nothing here is ever needed to be right**: what is lost is a prediction
/// that is not made.
pub trait TrailNotes {
    /// A session begins, or goes on.
    fn begin_trail(
        &self,
        session: &SessionId,
        project: &ProjectId,
        worktree: &Path,
    ) -> Result<(), StoreError>;

    /// Adds the last step of a trail, and looks at what others in its project are
    /// about, if they say any of these words, which are sorted.
    fn add_step(
        &self,
        trail: &Trail,
        interests: &[&str],
        look: &mut dyn FnMut(&Glance<'_>),
    ) -> Result<(), StoreError>;

    /// A tool of its has read or written a file.
    fn add_visit(&self, session: &SessionId, path: &Path, at: Timestamp, written: bool);

    /// A session has read the file that is really there.
    fn read_by(&self, path: &Path, session: &SessionId, at: Timestamp);

    /// Who read it last but for this session, and when.
    fn last_reader(&self, path: &Path, but: &SessionId) -> Option<(SessionId, Timestamp)>;

    /// The trail of a session that is here.
    fn trail(&self, session: &SessionId) -> Option<Trail>;

    /// The same, also of one that is gone.
    fn last_trail(&self, session: &SessionId) -> Option<Trail>;

    /// Looks at what all in a project are about.
    fn look_at_all(&self, project: &ProjectId, look: &mut dyn FnMut(&Glance<'_>));

    /// A session is over: its trail is kept for whoever takes over.
    fn end_trail(&self, session: &SessionId);

    /// Forgets trails that ended before then.
    fn forget_trails(&self, before: Timestamp);

    /// Ends the trails of sessions that are not here any more, whatever became of
    /// them.
    fn end_trails_but(&self, here: &[SessionId]);

    /// Forgets what prompts said, of all trails or of those in a worktree.
    fn forget_prompts(&self, worktree: Option<&Path>);

    /// What the store says, for who works in that worktree.
    /// `None` if what was published is older than the store.
    fn radar(&self, worktree: &Path) -> Option<RadarNote>;
}
