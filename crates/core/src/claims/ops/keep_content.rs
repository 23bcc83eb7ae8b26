//! Keeps the content that holders wrote last for a day, so that it can be restored after a
//! trespass. **Nothing is kept that git ignores or that looks like a secret.**

use std::path::Path;

use crate::App;
use crate::Timestamp;
use crate::claims::CommandKind;
use crate::claims::KeptFile;
use crate::claims::Pattern;
use crate::claims::PublishedHold;
use crate::claims::PublishedHolds;
use crate::claims::RunningCommand;
use crate::claims::Strength;
use crate::claims::rules;
use crate::engine::StoreError;
use crate::host::Host;
use crate::host::RealPath;
use crate::journal::Actor;
use crate::presence::SessionId;
use crate::side_files::SideFiles;

/// Longest file that is kept, in bytes.
pub(super) const LONGEST: u64 = 1 << 20;

/// Most files of one command that are kept.
const MOST: usize = 64;

/// Milliseconds that the clock of a file system may run behind.
const SLACK: i64 = 20;

impl App {
    /// Keeps a file that a session has just written, if the session has reserved it. Returns
    /// whether it has done so for a limited time.
    pub(super) fn keep_written(
        &self,
        side_files: &dyn SideFiles,
        session: &SessionId,
        located: &RealPath,
    ) -> bool {
        let mine = held_by(&*self.host, side_files, session, located);
        if !mine.is_empty() {
            keep(&*self.host, side_files, session, &located.worktree, &located.path);
        }
        mine.iter().any(|line| line.until.is_some())
    }

    /// Keeps the reserved files that a holder's own commands have changed, now that they have
    /// ended, if no other agent's command can have changed them.
    pub(super) fn keep_changed(
        &mut self,
        session: &SessionId,
        ended: &[RunningCommand],
    ) -> Result<(), StoreError> {
        let side_files = self.engine.side_files();
        let begun = ended.iter().filter(|one| one.kind != CommandKind::Known).map(|one| one.at).min();
        let Some(begun) = begun.filter(|_| side_files.has_ever_held(session)) else { return Ok(()) };
        let (now, case, me) = (self.host.now(), self.host.case(), Actor::Agent(session.clone()));
        let tx = self.engine.read()?;
        let mut changed = Vec::new();
        for hold in tx.holds_of(&me)?.iter().filter(|hold| hold.strength == Strength::Blocking) {
            let (Some(pattern), Some(worktree)) = (hold.resource.pattern(), &hold.worktree) else { continue };
            let files = match pattern.literal() {
                Some(file) => vec![file],
                None => self.host.files(worktree, &pattern.stem(), pattern.depth(), 10 * MOST).0,
            };
            let is_new = |path: &String| {
                let changed = self.host.stamp(&worktree.join(path)).changed / 1_000_000;
                changed >= begun.minus(SLACK).0 && pattern.overlaps(&Pattern::file(path), case)
            };
            changed.extend(files.into_iter().filter(is_new).map(|path| (worktree.clone(), path)));
        }
        let may_be_anothers = || {
            let present = tx.present().unwrap_or_default();
            let mut others = present.iter().map(|agent| &agent.session).filter(|one| *one != session);
            others.any(|other| side_files.ran_between(other, begun, now))
        };
        if changed.is_empty() || may_be_anothers() {
            return Ok(());
        }
        drop(tx);
        for (worktree, path) in changed.iter().take(MOST) {
            keep(&*self.host, &*side_files, session, worktree, path);
        }
        self.renew(session, &changed.into_iter().map(|(_, path)| path).collect::<Vec<_>>())
    }
}

/// Finds a session's published reservations of a file.
pub(super) fn held_by(
    host: &dyn Host,
    side_files: &dyn SideFiles,
    session: &SessionId,
    located: &RealPath,
) -> Vec<PublishedHold> {
    let (me, case) = (Actor::Agent(session.clone()), host.case());
    let file = Pattern::file(&located.path);
    let PublishedHolds { repositories, mut holds, .. } =
        side_files.held_near(std::slice::from_ref(&file), case);
    let is_here = |project: &Option<_>| match (&located.repository, project) {
        (None, None) => true,
        (Some(repository), Some(project)) => {
            repositories.iter().any(|(known, of)| known == repository && of == project)
        }
        _ => false,
    };
    holds.retain(|line| {
        line.holder == me
            && line.strength == Strength::Blocking
            && is_here(&line.project)
            && line.pattern.overlaps(&file, case)
    });
    holds
}

/// Keeps the files that a session wrote in the last day and holds from now on, if they are as it
/// wrote them.
pub(super) fn keep_lately_written(
    host: &dyn Host,
    side_files: &dyn SideFiles,
    session: &SessionId,
    is_held: impl Fn(&Path, &str) -> bool,
) {
    for write in side_files.last_writes(host.now().minus(Timestamp::DAY)) {
        let changed = host.stamp(&write.worktree.join(&write.path)).changed / 1_000_000;
        let is_as_written = Timestamp(changed) <= write.at.plus(SLACK);
        if write.session == *session && is_as_written && is_held(&write.worktree, &write.path) {
            keep(host, side_files, session, &write.worktree, &write.path);
        }
    }
}

/// Keeps a file as it is now. If that fails, there is nothing to restore.
pub(super) fn keep(
    host: &dyn Host,
    side_files: &dyn SideFiles,
    session: &SessionId,
    worktree: &Path,
    path: &str,
) {
    let (now, place) = (host.now(), worktree.join(path));
    let known = side_files.kept_file(&place);
    let mut kept = KeptFile {
        session: session.clone(),
        at: now,
        worktree: worktree.to_owned(),
        path: path.to_owned(),
        content: None,
        is_executable: false,
    };
    // Git is not asked about the same file with every edit.
    let is_public = || {
        known.as_ref().is_some_and(|known| known.content.is_some())
            || host.ignored(worktree, &[path]).is_some_and(|ignored| ignored.is_empty())
    };
    if let Some(file) = host.content(&place, LONGEST)
        && !rules::looks_secret(path, &file.bytes)
        && is_public()
        && side_files.keep(&file.hash, &file.bytes, now).is_ok()
    {
        side_files.forget_kept(now.minus(Timestamp::DAY));
        (kept.content, kept.is_executable) = (Some(file.hash), file.is_executable);
    }
    // A file that is not kept any more, or that the holder has removed, is not to be restored either.
    if kept.content.is_some() || known.is_some() {
        side_files.note_kept(&kept);
    }
}
