//! After a command whose text does not tell what it writes: has it changed what another holds?
//!
//! Before it, the files that others have reserved are listed; after it, those are found that
//! were changed meanwhile, are new, or are gone. A command ends with its tool call; one that was
//! interrupted with its turn, or with the next; one in the background when its CLI says so, and
//! is looked at until then.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use super::Viewer;
use super::reserved_files::Listing;
use super::reserved_files::Surroundings;
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
use crate::claims::published::HOLD;
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

/// Clocks of file systems run a little behind.
const SLACK: i64 = 20;

/// How much of a command is noted.
pub(super) const LONGEST_TEXT: usize = 200;

/// So many holds are looked at for one of another's.
const LOOKED_AT: usize = 64;

impl App {
    /// A command begins that may write something.
    pub fn begin_command(
        &mut self,
        session: &SessionId,
        call: &CommandCall<'_>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), StoreError> {
        let listing = match call.kind {
            CommandKind::Known => None,
            // What cannot be listed is a hint less.
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
        self.engine.side_files().begin(session, command)
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
        // Where a repository was moved nobody may have been yet.
        if self.host.locate(cwd).repository.is_some_and(|repository| !side_files.is_known(&repository)) {
            self.settle_projects(vec![cwd.to_owned()])?;
        }
        let tx = self.engine.read()?;
        match Surroundings::of(&*self.host, &*side_files, &*tx, cwd, environment)? {
            Some(here) => Listing::keep(&*self.host, &*side_files, &here, &me, now),
            None => Ok(None),
        }
    }

    /// The call of a command has ended. Finds files that others hold and that it may have
    /// changed. Both are told: the session in answer, the holders by message.
    pub fn end_command(
        &mut self,
        session: &SessionId,
        call: &CommandCall<'_>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, side_files, id) = (self.host.now(), self.engine.side_files(), checksum(call.id));
        let mut running = side_files.running(session);
        running.retain(|command| command.call == id || command.kind == CommandKind::Background);
        for command in running.iter().filter(|command| command.call == id) {
            if call.kind != CommandKind::Background {
                side_files.end(session, command, now);
            } else if command.kind != CommandKind::Background {
                // Its time was up, and it goes on.
                let command = RunningCommand { kind: CommandKind::Background, ..command.clone() };
                side_files.begin(session, command)?;
            }
        }
        if call.kind == CommandKind::Known {
            return Ok(None);
        }
        let _ = self.keep_changed(session, &running);
        self.look_after(session, &running, environment)
    }

    /// A turn of a session is over or begins, so that no tool of its own runs: what was
    /// interrupted has ended. Tells the same as [`App::end_command`].
    pub fn end_commands(
        &mut self,
        session: &SessionId,
        runs_on: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let mut running = side_files.running(session);
        running.retain(|command| command.kind != CommandKind::Subagent);
        for command in running.iter().filter(|one| one.kind != CommandKind::Background || !runs_on) {
            side_files.end(session, command, now);
        }
        self.look_after(session, &running, environment)
    }

    /// Looks what those in the background have done so far. Tells the same.
    pub fn look_after_background(
        &mut self,
        session: &SessionId,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, StoreError> {
        let mut running = self.engine.side_files().running(session);
        running.retain(|command| command.kind == CommandKind::Background);
        self.look_after(session, &running, environment)
    }

    /// Looks what became of the files of others while these commands ran.
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
                // Whatever becomes of the message, the session is told.
                let _ = self.tell_holders(session, &found, &command.text, now);
                told.push(wording::trespass(&found, now));
            }
        }
        Ok((!told.is_empty()).then(|| told.join("\n\n")))
    }

    /// One message to each holder.
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

/// Whether anyone else holds any paths, as far as is published.
fn do_others_hold(side_files: &dyn SideFiles, me: &Actor) -> bool {
    let is_mine = |line: &String| read_hold(line).is_some_and(|hold| hold.holder == *me);
    !side_files.is_current()
        || side_files
            .published(HOLD, LOOKED_AT)
            .is_none_or(|holds| holds.len() == LOOKED_AT || !holds.iter().all(is_mine))
}

