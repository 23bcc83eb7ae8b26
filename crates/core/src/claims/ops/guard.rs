//! Claims verb that guards a write: is the path reserved by another agent, and is the
//! write refused, warned about or let through?

use std::path::Path;
use std::path::PathBuf;

use super::ResolvedTarget;
use super::Viewer;
use super::gather;
use super::is_elsewhere;
use super::project_of;
use super::reach;
use crate::App;
use crate::claims::Case;
use crate::claims::CommandView;
use crate::claims::Extent;
use crate::claims::Hold;
use crate::claims::HoldMode;
use crate::claims::ObstructedWrite;
use crate::claims::PathCondition;
use crate::claims::Pattern;
use crate::claims::PendingWrite;
use crate::claims::PublishedHold;
use crate::claims::PublishedHolds;
use crate::claims::Resource;
use crate::claims::Strength;
use crate::claims::Verdict;
use crate::claims::rules;
use crate::claims::wording;
use crate::config::Enforcement;
use crate::config::HookSettings;
use crate::config::hook_settings;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::RealPath;
use crate::journal::Actor;
use crate::presence;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::SessionId;
use crate::side_files::SideFiles;

/// Most files that a glob is compared with.
const SEARCHED: usize = 2_000;

impl App {
    /// Decides about writes of a session. The published lines let nearly all of them through;
    /// only where they name a hold of another is the store asked, which decides. `on_match` gets
    /// the refusal that applies if the store does not answer: **only the absence of a match lets
    /// a write through.**
    pub fn guard(
        &mut self,
        session: &SessionId,
        targets: &[PendingWrite],
        environment: &dyn Fn(&str) -> Option<String>,
        on_match: &dyn Fn(&str),
    ) -> Verdict {
        // Nearly always nothing is held anywhere.
        let side_files = self.engine.side_files();
        if targets.is_empty() || !side_files.is_anything_held() {
            return Verdict::Free;
        }
        let matched = self.match_published(&*side_files, session, targets);
        let Some(first) = matched.reaches.first() else { return Verdict::Free };
        let refusal = self.unconfirmed(&*side_files, &matched, &first.located.worktree);
        // A repository that was moved or copied may have no recorded project yet.
        let is_unknown =
            |reach: &&ResolvedTarget<'_>| is_unknown(&*side_files, &matched.held, reach, self.host.case());
        let unknown = matched.reaches.iter().filter(is_unknown);
        let unknown: Vec<PathBuf> = unknown.map(|reach| reach.located.worktree.clone()).collect();
        if !unknown.is_empty() {
            let _ = self.settle_projects(unknown);
        }
        if let Some(refusal) = &refusal {
            on_match(refusal);
        }
        match (self.confirm(session, matched, environment), refusal) {
            (Ok(verdict), _) => verdict,
            (Err(_), Some(refusal)) => Verdict::Denied(refusal),
            (Err(_), None) => Verdict::Free,
        }
    }

