//! Lists the files that others have reserved, before a command and after it.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use super::gather;
use super::project_of;
use crate::Timestamp;
use crate::claims::Hold;
use crate::claims::Strength;
use crate::claims::rules;
use crate::claims::rules::LiveHolds;
use crate::config::Enforcement;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::project::ProjectId;
use crate::side_files::SideFiles;
use crate::side_files::escaped;
use crate::side_files::unescaped;
use crate::text;

/// Most reserved files that are searched for: a reserved directory may be large.
const SEARCHED: usize = 2_000;

/// A line in a list that does not name all files.
const INCOMPLETE: &str = "...";

/// The reservations where a command runs.
pub(super) struct ReservedHere {
    pub(super) project: Option<ProjectId>,
    pub(super) live: LiveHolds,
    worktree: PathBuf,
    worktrees: Enforcement,
}

impl ReservedHere {
    /// Gathers the reservations around `cwd`; `None` where reservations are not enforced.
    pub(super) fn of(
        host: &dyn Host,
        side_files: &dyn SideFiles,
        tx: &dyn Tx,
        cwd: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, StoreError> {
        let here = host.locate(cwd);
        let settings = hook_settings(tx, &here.worktree, environment)?;
        if settings.enforcement == Enforcement::Off {
            return Ok(None);
        }
        let project = project_of(tx, &here)?;
        let live = gather(host, side_files, tx, tx.all_holds()?, host.now())?;
        Ok(Some(Self { project, live, worktree: here.worktree, worktrees: settings.worktrees }))
    }

    /// Visits the reservations that others have here: each with a worktree that it applies to,
    /// the reserved files there, and whether those are all.
    pub(super) fn each(
        &self,
        host: &dyn Host,
        me: &Actor,
        mut visit: impl FnMut(&Hold, &Path, Vec<String>, bool) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (case, mut left) = (host.case(), SEARCHED);
        for hold in self.live.holds.iter().filter(|hold| hold.holder != *me) {
            let Some(pattern) = hold.resource.pattern() else { continue };
            if hold.strength != Strength::Blocking
                || hold.project != self.project
                || rules::has_joined(&self.live.holds, hold, me, case)
            {
                continue;
            }
            for worktree in self.places(host, hold) {
                let (mut files, is_complete) = match pattern.literal() {
                    Some(file) if host.stamp(&worktree.join(&file)).changed != 0 => (vec![file], true),
                    Some(_) => (Vec::new(), true),
                    None => host.files(&worktree, &pattern.stem(), pattern.depth(), left),
                };
                left -= files.len().min(left);
                files.retain(|file| pattern.overlaps(&crate::claims::Pattern::file(file), case));
                visit(hold, &worktree, files, is_complete)?;
            }
        }
        Ok(())
    }

    /// Lists the worktrees that a hold applies to: its holder's, and this one too where holds
    /// count in every worktree.
    fn places(&self, host: &dyn Host, hold: &Hold) -> Vec<PathBuf> {
        let is_here = hold.machine.is_empty() || host.is_here(&hold.machine);
        // A worktree that was moved is not where it was noted.
        let own = hold.worktree.as_ref().filter(|own| is_here && host.locate(own).worktree == **own);
        match own {
            Some(own) if *own != self.worktree && self.worktrees == Enforcement::Block => {
                vec![own.clone(), self.worktree.clone()]
            }
            Some(own) => vec![own.clone()],
            None => vec![self.worktree.clone()],
        }
    }
}

/// The files that others had reserved when a command began.
pub(super) struct Listing {
    places: BTreeSet<PathBuf>,
    is_complete: bool,
}

impl Listing {
    /// Keeps a list of the files that others have reserved now; returns its name.
    pub(super) fn keep(
        host: &dyn Host,
        side_files: &dyn SideFiles,
        surroundings: &ReservedHere,
        me: &Actor,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let (mut lines, mut is_any) = (String::new(), false);
        surroundings.each(host, me, |_, worktree, files, is_complete| {
            is_any = true;
            for file in files {
                lines.push_str(&escaped(&worktree.join(file).to_string_lossy()));
                lines.push('\n');
            }
            if !is_complete {
                lines.push_str(INCOMPLETE);
                lines.push('\n');
            }
            Ok(())
        })?;
        if !is_any {
            return Ok(None);
        }
        let name = format!("{:016x}{:08x}", text::stable_hash(lines.as_bytes()), lines.len());
        side_files.keep(&name, lines.as_bytes(), now)?;
        Ok(Some(name))
    }

    /// Reads the list with that name, if it is still there.
    pub(super) fn read(side_files: &dyn SideFiles, name: &str) -> Option<Self> {
        let text = String::from_utf8(side_files.kept(name)?).ok()?;
        let mut places: BTreeSet<PathBuf> =
            text.lines().map(|line| PathBuf::from(unescaped(line).into_owned())).collect();
        let is_complete = !places.remove(Path::new(INCOMPLETE));
        Some(Self { places, is_complete })
    }

    /// Tells whether a file was surely not there when the list was made.
    pub(super) fn lacks(&self, place: &Path) -> bool {
        self.is_complete && !self.places.contains(place)
    }

    /// Returns the listed files below a worktree, relative to it.
    pub(super) fn below<'a>(&'a self, worktree: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.places.iter().filter_map(move |place| place.strip_prefix(worktree).ok())
    }
}
