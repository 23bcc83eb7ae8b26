//! Tests the length of the embedded engine's write-ahead log.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::path::Path;

use consort_core::journal::Actor;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use consort_testkit::store_story;
use consort_testkit::store_story::StoryApp;

fn app_at(dir: &Path) -> StoryApp {
    StoryApp::new(Store::new(dir.join("consort.db"), StoreUser::Command))
}

#[test]
fn the_wal_stays_short_where_every_writer_is_alone() {
    let temp = tempfile::tempdir().unwrap();
    let mut longest = 0;
    for n in 0..300 {
        // A store of its own each time, as a hook has.
        let mut app = app_at(temp.path());
        store_story::join(&mut app, &format!("s{}", n % 5), 1, NameWish::Any).unwrap();
        app.leave(&format!("s{}", n % 5).into(), LeaveReason::Ended, Actor::Consort).unwrap();
        drop(app);
        longest = longest.max(length(temp.path()));
    }
    assert!(longest < 500_000, "the WAL grew to {longest} bytes");
}

fn length(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("consort.db-wal")).unwrap().len()
}

/// Linux only: `/proc/locks` shows which processes wait for a lock.
#[cfg(target_os = "linux")]
mod crowd {
    use std::os::unix::fs::MetadataExt as _;

    use consort_core::Timestamp;
    use consort_core::engine::Engine as _;
    use consort_core::journal::Change;
    use consort_core::journal::EntryId;
    use consort_core::journal::NewEntry;
    use consort_core::presence::PresenceChange;
    use consort_core::project::Project;

    use super::*;

    /// A writer that had to wait for the lock does not checkpoint; the next one that did not wait does.
    #[test]
    fn the_wal_is_emptied_once_nobody_waits() {
        let temp = tempfile::tempdir().unwrap();
        let mut app = app_at(temp.path());
        write_after_waiting(temp.path(), 1_000);
        assert!(length(temp.path()) > 64 * 4_096);
        store_story::join(&mut app, "s", 1, NameWish::Any).unwrap();
        assert_eq!(length(temp.path()), 0);
        // But the WAL does not grow for ever.
        write_after_waiting(temp.path(), 5_000);
        assert_eq!(length(temp.path()), 0);
        assert!(Store::new(temp.path().join("consort.db"), StoreUser::Command).side_files().is_current());
    }

    /// Writes that many entries in one transaction that had to wait for the lock: a page for every three.
    fn write_after_waiting(dir: &Path, entries: i64) {
        let mut first = Store::new(dir.join("consort.db"), StoreUser::Command);
        let writing = first.write().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| write(dir, entries));
            let lock = format!(":{} ", std::fs::metadata(dir.join("consort.lock")).unwrap().ino());
            let is_waited_for = || {
                let locks = std::fs::read_to_string("/proc/locks").unwrap();
                locks.lines().any(|line| line.contains("-> FLOCK") && line.contains(&lock))
            };
            while !is_waited_for() {
                assert!(!waiting.is_finished(), "it did not wait");
                std::thread::yield_now();
            }
            drop(writing);
            waiting.join().unwrap();
        });
    }

    fn write(dir: &Path, entries: i64) {
        let mut store = Store::new(dir.join("consort.db"), StoreUser::Command);
        let mut tx = store.write().unwrap();
        for n in 0..entries {
            let seen = PresenceChange::RepositorySeen {
                machine: "m".into(),
                repository: format!("/home/me/{n:0200}/.git").into(),
                project: Project { id: "example.com/shop".into(), name: "shop".into() },
            };
            tx.record(&NewEntry {
                id: EntryId::new(Timestamp(10 * entries + n), [0; 10]),
                at: Timestamp(n),
                project: None,
                actor: Actor::Person,
                changes: vec![Change::Presence(seen)],
            })
            .unwrap();
        }
        tx.commit().unwrap();
    }
}