    /// Finds the published holds at the places that these writes reach.
    fn match_published<'a>(
        &self,
        side_files: &dyn SideFiles,
        session: &SessionId,
        targets: &'a [PendingWrite],
    ) -> MatchedWrites<'a> {
        let (me, now, case) = (Actor::Agent(session.clone()), self.host.now(), self.host.case());
        let mut reaches: Vec<ResolvedTarget<'_>> =
            targets.iter().flat_map(|target| reach(&*self.host, target)).collect();
        let mut near: Vec<Pattern> = reaches.iter().map(|reach| reach.paths.clone()).collect();
        if targets.iter().any(|target| target.extent == Extent::Tree) {
            // Whole repositories may lie below.
            near.push(Pattern::tree(""));
        }
        let mut held = side_files.held_near(&near, case);
        held.holds.retain(|line| line.until.is_none_or(|until| until > now));
        // A reservation that the session shares is not in its way.
        let (mine, mut others): (Vec<PublishedHold>, Vec<PublishedHold>) =
            held.holds.into_iter().partition(|line| line.holder == me);
        let is_shared = |line: &PublishedHold| {
            let meets = |own: &PublishedHold| own.pattern.overlaps(&line.pattern, case);
            line.mode == HoldMode::Shared && mine.iter().any(|own| own.project == line.project && meets(own))
        };
        others.retain(|line| !is_shared(line));
        held.holds = others;
        for target in targets.iter().filter(|target| target.extent == Extent::Tree) {
            reaches.extend(below(&*self.host, &held, target));
        }
        reaches.retain(|reach| {
            held.is_partial
                || is_held(&held, reach, case).next().is_some()
                || is_unknown(side_files, &held, reach, case)
        });
        MatchedWrites { held, reaches }
    }

    /// Makes the refusal for a match that the store could not confirm; `None` if the published
    /// lines name no reservation of a live holder.
    fn unconfirmed(
        &self,
        side_files: &dyn SideFiles,
        matched: &MatchedWrites<'_>,
        worktree: &Path,
    ) -> Option<String> {
        let published = side_files.published_settings(worktree).unwrap_or_default();
        if HookSettings::from_published(&published, &|_| None).enforcement != Enforcement::Block {
            return None;
        }
        let case = self.host.case();
        let lives = |line: &&PublishedHold| match &line.holder {
            Actor::Agent(holder) => side_files
                .host_of(holder)
                .is_none_or(|(host, process)| !self.host.is_here(&host) || self.host.is_alive(&process)),
            Actor::Person | Actor::Consort => true,
        };
        matched.reaches.iter().find_map(|reach| {
            let mut lines = is_held(&matched.held, reach, case);
            let line = lines.find(|line| line.strength == Strength::Blocking && lives(line))?;
            Some(wording::unconfirmed(&reach.located.path, line))
        })
    }

    /// Asks the store about a match.
    fn confirm(
        &mut self,
        session: &SessionId,
        MatchedWrites { held, reaches }: MatchedWrites<'_>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Verdict, StoreError> {
        let Some(first) = reaches.first() else { return Ok(Verdict::Free) };
        let (me, now) = (Actor::Agent(session.clone()), self.host.now());
        let side_files = self.engine.side_files();
        let tx = self.engine.read()?;
        let settings = hook_settings(&*tx, &first.located.worktree, environment)?;
        let enforcement = settings.enforcement;
        if enforcement == Enforcement::Off {
            return Ok(Verdict::Free);
        }
        let named: Vec<Resource> = held.holds.into_iter().map(|line| Resource::Paths(line.pattern)).collect();
        let all = if held.is_partial { tx.all_holds()? } else { tx.holds_on(&named)? };
        let (reserved, mut claimed) =
            obstacles(&*self.host, &*side_files, &*tx, all, &reaches, &me, settings.worktrees)?;
        if !reserved.is_empty() {
            return Ok(match enforcement {
                Enforcement::Block => Verdict::Denied(wording::denial(&reserved, now)),
                _ => Verdict::Warned(wording::warning(&reserved, now)),
            });
        }
        // Claims only warn, once per session.
        claimed.retain(|obstacle: &ObstructedWrite| {
            let Hold { resource, generation, .. } = &obstacle.held.hold;
            !side_files.note_notified(session, &format!("claimed {generation} {resource}"))
        });
        Ok(if claimed.is_empty() { Verdict::Free } else { Verdict::Warned(wording::warning(&claimed, now)) })
    }

    /// Judges the writes that a command's text tells, without doing anything. A caller that is no
    /// agent is judged as one that holds nothing.
    pub fn explain_writes(
        &mut self,
        caller: &CallerFacts,
        targets: &[PendingWrite],
        is_certain: bool,
    ) -> Result<CommandView, StoreError> {
        let now = self.host.now();
        let side_files = self.engine.side_files();
        let tx = self.engine.read()?;
        let me = match presence::who_calls(&*self.host, &*side_files, &*tx, caller)? {
            Caller::Agent(agent) => Actor::Agent(agent.session),
            Caller::Person | Caller::Anonymous(_) => Actor::Consort,
        };
        let reaches: Vec<ResolvedTarget<'_>> =
            targets.iter().flat_map(|target| reach(&*self.host, target)).collect();
        let settings = match reaches.first() {
            Some(first) => hook_settings(&*tx, &first.located.worktree, &|_| None)?,
            None => HookSettings::DEFAULT,
        };
        let (enforcement, all) = (settings.enforcement, tx.all_holds()?);
        let (reserved, claimed) =
            obstacles(&*self.host, &*side_files, &*tx, all, &reaches, &me, settings.worktrees)?;
        let (verdict, reasons) = match (reserved.is_empty(), claimed.is_empty(), is_certain) {
            (false, ..) if enforcement == Enforcement::Block => {
                ("refused", wording::obstacle_lines(&reserved, now))
            }
            (false, ..) if enforcement != Enforcement::Off => {
                ("warned", wording::obstacle_lines(&reserved, now))
            }
            (_, false, _) => ("warned", wording::obstacle_lines(&claimed, now)),
            (.., true) => ("free", String::new()),
            (.., false) => ("unknown", String::new()),
        };
        let writes = targets.iter().map(|target| target.path.display().to_string()).collect();
        let reasons = reasons.lines().map(str::to_owned).collect();
        Ok(CommandView { verdict, writes, reasons })
    }
}

