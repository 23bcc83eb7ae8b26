//! The verbs of the claims room, one file each, and the helpers that they share.

mod after_command;
mod commit;
mod contest;
mod guard;
mod hold;
mod keep_content;
mod list;
mod note_writes;
mod overlap;
mod r#override;
mod release;
mod renew;
mod reserved_files;
mod restore;
mod shield;
mod stale_reads;
mod stuck;
mod wait;

pub(crate) use list::held_by;
pub(crate) use list::in_the_way_of;
pub(crate) use list::others_holds;
pub use restore::RestoreMode;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::path::PathBuf;

use crate::App;
use crate::Timestamp;
use crate::claims::ClaimError;
use crate::claims::Extent;
use crate::claims::Hold;
use crate::claims::HoldView;
use crate::claims::Pattern;
use crate::claims::PatternError;
use crate::claims::PendingWrite;
use crate::claims::Resource;
use crate::claims::Strength;
use crate::claims::pattern::is_glob;
use crate::claims::pattern::unescape;
use crate::claims::rules;
use crate::claims::rules::Asker;
use crate::claims::rules::LiveHolds;
use crate::claims::rules::ParsedResource;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::RealPath;
use crate::journal::Actor;
use crate::presence;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::PresenceStore;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::SideFiles;
use crate::tasks;
use crate::text;

/// Returns the calling agent, or `None` for the person; an anonymous caller is refused.
fn speaker(caller: Caller) -> Result<Option<Agent>, ClaimError> {
    match caller {
        Caller::Agent(agent) => Ok(Some(*agent)),
        Caller::Person => Ok(None),
        Caller::Anonymous(why) => Err(why.into()),
    }
}

fn actor(me: Option<&Agent>) -> Actor {
    me.map_or(Actor::Person, |me| Actor::Agent(me.session.clone()))
}

/// Describes an agent, or the person: `GoldFalcon (claude on feat/auth)`
pub(crate) fn label(host: &dyn Host, me: Option<&Agent>) -> String {
    let Some(me) = me else { return "the person".into() };
    let branch = host.branch(&me.location.worktree).or_else(|| me.branch.clone());
    match branch {
        Some(branch) => {
            format!("{} ({} on {})", me.name, text::foreign(&me.kind, 20), text::foreign(&branch, 60))
        }
        None => format!("{} ({})", me.name, text::foreign(&me.kind, 20)),
    }
}

impl App {
    /// Records the projects that typed texts may be about, before the write lock is taken.
    fn settle_projects_of(&mut self, cwd: &Path, what: &[impl AsRef<str>]) -> Result<(), StoreError> {
        let typed = what.iter().map(|text| {
            let text = text.as_ref();
            cwd.join(Resource::path_in(text).unwrap_or(text))
        });
        let places = typed.filter_map(|path| {
            let located = self.host.locate(&path);
            located.repository.map(|_| located.worktree)
        });
        let places: Vec<PathBuf> = places.chain([cwd.to_owned()]).collect();
        self.settle_projects(places)
    }
}

/// Resolves a typed text to a resource. Paths become real paths relative to their worktree's
/// root; outside of any repository they are absolute.
fn wanted(
    host: &dyn Host,
    tx: &dyn PresenceStore,
    cwd: &Path,
    text: &str,
    strength: Strength,
) -> Result<ParsedResource, ClaimError> {
    let typed = match (Resource::path_in(text), strength) {
        (Some(path), _) => path,
        (None, Strength::Blocking | Strength::Overridden) => text,
        // If a file of that name exists, the file is meant, and not the name as a word.
        (None, Strength::Advisory) if host.locate(&cwd.join(text)).exists && !text.trim().is_empty() => text,
        (None, Strength::Advisory) => {
            let name = rules::name(text);
            let length = name.chars().count();
            if name.is_empty() {
                return Err(ClaimError::Nothing);
            }
            if length > rules::LONGEST_NAME {
                return Err(ClaimError::TooLong { length, limit: rules::LONGEST_NAME });
            }
            let project = match Resource::is_of_the_machine(&name) {
                true => None,
                false => Some(presence::project_without_git(host, tx, cwd)?),
            };
            return Ok(ParsedResource { project, resource: Resource::Named(name), worktree: None });
        }
    };
    if typed.trim().is_empty() {
        return Err(ClaimError::Nothing);
    }
    let (located, pattern) = locate(host, cwd, typed)?;
    let project = match &located.repository {
        Some(_) => Some(presence::project_without_git(host, tx, &located.worktree)?),
        None => None,
    };
    let worktree = Some(located.worktree);
    Ok(ParsedResource { project, resource: Resource::Paths(pattern), worktree })
}

