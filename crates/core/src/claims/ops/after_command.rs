//! Finds out, after a command whose text does not tell what it writes, whether it changed files
//! that others hold.
//!
//! Before the command, the files that others have reserved are listed; after it, those are found
//! that were changed meanwhile, are new, or are gone. A command ends with its tool call; an
//! interrupted one with its turn, or with the next; one in the background when its CLI says so,
//! and its changes are looked for until then.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use super::Viewer;
use super::reserved_files::Listing;
use super::reserved_files::ReservedHere;
use crate::App;
use crate::Timestamp;
use crate::claims::CommandCall;
use crate::claims::CommandKind;
use crate::claims::Hold;
use crate::claims::KeptFile;
use crate::claims::Pattern;
use crate::claims::RunningCommand;
use crate::claims::Trespass;
use crate::claims::notes::checksum;
use crate::claims::published::HOLD_LINE_PREFIX;
use crate::claims::published::read_hold;
use crate::claims::rules;
use crate::claims::wording;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::SessionId;
use crate::side_files::SideFiles;
use crate::text;

/// Milliseconds that the clock of a file system may run behind.
const SLACK: i64 = 20;

/// Longest text of a command that is noted, in characters.
pub(super) const LONGEST_TEXT: usize = 200;

/// Most published holds that are searched for one of another agent.
const LOOKED_AT: usize = 64;

impl App {
    /// Notes that a command begins that may write something, and lists the files that others have
    /// reserved.
    pub fn begin_command(
        &mut self,
        session: &SessionId,
        call: &CommandCall<'_>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), StoreError> {
        let listing = match call.kind {
            CommandKind::Known => None,
            // Without the list, a hint may be missing afterwards.
            _ => self.list_reserved(session, call.cwd, environment).ok().flatten(),
        };
        let command = RunningCommand {
            call: checksum(call.id),
            at: self.host.now(),
            kind: call.kind,
            listing,
            cwd: call.cwd.to_owned(),
            text: text::one_line(call.command, LONGEST_TEXT),
        };
        self.engine.side_files().note_command_begun(session, command)
    }

    fn list_reserved(
        &mut self,
        session: &SessionId,
        cwd: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let me = Actor::Agent(session.clone());
        // Nearly always nobody else holds anything.
        if !do_others_hold(&*side_files, &me) {
            return Ok(None);
        }
        // A repository that was moved may have no recorded project yet.
        if self
            .host
            .locate(cwd)
            .repository
            .is_some_and(|repository| !side_files.is_repository_published(&repository))
        {
            self.settle_projects(vec![cwd.to_owned()])?;
        }
        let tx = self.engine.read()?;
        match ReservedHere::of(&*self.host, &*side_files, &*tx, cwd, environment)? {
            Some(here) => Listing::keep(&*self.host, &*side_files, &here, &me, now),
            None => Ok(None),
        }
    }

    /// Ends the call of a command. Finds files that others hold and that it may have changed.
    /// Tells both: the session in the returned text, the holders by message.
    pub fn end_command(
        &mut self,
        session: &SessionId,
        call: &CommandCall<'_>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, side_files, id) = (self.host.now(), self.engine.side_files(), checksum(call.id));
        let mut running = side_files.running_commands(session);
        running.retain(|command| command.call == id || command.kind == CommandKind::Background);
        for command in running.iter().filter(|command| command.call == id) {
            if call.kind != CommandKind::Background {
                side_files.note_command_ended(session, command, now);
            } else if command.kind != CommandKind::Background {
                // The time of its call was up, and the command goes on.
                let command = RunningCommand { kind: CommandKind::Background, ..command.clone() };
                side_files.note_command_begun(session, command)?;
            }
        }
        if call.kind == CommandKind::Known {
            return Ok(None);
        }
        let _ = self.keep_changed(session, &running);
        self.look_after(session, &running, environment)
    }

    /// Ends the interrupted commands of a session whose turn is over or begins, so that no tool
    /// of its own runs. Finds and tells the same as [`App::end_command`].
    pub fn end_commands(
        &mut self,
        session: &SessionId,
        runs_on: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let mut running = side_files.running_commands(session);
        running.retain(|command| command.kind != CommandKind::Subagent);
        for command in running.iter().filter(|one| one.kind != CommandKind::Background || !runs_on) {
            side_files.note_command_ended(session, command, now);
        }
        self.look_after(session, &running, environment)
    }