/// Finds the reservations and the claims that are in the way of writes.
fn obstacles(
    host: &dyn Host,
    side_files: &dyn SideFiles,
    tx: &dyn Tx,
    all: Vec<Hold>,
    reaches: &[ResolvedTarget<'_>],
    me: &Actor,
    worktrees: Enforcement,
) -> Result<(Vec<ObstructedWrite>, Vec<ObstructedWrite>), StoreError> {
    let (now, case) = (host.now(), host.case());
    let live = gather(host, side_files, tx, all, now)?;
    let viewer = Viewer::new(&live, tx, me);
    let (mut reserved, mut claimed) = (Vec::new(), Vec::new());
    for reach in reaches {
        let ResolvedTarget { target, located, paths } = reach;
        let project = project_of(tx, located)?;
        for hold in live.holds.iter().filter(|hold| hold.holder != *me) {
            let is = |strength| rules::is_in_the_way(hold, strength, project.as_ref(), paths, case);
            // In another worktree it is another file, which will meet the holder's when both are merged.
            let is_elsewhere = || is_elsewhere(host, hold, &located.worktree);
            let obstacles = match (is(Strength::Blocking), is(Strength::Advisory)) {
                (true, _) if worktrees == Enforcement::Off && is_elsewhere() => continue,
                (true, _) if worktrees == Enforcement::Warn && is_elsewhere() => &mut claimed,
                (true, _) => &mut reserved,
                (_, true) => &mut claimed,
                _ => continue,
            };
            if rules::overridden_until(&live.holds, hold, paths, case).is_none()
                && !rules::has_joined(&live.holds, hold, me, case)
                && is_reached(host, reach, hold)
            {
                let place = match target.extent {
                    Extent::Changes | Extent::Worktree | Extent::Commits => {
                        located.worktree.join(hold.resource.shown())
                    }
                    _ => target.path.clone(),
                };
                obstacles.push(ObstructedWrite {
                    path: located.path.clone(),
                    place,
                    extent: target.extent,
                    by: target.by.clone(),
                    held: viewer.see(hold)?,
                    state: hold
                        .holder
                        .session()
                        .and_then(|holder| side_files.activity(holder))
                        .map(|activity| (activity.status, activity.last_active)),
                });
            }
        }
    }
    Ok((reserved, claimed))
}

/// Resolves the write of a whole directory in the repositories below it.
fn below<'a>(host: &dyn Host, held: &PublishedHolds, target: &'a PendingWrite) -> Vec<ResolvedTarget<'a>> {
    let whole = host.real_path(&target.path);
    let roots = held.repositories.iter().filter_map(|(repository, _)| repository.parent());
    let inner = roots.filter(|root| root.starts_with(&whole));
    inner
        .map(|root| ResolvedTarget { target, located: host.locate(root), paths: Pattern::tree("") })
        .collect()
}

/// Tells whether a write really changes held files, and not only matches their paths.
fn is_reached(
    host: &dyn Host,
    ResolvedTarget { target, located, paths }: &ResolvedTarget<'_>,
    hold: &Hold,
) -> bool {
    let Some(held) = hold.resource.pattern() else { return false };
    let works_here = || !is_elsewhere(host, hold, &located.worktree);
    // Only changed files go into a commit; untracked files are reached by `add` and by `clean`.
    let takes_new = matches!(target.by.as_str(), "git add" | "git clean");
    // Where git does not answer in time, the effect of its command is unknown, and is looked for
    // afterwards.
    let has_changes = || host.has_changes(&located.worktree, held, takes_new) == Some(true);
    if matches!(target.extent, Extent::File | Extent::Tree) && !is_possible(host, target) {
        return false;
    }
    // The held directory is there, so only a directory within it may be missing for the write.
    if target.needs == PathCondition::Directory && host.locate(&located.worktree.join(held.stem())).exists {
        return target.path.parent().is_some_and(|parent| host.locate(parent).exists);
    }
    match target.extent {
        Extent::File | Extent::Tree | Extent::Glob if !target.range.is_empty() => {
            let is_meant = |path: &String| paths.overlaps(&Pattern::file(path), host.case());
            works_here() && host.differing(&located.worktree, &target.range, held).iter().any(is_meant)
        }
        Extent::File | Extent::Tree if is_for_changes(&target.by) => {
            let meant = if held.covers(paths, host.case()) { paths } else { held };
            works_here() && host.has_changes(&located.worktree, meant, takes_new) == Some(true)
        }
        // `git rm` refuses uncommitted changes, unless it is told not to.
        Extent::File | Extent::Tree if target.by == "git rm" => {
            host.has_changes(&located.worktree, paths, false) == Some(false)
        }
        // `git mv` moves only tracked files.
        Extent::File | Extent::Tree if target.by == "git mv" => !is_untracked(host, located, paths, target),
        Extent::File | Extent::Tree => true,
        Extent::Glob => any_file_matches(host, &located.worktree, paths, held),
        Extent::Changes => works_here() && has_changes(),
        Extent::Worktree => works_here(),
        Extent::Commits => {
            works_here()
                && !host.differing(&located.worktree, &target.range, held).is_empty()
                && !is_stopped_by_git(host, located, target)
        }
    }
}