/// Lists all resources that a typed text may mean among the holds: a name, or a path from `cwd`
/// or from the root, as we show it.
fn parse_resources(
    host: &dyn Host,
    tx: &dyn PresenceStore,
    cwd: &Path,
    text: &str,
    strength: Option<Strength>,
) -> Result<Vec<ParsedResource>, ClaimError> {
    let mut parse_resources = Vec::new();
    if strength != Some(Strength::Blocking) {
        parse_resources.push(wanted(host, tx, cwd, text, Strength::Advisory)?);
    }
    // `topic:auth` is no path.
    let is_name = text.split('/').next().is_some_and(|first| first.contains(':'));
    if !is_name {
        let root = host.locate(cwd).worktree;
        for from in [cwd, &root] {
            parse_resources.push(wanted(host, tx, from, text, Strength::Blocking)?);
        }
    }
    Ok(parse_resources)
}

/// Locates a typed path for a caller that only looks: from `cwd`, or from the root if the path
/// exists only there.
fn find(host: &dyn Host, cwd: &Path, typed: &str) -> Result<(RealPath, Pattern), ClaimError> {
    let here = locate(host, cwd, typed)?;
    if here.0.exists {
        return Ok(here);
    }
    let root = host.locate(cwd).worktree;
    let there = locate(host, &root, typed)?;
    Ok(if there.0.exists { there } else { here })
}

/// Locates a typed path or glob, and makes its pattern. A file that exists under exactly the
/// typed name is meant, also if the name looks like a glob.
fn locate(host: &dyn Host, cwd: &Path, typed: &str) -> Result<(RealPath, Pattern), ClaimError> {
    let whole = host.locate(&cwd.join(typed));
    if whole.exists || !is_glob(typed) {
        let is_dir = whole.is_dir || typed.ends_with('/');
        let pattern = if is_dir { Pattern::tree(&whole.path) } else { Pattern::file(&whole.path) };
        // The pattern is subject to the same limits as a typed one.
        Pattern::new(pattern.as_str())?;
        return Ok((whole, pattern));
    }
    let parts: Vec<&str> = typed.split('/').collect();
    let plain = parts.iter().take_while(|part| !is_glob(part)).count();
    let (stem, rest) = parts.split_at(plain);
    if rest.contains(&"..") {
        return Err(PatternError::Upwards { pattern: typed.to_owned() }.into());
    }
    let stem: PathBuf = match stem {
        // An absolute path begins with an empty part.
        [""] => "/".into(),
        stem => stem.iter().map(|part| unescape(part)).collect::<Vec<_>>().join("/").into(),
    };
    let base = host.locate(&cwd.join(stem));
    let rest: Vec<&str> = rest.iter().copied().filter(|part| *part != ".").collect();
    let rest = rest.join("/");
    let pattern = match Pattern::file(&base.path).as_str() {
        "" => rest,
        base => format!("{}/{rest}", base.trim_end_matches('/')),
    };
    Ok((base, Pattern::new(&pattern)?))
}

/// A write in one of the repositories that it reaches: the place, and the paths there.
struct ResolvedTarget<'a> {
    target: &'a PendingWrite,
    located: RealPath,
    paths: Pattern,
}

/// Locates a write, and makes the pattern of its paths; `None` where only git could tell which files.
pub fn locate_write(host: &dyn Host, target: &PendingWrite) -> Option<(RealPath, Pattern)> {
    let is_told = matches!(target.extent, Extent::File | Extent::Tree | Extent::Glob);
    let first = reach(host, target).into_iter().next();
    first.filter(|_| is_told).map(|reach| (reach.located, reach.paths))
}

/// Resolves a write in its own repository, and in those around it.
fn reach<'a>(host: &dyn Host, target: &'a PendingWrite) -> Vec<ResolvedTarget<'a>> {
    let located = match target.extent {
        // Nobody can write to a text that is no path.
        Extent::Glob => match locate(host, Path::new("/"), &target.path.to_string_lossy()) {
            Ok((located, paths)) => return vec![ResolvedTarget { target, located, paths }],
            Err(_) => return Vec::new(),
        },
        _ if target.is_entry => host.locate_entry(&target.path),
        _ => host.locate(&target.path),
    };
    if matches!(target.extent, Extent::Changes | Extent::Worktree | Extent::Commits) {
        return vec![ResolvedTarget { target, located, paths: Pattern::tree("") }];
    }
    let paths = |located: &RealPath| match target.extent {
        Extent::Tree => Pattern::tree(&located.path),
        _ => Pattern::file(&located.path),
    };
    let mut reaches = vec![ResolvedTarget { target, paths: paths(&located), located }];
    while let Some(inner) = reaches.last().map(|reach| &reach.located)
        && inner.repository.is_some()
        && let Some(above) = inner.worktree.parent()
    {
        let around = host.locate(above);
        let whole = inner.worktree.join(&inner.path);
        let Ok(path) = whole.strip_prefix(&around.worktree) else { break };
        let located = RealPath { path: path.to_string_lossy().into_owned(), ..around };
        if located.repository.is_none() {
            break;
        }
        reaches.push(ResolvedTarget { target, paths: paths(&located), located });
    }
    reaches
}