/// What one command may have changed.
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
        let Some(here) = Surroundings::of(host, side_files, tx, &command.cwd, environment)? else {
            return Ok(Vec::new());
        };
        let listing = command.listing.as_ref().and_then(|name| Listing::read(side_files, name));
        let viewer = Viewer::new(&here.live, tx, &me);
        let mut found = Vec::new();
        here.each(host, &me, |hold, worktree, files, is_complete| {
            // What was reserved later was not listed.
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

    /// The files that were changed, or came to be there.
    fn changed(
        &self,
        hold: &Hold,
        worktree: &Path,
        files: &[String],
        listing: Option<&Listing>,
    ) -> Vec<Strange> {
        let begun = self.command.at.minus(SLACK).max(hold.since.minus(SLACK));
        let is_changed = |path: &String| {
            let place = worktree.join(path);
            let changed = self.host.stamp(&place).changed / 1_000_000;
            // What was moved here with its directory is as old as it was.
            let is_moved = changed < begun.0 && listing.is_some_and(|listing| listing.lacks(&place));
            let changed = if is_moved { self.above(&place) } else { Timestamp(changed) };
            // Another one has said that it wrote it.
            let is_told = self.side_files.touched(&place).is_some_and(|touch| {
                touch.session != *self.session && touch.at >= begun && touch.at.plus(SLACK) >= changed
            });
            let strange = Strange { path: path.clone(), place, at: changed, is_gone: false };
            (changed >= begun && !is_told).then_some(strange)
        };
        files.iter().filter_map(is_changed).collect()
    }

    /// The files that were there and are not.
    fn gone(&self, hold: &Hold, worktree: &Path, files: &[String], listing: &Listing) -> Vec<Strange> {
        let Some(pattern) = hold.resource.pattern() else { return Vec::new() };
        let there: BTreeSet<&Path> = files.iter().map(Path::new).collect();
        let is_gone = |path: &&Path| {
            let file = Pattern::file(&path.to_string_lossy());
            !there.contains(path) && pattern.overlaps(&file, self.host.case())
        };
        let gone = listing.below(worktree).filter(is_gone).map(|path| {
            let place = worktree.join(path);
            let (path, at) = (path.to_string_lossy().into_owned(), self.above(&place));
            Strange { path, place, at, is_gone: true }
        });
        let is_told = |one: &Strange| {
            self.side_files
                .touched(&one.place)
                .is_some_and(|touch| touch.session != *self.session && touch.at >= self.command.at)
        };
        gone.filter(|one| !is_told(one)).collect()
    }

    /// When something was last added to or removed from the directory above a path.
    fn above(&self, place: &Path) -> Timestamp {
        let stamps = place.ancestors().skip(1).map(|dir| self.host.stamp(dir).changed / 1_000_000);
        Timestamp(stamps.into_iter().find(|changed| *changed != 0).unwrap_or_default())
    }

    /// What builds leave behind is nobody's work, unless it was reserved by name.
    fn leave_out_ignored(&self, hold: &Hold, worktree: &Path, strange: &mut Vec<Strange>) {
        let is_by_name = hold.resource.pattern().is_some_and(|pattern| pattern.literal().is_some());
        if strange.is_empty() || is_by_name {
            return;
        }
        let paths: Vec<&str> = strange.iter().map(|one| one.path.as_str()).collect();
        let ignored = self.host.ignored(worktree, &paths).unwrap_or_default();
        strange.retain(|one| !ignored.contains(&one.path));
    }

    /// Whether the session was not told of it yet; from now on it was.
    fn is_new(&self, one: &Strange) -> bool {
        let what = match one.is_gone {
            true => format!("removed {} {}", self.command.at.0, one.place.display()),
            false => format!("trespass {} {}", self.host.stamp(&one.place).changed, one.place.display()),
        };
        !self.side_files.notified_before(self.session, &what)
    }

    /// Whether what its holder wrote last can be given back.
    fn is_kept(&self, hold: &Hold, one: &Strange) -> bool {
        let is_fresh = |kept: &KeptFile| self.host.now().since(kept.at) < Timestamp::DAY;
        let kept = self.side_files.kept_file(&one.place).filter(is_fresh);
        matches!(kept, Some(KeptFile { session, content: Some(_), .. })
            if hold.holder == Actor::Agent(session.clone()))
    }

    /// Whether its holder ran a command that may have done it as well.
    fn may_be_the_holders(&self, hold: &Hold, one: &Strange) -> bool {
        let Actor::Agent(holder) = &hold.holder else { return false };
        let from = if one.is_gone { self.command.at } else { one.at };
        self.side_files.ran_between(holder, from, one.at.plus(SLACK))
    }
}

/// A file of another's that is not as it was.
struct Strange {
    path: String,
    place: PathBuf,
    /// When that came about.
    at: Timestamp,
    is_gone: bool,
}