/// Tells whether git itself will refuse, because of uncommitted changes in files that it would write.
fn is_stopped_by_git(host: &dyn Host, located: &RealPath, target: &PendingWrite) -> bool {
    let everything = Pattern::tree("");
    match target.by.as_str() {
        "git rebase" => host.has_changes(&located.worktree, &everything, false) == Some(true),
        "git reset --keep" | "git checkout" | "git switch" | "git merge" | "git cherry-pick"
        | "git revert" | "git pull" => {
            host.would_overwrite_changes(&located.worktree, &target.range, &everything)
        }
        _ => false,
    }
}

/// Tells whether this command of git writes a path only where it differs from git's own version.
fn is_for_changes(by: &str) -> bool {
    matches!(by, "git add" | "git commit" | "git clean" | "git checkout" | "git restore" | "git stash")
}

/// Tells whether a file exists and is untracked.
fn is_untracked(host: &dyn Host, located: &RealPath, path: &Pattern, target: &PendingWrite) -> bool {
    let found = host.locate(&target.path);
    let has_changes = |with_new| host.has_changes(&located.worktree, path, with_new);
    found.exists && !found.is_dir && has_changes(true) == Some(true) && has_changes(false) == Some(false)
}

/// Tells whether the path meets the condition without which the program does not write it.
fn is_possible(host: &dyn Host, target: &PendingWrite) -> bool {
    let found = || host.locate(&target.path);
    match target.needs {
        PathCondition::Nothing | PathCondition::Directory => true,
        PathCondition::Absent => !found().exists,
        PathCondition::Present => found().exists,
        PathCondition::File => Some(found()).is_some_and(|found| found.exists && !found.is_dir),
        PathCondition::Clean => host.has_changes(&found().worktree, &Pattern::tree(""), false) == Some(false),
    }
}

/// Tells whether any existing file is meant by both a glob and a hold: the shell expands a glob
/// to existing files. Says yes where there are too many files to look at.
fn any_file_matches(host: &dyn Host, worktree: &std::path::Path, paths: &Pattern, held: &Pattern) -> bool {
    let case = host.case();
    let (files, is_complete) = host.files(worktree, &paths.stem(), paths.depth(), SEARCHED);
    let is_meant = |file: Pattern| file.overlaps(paths, case) && file.overlaps(held, case);
    !is_complete || files.iter().any(|file| is_meant(Pattern::file(file)))
}

/// Finds the published holds on these paths.
fn is_held<'h>(
    held: &'h PublishedHolds,
    ResolvedTarget { located, paths, .. }: &ResolvedTarget<'_>,
    case: Case,
) -> impl Iterator<Item = &'h PublishedHold> {
    let known = |repository: &PathBuf| held.repositories.iter().find(|(known, _)| known == repository);
    let project = match &located.repository {
        None => Some(None),
        // Nothing is held in a repository that is not published.
        Some(repository) => known(repository).map(|(_, project)| Some(project)),
    };
    let paths = paths.clone();
    held.holds.iter().filter(move |line| {
        project.is_some_and(|project| line.project.as_ref() == project) && line.pattern.overlaps(&paths, case)
    })
}

/// Tells whether a write goes to an unpublished repository while the same paths are held in some
/// project: it may be that project in another place.
fn is_unknown(
    side_files: &dyn SideFiles,
    held: &PublishedHolds,
    ResolvedTarget { located, paths, .. }: &ResolvedTarget<'_>,
    case: Case,
) -> bool {
    let Some(repository) = &located.repository else { return false };
    let is_like = |line: &PublishedHold| line.project.is_some() && line.pattern.overlaps(paths, case);
    held.holds.iter().any(is_like) && !side_files.is_repository_published(repository)
}

/// Writes that published holds may be in the way of, with those holds.
struct MatchedWrites<'a> {
    held: PublishedHolds,
    reaches: Vec<ResolvedTarget<'a>>,
}