    /// Looks for changes that commands in the background have made so far. Tells the same as
    /// [`App::end_command`].
    pub fn check_background_commands(
        &mut self,
        session: &SessionId,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let mut running = self.engine.side_files().running_commands(session);
        running.retain(|command| command.kind == CommandKind::Background);
        self.look_after(session, &running, environment)
    }

    /// Looks for others' files that changed while these commands ran, and tells both sides.
    fn look_after(
        &mut self,
        session: &SessionId,
        commands: &[RunningCommand],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let mut told = Vec::new();
        for command in commands.iter().filter(|command| command.kind != CommandKind::Known) {
            if !side_files.is_anything_held() {
                break;
            }
            let tx = self.engine.read()?;
            let look = Look { host: &*self.host, side_files: &*side_files, tx: &*tx, session, command };
            let found = look.find(environment)?;
            drop(tx);
            if !found.is_empty() {
                // The session is told, even if the message to the holders fails.
                let _ = self.tell_holders(session, &found, &command.text, now);
                told.push(wording::trespass(&found, now));
            }
        }
        Ok((!told.is_empty()).then(|| told.join("\n\n")))
    }

    /// Sends one message to each holder.
    fn tell_holders(
        &mut self,
        session: &SessionId,
        found: &[Trespass],
        command: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let holders: BTreeSet<&Actor> = found.iter().map(|one| &one.held.hold.holder).collect();
        for holder in holders {
            let tx = self.engine.write()?;
            let Some((me, None)) = tx.agent(session)? else { continue };
            let holding = match holder {
                Actor::Agent(holding) => match tx.agent(holding)? {
                    Some((agent, None)) => Some(agent),
                    _ => continue,
                },
                Actor::Person | Actor::Consort => None,
            };
            let theirs = found.iter().filter(|one| one.held.hold.holder == *holder).collect::<Vec<_>>();
            let text = wording::trespassed(me.name.as_str(), &theirs, command);
            let (kind, priority) = (MessageType::Info, Priority::High);
            let to: Vec<_> = holding.iter().collect();
            let change = messages::notice(&to, kind, priority, text);
            let (project, actor) = (Some(me.project.id.clone()), Actor::Agent(session.clone()));
            Self::conclude(&*self.host, tx, now, project, actor, vec![change])?;
        }
        Ok(())
    }
}

/// Tells whether anyone else holds paths, by the published lines; says yes if in doubt.
fn do_others_hold(side_files: &dyn SideFiles, me: &Actor) -> bool {
    let is_mine = |line: &String| read_hold(line).is_some_and(|hold| hold.holder == *me);
    !side_files.is_current()
        || side_files
            .published(HOLD_LINE_PREFIX, LOOKED_AT)
            .is_none_or(|holds| holds.len() == LOOKED_AT || !holds.iter().all(is_mine))
}

/// The search for files that one command may have changed.
struct Look<'a> {
    host: &'a dyn Host,
    side_files: &'a dyn SideFiles,
    tx: &'a dyn Tx,
    session: &'a SessionId,
    command: &'a RunningCommand,
}