/// Finds the project of a located path; outside of any repository there is none.
fn project_of(store: &dyn PresenceStore, located: &RealPath) -> Result<Option<ProjectId>, StoreError> {
    match &located.repository {
        None => Ok(None),
        Some(repository) => Ok(store.project_of(repository)?.map(|project| project.id)),
    }
}

/// Returns the caller of a verb that only looks; [`Actor::Consort`] stands for an anonymous caller.
fn caller_actor(caller: Caller) -> Actor {
    match caller {
        Caller::Agent(agent) => actor(Some(&agent)),
        Caller::Person => Actor::Person,
        Caller::Anonymous(_) => Actor::Consort,
    }
}

/// Builds [`LiveHolds`] from stored holds: finds out which holders and contesters are alive.
fn gather(
    host: &dyn Host,
    files: &dyn SideFiles,
    store: &dyn Tx,
    all: Vec<Hold>,
    now: Timestamp,
) -> Result<LiveHolds, StoreError> {
    let mut known: BTreeMap<SessionId, Option<Agent>> = BTreeMap::new();
    let whose =
        |hold: &Hold| [Some(hold.holder.clone()), hold.contest.as_ref().map(|contest| contest.by.clone())];
    for session in all.iter().flat_map(whose).flatten().filter_map(|actor| actor.session().cloned()) {
        if let Entry::Vacant(place) = known.entry(session) {
            let agent = match store.agent(place.key())? {
                Some((agent, None)) if presence::is_alive(host, files, &agent) => Some(agent),
                _ => None,
            };
            place.insert(agent);
        }
    }
    let agents = known.into_iter().filter_map(|(session, agent)| Some((session, agent?))).collect();
    Ok(LiveHolds::of(all, agents, now))
}

/// The view of holds for one caller.
struct Viewer<'a> {
    live: &'a LiveHolds,
    tx: &'a dyn Tx,
    me: &'a Actor,
    /// The tasks of holders, each asked for once: one may hold hundreds.
    tasks: RefCell<BTreeMap<SessionId, Option<String>>>,
}

impl<'a> Viewer<'a> {
    fn new(live: &'a LiveHolds, tx: &'a dyn Tx, me: &'a Actor) -> Self {
        Self { live, tx, me, tasks: RefCell::default() }
    }

    fn see(&self, hold: &Hold) -> Result<HoldView, StoreError> {
        let holder = self.live.agent(&hold.holder);
        Ok(HoldView {
            hold: hold.clone(),
            name: holder.map_or_else(|| "the person".into(), |agent| agent.name.to_string()),
            task: holder.map(|agent| self.task(&agent.session)).transpose()?.flatten(),
            // Consort holds an override in the name of the person; an anonymous caller is not Consort.
            yours: match hold.strength {
                Strength::Overridden => *self.me == Actor::Person,
                Strength::Blocking | Strength::Advisory => hold.holder == *self.me,
            },
        })
    }

    fn task(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        if let Some(known) = self.tasks.borrow().get(session) {
            return Ok(known.clone());
        }
        let task = tasks::current(self.tx, session)?;
        self.tasks.borrow_mut().insert(session.clone(), task.clone());
        Ok(task)
    }
}

/// Describes the caller for the rules.
fn asker(host: &dyn Host, me: Option<&Agent>) -> Asker {
    Asker {
        actor: actor(me),
        label: label(host, me),
        machine: host.name(),
        worktree: me.map(|me| me.location.worktree.clone()),
        project: me.map(|me| me.project.id.clone()),
    }
}

/// Tells whether the holder works in another worktree than `worktree`. A worktree that was moved
/// is not where it was noted, and does not count.
fn is_elsewhere(host: &dyn Host, hold: &Hold, worktree: &Path) -> bool {
    let is_there = |its: &PathBuf| host.locate(its).worktree == *its;
    rules::is_elsewhere(hold, worktree) && hold.worktree.as_ref().is_some_and(is_there)
}

/// Returns the project that a change is recorded for.
fn concerned(wanted: &[ParsedResource], me: Option<&Agent>) -> Option<ProjectId> {
    let named = wanted.iter().find_map(|wanted| wanted.project.clone());
    named.or_else(|| me.map(|me| me.project.id.clone()))
}
