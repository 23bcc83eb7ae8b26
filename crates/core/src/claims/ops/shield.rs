//! Claims verbs of the shield: the paths to make read-only for a command whose text does not tell
//! what it writes, and the text for its agent when a write failed there.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use super::Viewer;
use super::after_command::LONGEST_TEXT;
use super::caller_actor;
use super::gather;
use super::project_of;
use crate::App;
use crate::claims::CommandKind;
use crate::claims::FileStamp;
use crate::claims::HoldView;
use crate::claims::RunningCommand;
use crate::claims::ShieldOutcome;
use crate::claims::rules;
use crate::claims::rules::MOST_SHIELDED;
use crate::claims::rules::Shielded;
use crate::claims::wording;
use crate::config::Enforcement;
use crate::config::HookSettings;
use crate::config::ShieldMode;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::presence;
use crate::presence::CallerFacts;
use crate::presence::SessionId;
use crate::side_files::LogLine;
use crate::side_files::SideFiles;
use crate::text;

impl App {
    /// Tells whether anyone holds any paths at all; says yes if in doubt. The shield asks this
    /// before anything else.
    pub fn is_anything_held(&self) -> bool {
        self.engine.side_files().is_anything_held()
    }

    /// Finds the paths to make read-only while the caller runs a command in `cwd` that may write
    /// anything. None for a command in the background: nobody knows who will hold the paths
    /// before it ends.
    pub fn shield(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        command: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<ShieldOutcome, StoreError> {
        let (session, outcome) = self.find_shielded(caller, cwd, environment)?;
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let Some(session) = session else { return Ok(outcome) };
        let begins = text::one_line(command, LONGEST_TEXT);
        let is_it =
            |running: &RunningCommand| running.kind == CommandKind::Background && running.text == begins;
        if side_files.running_commands(&session).iter().any(is_it) {
            return Ok(ShieldOutcome::default());
        }
        if outcome.is_too_many || !outcome.paths.is_empty() {
            // Without this note, the agent is not told the reason of a failed write.
            let _ =
                side_files.add(&session, &LogLine::Shielded { at: now, is_too_many: outcome.is_too_many });
        }
        Ok(outcome)
    }

    /// Finds the paths that would be read-only for a command of the caller, without running one.
    pub fn preview_shield(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<ShieldOutcome, StoreError> {
        Ok(self.find_shielded(caller, cwd, environment)?.1)
    }

    /// Returns the caller, if it is an agent, and the paths to make read-only for it.
    fn find_shielded(
        &mut self,
        caller: &CallerFacts,
        cwd: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Option<SessionId>, ShieldOutcome), StoreError> {
        let side_files = self.engine.side_files();
        let tx = self.engine.read()?;
        let me = caller_actor(presence::who_calls(&*self.host, &*side_files, &*tx, caller)?);
        let session = me.session().cloned();
        let Some((worktree, held)) = reserved(&*self.host, &*side_files, &*tx, &me, cwd, environment)? else {
            return Ok((session, ShieldOutcome::default()));
        };
        let paths = expand(&*self.host, &worktree, &held);
        let is_too_many = paths.len() > MOST_SHIELDED;
        let paths = if is_too_many { Vec::new() } else { paths };
        Ok((session, ShieldOutcome { paths, is_too_many }))
    }

    /// Tells whether commands in `cwd` are to be rewritten so that they run behind the shield.
    /// Says no where the settings are not published: the store would not answer in time.
    pub fn rewrites_commands(&self, cwd: &Path, environment: &dyn Fn(&str) -> Option<String>) -> bool {
        let side_files = self.engine.side_files();
        side_files.is_anything_held()
            && side_files.published_settings(&self.host.locate(cwd).worktree).is_some_and(|published| {
                HookSettings::from_published(&published, environment).shield == ShieldMode::Rewrite
            })
    }

    /// Explains the end of a command that may have run behind the shield. If it did and `is_met`,
    /// says who has reserved what here; if there were too many reservations for a shield, says
    /// that, once.
    pub fn shield_notice(
        &mut self,
        session: &SessionId,
        cwd: &Path,
        is_met: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let side_files = self.engine.side_files();
        let Some(is_too_many) = side_files.take_shield_report(session) else { return Ok(None) };
        if is_too_many {
            let is_news = !side_files.note_notified(session, "too many for a shield");
            return Ok(is_news.then(|| wording::TOO_MANY_TO_SHIELD.to_owned()));
        }
        if !is_met {
            return Ok(None);
        }
        let tx = self.engine.read()?;
        let me = Actor::Agent(session.clone());
        let now = self.host.now();
        let held = reserved(&*self.host, &*side_files, &*tx, &me, cwd, environment)?;
        let views: Vec<HoldView> = held.into_iter().flat_map(|(_, held)| held).map(|one| one.view).collect();
        Ok((!views.is_empty()).then(|| wording::shield_met(&views, now)))
    }
}

/// A reservation of another that counts in this worktree, as the caller sees it.
struct Reserved {
    view: HoldView,
    what: Shielded,
}

/// Finds the reservations of others in the worktree of `cwd`, if the settings want the shield.
fn reserved(
    host: &dyn Host,
    side_files: &dyn SideFiles,
    tx: &dyn Tx,
    me: &Actor,
    cwd: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<(PathBuf, Vec<Reserved>)>, StoreError> {
    let here = host.locate(cwd);
    let settings = hook_settings(tx, &here.worktree, environment)?;
    let is_wanted = settings.shield != ShieldMode::Off && settings.enforcement == Enforcement::Block;
    let Some(project) = project_of(tx, &here)?.filter(|_| is_wanted) else { return Ok(None) };
    let live = gather(host, side_files, tx, tx.all_holds()?, host.now())?;
    let viewer = Viewer::new(&live, tx, me);
    let elsewhere_too = settings.worktrees == Enforcement::Block;
    let mut found = Vec::new();
    for hold in &live.holds {
        let is_here = elsewhere_too || !rules::is_elsewhere(hold, &here.worktree);
        if is_here && let Some(what) = rules::shielded(&live.holds, hold, &project, me, host.case()) {
            found.push(Reserved { view: viewer.see(hold)?, what });
        }
    }
    Ok(Some((here.worktree, found)))
}

/// Lists the existing paths of reservations; stops soon after [`MOST_SHIELDED`].
fn expand(host: &dyn Host, worktree: &Path, held: &[Reserved]) -> Vec<PathBuf> {
    let mut paths = BTreeSet::new();
    for Reserved { what, .. } in held {
        match what {
            Shielded::Whole(path) => {
                let path = worktree.join(path);
                // Absent files have no stamp.
                if host.stamp(&path) != FileStamp::default() {
                    paths.insert(path);
                }
            }
            Shielded::Matching { pattern, except } => {
                let (files, _) = host.files(worktree, &pattern.stem(), pattern.depth(), 20 * MOST_SHIELDED);
                let is_meant = |file: &String| rules::is_shielded(pattern, except, file, host.case());
                paths.extend(files.into_iter().filter(is_meant).map(|file| worktree.join(file)));
            }
        }
        if paths.len() > MOST_SHIELDED {
            break;
        }
    }
    paths.into_iter().collect()
}