impl Look<'_> {
    fn find(&self, environment: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Trespass>, StoreError> {
        let Self { host, side_files, tx, session, command } = *self;
        let me = Actor::Agent(session.clone());
        let Some(here) = ReservedHere::of(host, side_files, tx, &command.cwd, environment)? else {
            return Ok(Vec::new());
        };
        let listing = command.listing.as_ref().and_then(|name| Listing::read(side_files, name));
        let viewer = Viewer::new(&here.live, tx, &me);
        let mut found = Vec::new();
        here.each(host, &me, |hold, worktree, files, is_complete| {
            // Files that were reserved after the command began were not listed.
            let listing = listing.as_ref().filter(|_| hold.since <= command.at);
            let mut strange = self.changed(hold, worktree, &files, listing);
            if let Some(listing) = listing.filter(|_| is_complete) {
                strange.extend(self.gone(hold, worktree, &files, listing));
            }
            strange.retain(|one| {
                rules::overridden_until(&here.live.holds, hold, &Pattern::file(&one.path), host.case())
                    .is_none()
            });
            self.leave_out_ignored(hold, worktree, &mut strange);
            for one in strange.into_iter().filter(|one| self.is_new(one)) {
                found.push(Trespass {
                    is_unsure: self.may_be_the_holders(hold, &one),
                    is_kept: self.is_kept(hold, &one),
                    path: one.path,
                    place: one.place,
                    is_gone: one.is_gone,
                    held: viewer.see(hold)?,
                });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Finds the held files that were changed or are new.
    fn changed(
        &self,
        hold: &Hold,
        worktree: &Path,
        files: &[String],
        listing: Option<&Listing>,
    ) -> Vec<ChangedFile> {
        let begun = self.command.at.minus(SLACK).max(hold.since.minus(SLACK));
        let is_changed = |path: &String| {
            let place = worktree.join(path);
            let changed = self.host.stamp(&place).changed / 1_000_000;
            // A file that was moved here with its directory is as old as it was.
            let is_moved = changed < begun.0 && listing.is_some_and(|listing| listing.lacks(&place));
            let changed = if is_moved { self.above(&place) } else { Timestamp(changed) };
            // Another session's tool has reported this write.
            let is_told = self.side_files.last_write(&place).is_some_and(|write| {
                write.session != *self.session && write.at >= begun && write.at.plus(SLACK) >= changed
            });
            let strange = ChangedFile { path: path.clone(), place, at: changed, is_gone: false };
            (changed >= begun && !is_told).then_some(strange)
        };
        files.iter().filter_map(is_changed).collect()
    }

    /// Finds the held files that were there and are gone.
    fn gone(&self, hold: &Hold, worktree: &Path, files: &[String], listing: &Listing) -> Vec<ChangedFile> {
        let Some(pattern) = hold.resource.pattern() else { return Vec::new() };
        let there: BTreeSet<&Path> = files.iter().map(Path::new).collect();
        let is_gone = |path: &&Path| {
            let file = Pattern::file(&path.to_string_lossy());
            !there.contains(path) && pattern.overlaps(&file, self.host.case())
        };
        let gone = listing.below(worktree).filter(is_gone).map(|path| {
            let place = worktree.join(path);
            let (path, at) = (path.to_string_lossy().into_owned(), self.above(&place));
            ChangedFile { path, place, at, is_gone: true }
        });
        let is_told = |one: &ChangedFile| {
            self.side_files
                .last_write(&one.place)
                .is_some_and(|write| write.session != *self.session && write.at >= self.command.at)
        };
        gone.filter(|one| !is_told(one)).collect()
    }

    /// Returns when something was last added to or removed from the nearest existing directory
    /// above a path.
    fn above(&self, place: &Path) -> Timestamp {
        let stamps = place.ancestors().skip(1).map(|dir| self.host.stamp(dir).changed / 1_000_000);
        Timestamp(stamps.into_iter().find(|changed| *changed != 0).unwrap_or_default())
    }

    /// Leaves out files that git ignores: builds make them, and they are nobody's work, unless
    /// reserved by name.
    fn leave_out_ignored(&self, hold: &Hold, worktree: &Path, strange: &mut Vec<ChangedFile>) {
        let is_by_name = hold.resource.pattern().is_some_and(|pattern| pattern.literal().is_some());
        if strange.is_empty() || is_by_name {
            return;
        }
        let paths: Vec<&str> = strange.iter().map(|one| one.path.as_str()).collect();
        let ignored = self.host.ignored(worktree, &paths).unwrap_or_default();
        strange.retain(|one| !ignored.contains(&one.path));
    }

    /// Tells whether the session was not told of this change yet, and notes that it is told now.
    fn is_new(&self, one: &ChangedFile) -> bool {
        let what = match one.is_gone {
            true => format!("removed {} {}", self.command.at.0, one.place.display()),
            false => format!("trespass {} {}", self.host.stamp(&one.place).changed, one.place.display()),
        };
        !self.side_files.note_notified(self.session, &what)
    }

    /// Tells whether the content that the file's holder wrote last can be restored.
    fn is_kept(&self, hold: &Hold, one: &ChangedFile) -> bool {
        let is_fresh = |kept: &KeptFile| self.host.now().since(kept.at) < Timestamp::DAY;
        let kept = self.side_files.kept_file(&one.place).filter(is_fresh);
        matches!(kept, Some(KeptFile { session, content: Some(_), .. })
            if hold.holder == Actor::Agent(session.clone()))
    }

    /// Tells whether the holder ran a command that may have made the change as well.
    fn may_be_the_holders(&self, hold: &Hold, one: &ChangedFile) -> bool {
        let Actor::Agent(holder) = &hold.holder else { return false };
        let from = if one.is_gone { self.command.at } else { one.at };
        self.side_files.ran_between(holder, from, one.at.plus(SLACK))
    }
}

/// A file that another holds, and that changed.
struct ChangedFile {
    path: String,
    place: PathBuf,
    /// The time of the change.
    at: Timestamp,
    is_gone: bool,
}
