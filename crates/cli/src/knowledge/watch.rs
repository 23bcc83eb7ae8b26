//! Watches the files that something is known of, and marks that as stale when they change: for
//! `consort know watch`, and beside a server or a screen.

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

use consort_core::App;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::knowledge::Kind;
use consort_core::knowledge::Scope;
use consort_core::project::ProjectId;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;
use notify::RecommendedWatcher;
use notify::RecursiveMode;
use notify::Watcher as _;

use crate::world::World;

/// Time after the last write after which a change is over, since an editor, a formatter and a checkout write
/// many times; and how often that is waited for at most, if the writing never ends.
const QUIET: Duration = Duration::from_millis(100);
const MOST_WAITS: usize = 20;

/// Interval between two looks at files where the system does not report changes, and where it does, in case
/// it missed one.
const TICK: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_secs(30);

/// A project whose files are watched, and its worktree.
pub(crate) type WatchedWorktree = (ProjectId, PathBuf);

/// The files that something is known of, as they were when they were last looked at.
pub(crate) struct FileWatcher {
    seen: HashMap<PathBuf, Option<(SystemTime, u64)>>,
    watch: Option<DirectoryWatch>,
    is_told: bool,
}

impl FileWatcher {
    /// Makes a watcher that looks once.
    pub(crate) fn once() -> Self {
        Self { seen: HashMap::new(), watch: None, is_told: false }
    }

    /// Makes a watcher that goes on looking.
    pub(crate) fn begin() -> Self {
        Self { watch: DirectoryWatch::begin(), ..Self::once() }
    }

    /// Marks as stale what is known of files that have changed since the last look, and returns their paths.
    pub(crate) fn look(
        &mut self,
        app: &mut App,
        places: &[WatchedWorktree],
    ) -> Result<Vec<String>, StoreError> {
        app.close_if_replaced();
        let mut index = app.knowledge()?;
        app.catch_up(&mut *index)?;
        let mut known = Vec::new();
        for (project, worktree) in places {
            let mut names = index.names(&Scope::Project(project.clone()), Kind::File)?;
            // A path that was recorded elsewhere may lead out of this worktree.
            let is_inside =
                |path: &String| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            names.retain(is_inside);
            known.push((project, worktree, names));
        }
        // Watched before the files are looked at: changes from here on are reported.
        let paths =
            known.iter().flat_map(|(_, worktree, names)| names.iter().map(move |name| (*worktree, name)));
        let paths: Vec<PathBuf> = paths.map(|(worktree, name)| worktree.join(name)).collect();
        let roots: Vec<&PathBuf> = places.iter().map(|(_, worktree)| worktree).collect();
        self.is_told = self.watch.as_mut().is_some_and(|watch| watch.cover(&roots, &paths));
        let mut marked = Vec::new();
        for (project, worktree, mut names) in known {
            names.retain(|name| {
                let path = worktree.join(name);
                let now = stand(&path);
                self.seen.insert(path, now) != Some(now)
            });
            marked.extend(app.mark_stale(project, worktree, &names, Actor::Consort)?);
        }
        Ok(marked)
    }

    /// Sleeps until there may be something to look at.
    pub(crate) fn wait(&self, listener: &mut Listener) -> std::io::Result<()> {
        let heard = self.watch.as_ref().map(|watch| watch.heard.as_fd());
        let woken = listener.wait(heard, if self.is_told { POLL_INTERVAL } else { TICK })?;
        if let (WakeReason::Other, Some(watch)) = (woken, &self.watch) {
            watch.until_quiet();
        }
        Ok(())
    }
}

/// Watches beside a server or a screen, as long as that lives: the files of every project in which somebody
/// is at work. Files that cannot be watched are compared when their knowledge is shown.
pub(crate) fn in_background(world: &World) {
    let (open, listeners) = (world.open_app(), world.paths.listeners());
    let watch = move || {
        let Ok(mut listener) = Listener::open(&listeners, None) else { return };
        let mut watcher = FileWatcher::begin();
        loop {
            let mut app = open();
            // A store that is busy now may not be the next time.
            let _ = app.places_at_work().and_then(|places| watcher.look(&mut app, &places));
            drop(app);
            if watcher.wait(&mut listener).is_err() {
                return;
            }
        }
    };
    let _ = std::thread::Builder::new().name("watcher".into()).spawn(watch);
}

fn stand(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// A watch of the directories that known files are in, and of those above: nothing else, so there is nothing
/// to ignore, and a large tree costs nothing.
struct DirectoryWatch {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    /// A socket that is readable when something has happened.
    heard: UnixStream,
}

impl DirectoryWatch {
    /// Begins to watch; `None` if the system has no watches left, or reports only which entries of a
    /// directory come and go. Files are looked at then.
    fn begin() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let (heard, mut tell) = UnixStream::pair().ok()?;
        heard.set_nonblocking(true).ok()?;
        tell.set_nonblocking(true).ok()?;
        let tell = move |event: notify::Result<notify::Event>| {
            // Reading changes nothing.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                // A full socket is readable already.
                let _ = tell.write(&[1]);
            }
        };
        let watcher = notify::recommended_watcher(tell).ok()?;
        Some(Self { watcher, watched: BTreeSet::new(), heard })
    }

    /// Watches these files, each below one of the roots; tells whether all of their changes will be reported.
    fn cover(&mut self, roots: &[&PathBuf], paths: &[PathBuf]) -> bool {
        let is_inside = |dir: &&Path| roots.iter().any(|root| dir.starts_with(root));
        let above = paths.iter().flat_map(|path| path.ancestors().skip(1).take_while(is_inside));
        let wanted: BTreeSet<PathBuf> = above.map(Path::to_owned).collect();
        for dir in self.watched.difference(&wanted) {
            let _ = self.watcher.unwatch(dir);
        }
        // Directories that were watched are added again: one that was moved away and back is watched no more.
        // A missing directory that appears is reported by the one above it.
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
