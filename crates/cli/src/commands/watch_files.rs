//! The command `consort watch-files`: marks knowledge as stale when its files change.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::SystemTime;

use consort_core::host::Topic;
use consort_core::journal::Actor;
use consort_core::knowledge::Kind;
use consort_core::knowledge::Scope;
use consort_core::text;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;
use notify::RecommendedWatcher;
use notify::RecursiveMode;
use notify::Watcher as _;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::person;
use crate::world::World;

/// An editor, a formatter and a checkout write many times; this long after the
/// last of it, it is over. Where it never is, nobody waits for that.
const QUIET: Duration = Duration::from_millis(100);
const MOST_WAITS: usize = 20;

/// How often files are looked at where the system does not tell, and how often in
/// case it did not.
const TICK: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_secs(30);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Look once, and end
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    person::known(&mut opened.app)?;
    let (project, worktree) = (opened.project.id.clone(), opened.place.worktree.clone());
    let scope = Scope::Project(project.clone());
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    let topic = Topic::Project(project.clone());
    let mut listener = Listener::open(&world.paths.listeners(), Some(&topic)).map_err(cannot_wait)?;
    let mut index = opened.app.knowledge()?;
    let mut seen: HashMap<String, Option<(SystemTime, u64)>> = HashMap::new();
    let mut watch = if args.once { None } else { Watch::begin() };
    loop {
        opened.app.close_if_replaced();
        opened.app.catch_up(&mut *index)?;
        let mut known = index.names(&scope, Kind::File)?;
        // Whoever recorded it may have been elsewhere.
        known.retain(|path| Path::new(path).components().all(|part| matches!(part, Component::Normal(_))));
        // Before they are looked at: what changes from here on is heard of.
        let is_told = watch.as_mut().is_some_and(|watch| watch.cover(&worktree, &known));
        let mut changed = Vec::new();
        for path in known {
            let now = stand(&worktree.join(&path));
            if seen.insert(path.clone(), now) != Some(now) {
                changed.push(path);
            }
        }
        for path in opened.app.mark_stale(&project, &worktree, &changed, Actor::Consort)? {
            world
                .out
                .line(format!("{} has changed: what is known of it is stale.", text::one_line(&path, 120)))?;
        }
        if args.once {
            return Ok(());
        }
        let heard = watch.as_ref().map(|watch| watch.heard.as_fd());
        let woken = listener.wait(heard, if is_told { POLL_INTERVAL } else { TICK }).map_err(cannot_wait)?;
        if let (WakeReason::Other, Some(watch)) = (woken, &watch) {
            watch.until_quiet();
        }
    }
}

fn stand(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// The directories that known files are in, and those above: nothing else, so
/// there is nothing to ignore, and a large tree costs nothing.
struct Watch {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    /// Readable when something has happened.
    heard: UnixStream,
}

impl Watch {
    /// Nothing where the system has no more to give, or tells of a directory only
    /// what comes and goes; files are looked at then.
    fn begin() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let (heard, mut tell) = UnixStream::pair().ok()?;
        heard.set_nonblocking(true).ok()?;
        tell.set_nonblocking(true).ok()?;
        let tell = move |event: notify::Result<notify::Event>| {
            // Who only reads changes nothing.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                // Where it is full, enough was said.
                let _ = tell.write(&[1]);
            }
        };
        let watcher = notify::recommended_watcher(tell).ok()?;
        Some(Self { watcher, watched: BTreeSet::new(), heard })
    }

    /// Whether whatever happens to these files will be heard.
    fn cover(&mut self, worktree: &Path, paths: &[String]) -> bool {
        let above = paths.iter().flat_map(|path| Path::new(path).ancestors().skip(1));
        let wanted: BTreeSet<PathBuf> = above.map(|dir| worktree.join(dir)).collect();
        for dir in self.watched.difference(&wanted) {
            let _ = self.watcher.unwatch(dir);
        }
        // Also those that were watched: what was moved away and back is not any more.
        // When one comes that is not there, the one above it is told.
        let mut is_told = true;
        for dir in wanted.iter().filter(|dir| dir.is_dir()) {
            is_told &= self.watcher.watch(dir, RecursiveMode::NonRecursive).is_ok();
        }
        self.watched = wanted;
        is_told
    }

    fn until_quiet(&self) {
        let mut heard = [0; 512];
        for _ in 0..MOST_WAITS {
            if !matches!((&self.heard).read(&mut heard), Ok(1..)) {
                return;
            }
            std::thread::sleep(QUIET);
        }
    }
}
