//! Tests the write-ahead log of the embedded engine: its length, and the index that processes hand on.

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
    for n in 0..600 {
        // A store of its own each time, as a hook has.
        let mut app = app_at(temp.path());
        store_story::join(&mut app, &format!("s{}", n % 5), 1, NameWish::Any).unwrap();
        app.leave(&format!("s{}", n % 5).into(), LeaveReason::Ended, Actor::Consort).unwrap();
        drop(app);
        longest = longest.max(length(temp.path()));
    }
    assert!(longest < 2_400_000, "the WAL grew to {longest} bytes");
    assert!(length(temp.path()) < longest, "it was emptied");
}

/// The first page of a new store is on the disk; of its WAL a power cut may leave any beginning.
#[test]
fn a_store_that_lost_power_in_its_first_moments_is_made_again() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    store_story::join(&mut app, "s", 1, NameWish::Any).unwrap();
    let read = |file: &str| std::fs::read(temp.path().join(file)).unwrap();
    let (database, wal) = (read("consort.db"), read("consort.db-wal"));
    assert_eq!(
        (database.len(), &database[18..20]),
        (4096, &[2, 2][..]),
        "one page, of a database with a WAL"
    );
    for wal in [&[][..], &vec![0; wal.len()], &wal[..20], &wal[..5_000], &wal[..wal.len() - 1]] {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("consort.db"), &database).unwrap();
        std::fs::write(temp.path().join("consort.db-wal"), wal).unwrap();
        let mut app = app_at(temp.path());
        store_story::join(&mut app, "t", 1, NameWish::Any).unwrap();
        assert!(app.journal_verify().unwrap().is_sound());
    }
}

fn length(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("consort.db-wal")).unwrap().len()
}

/// Linux only: other systems do not name their boots.
#[cfg(target_os = "linux")]
mod index {
    use std::fs;
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;
    use std::os::unix::fs::MetadataExt as _;

    use consort_core::engine::Engine as _;

    use super::*;

    /// A store of one agent, which nobody has open.
    fn store_of_one() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        store_story::join(&mut app_at(temp.path()), "s1", 1, NameWish::Any).unwrap();
        temp
    }

    fn agents(dir: &Path) -> usize {
        let mut store = Store::new(dir.join("consort.db"), StoreUser::Command);
        store.read().unwrap().present().unwrap().len()
    }

    /// Spoils the checksum of the WAL's first frame, which nobody reads but to make the index again. Where
    /// the index is made again, no frame counts.
    fn spoil_first_frame(dir: &Path) {
        let wal = File::options().write(true).open(dir.join("consort.db-wal")).unwrap();
        let changed = wal.metadata().unwrap().modified().unwrap();
        wal.write_all_at(b"spoiled!", 32 + 16).unwrap();
        wal.set_modified(changed).unwrap();
    }

    #[test]
    fn is_kept_while_nothing_else_has_happened() {
        let temp = store_of_one();
        spoil_first_frame(temp.path());
        assert_eq!(agents(temp.path()), 1);
        store_story::join(&mut app_at(temp.path()), "s2", 1, NameWish::Any).unwrap();
        assert_eq!(agents(temp.path()), 2);
    }

    /// Closing a file releases all locks that the process has on it, and without its lock on the index a process
    /// that comes next would take the store for closed.
    #[test]
    fn stays_locked_while_the_store_is_open() {
        let temp = tempfile::tempdir().unwrap();
        let is_locked = || {
            let index = fs::metadata(temp.path().join("consort.db-shm")).unwrap().ino();
            let mine = format!(" {} ", std::process::id());
            let is_listed = || {
                let locks = fs::read_to_string("/proc/locks").unwrap();
                locks.lines().any(|lock| lock.contains(&mine) && lock.contains(&format!(":{index} ")))
            };
            // While other processes of the machine come and go, a line may be missing from the list.
            (0..20).any(|_| is_listed())
        };
        let mut app = app_at(temp.path());
        for session in ["s1", "s2", "s3"] {
            store_story::join(&mut app, session, 1, NameWish::Any).unwrap();
            assert!(is_locked(), "after a commit");
            assert!(agents(temp.path()) > 0);
            assert!(is_locked(), "after another connection of this process");
        }
        drop(app);
        assert!(!is_locked());
    }

    /// A copy that SQLite made (`VACUUM INTO`) has a rollback journal, and no index.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "as another program would")]
    fn is_not_missed_where_there_is_no_wal() {
        let temp = store_of_one();
        let database = rusqlite::Connection::open(temp.path().join("consort.db")).unwrap();
        database.pragma_update(None, "journal_mode", "DELETE").unwrap();
        drop(database);
        store_story::join(&mut app_at(temp.path()), "s2", 1, NameWish::Any).unwrap();
        assert_eq!(agents(temp.path()), 2);
        assert!(!temp.path().join("consort.db-shm").exists());
    }

    #[test]
    fn is_made_again_after_a_write_by_another_program() {
        let temp = store_of_one();
        spoil_first_frame(temp.path());
        let wal = File::options().write(true).open(temp.path().join("consort.db-wal")).unwrap();
        wal.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(agents(temp.path()), 0);
    }

    #[test]
    fn is_made_again_after_a_restart_of_the_machine() {
        let temp = store_of_one();
        spoil_first_frame(temp.path());
        let path = temp.path().join("published/store");
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(boot.trim()), "{text}");
        fs::write(&path, text.replace(boot.trim(), "0f1e2d3c-0000-4000-8000-000000000000")).unwrap();
        assert_eq!(agents(temp.path()), 0);
    }

    #[test]
    fn is_made_again_where_it_is_of_another_moment() {
        let temp = store_of_one();
        let index = temp.path().join("consort.db-shm");
        let former = fs::read(&index).unwrap();
        store_story::join(&mut app_at(temp.path()), "s2", 1, NameWish::Any).unwrap();
        File::options().write(true).open(&index).unwrap().write_all_at(&former, 0).unwrap();
        assert_eq!(agents(temp.path()), 2);
        store_story::join(&mut app_at(temp.path()), "s3", 1, NameWish::Any).unwrap();
        // As where another program copied all frames to the database, and a copy of the database was put back.
        let file = File::options().write(true).open(&index).unwrap();
        file.write_all_at(&fs::read(&index).unwrap()[16..20], 96).unwrap();
        assert_eq!(agents(temp.path()), 3);
    }

    /// Also where the database has not changed since, and is left as it is.
    #[test]
    fn is_made_again_after_a_copy_was_restored_with_its_times() {
        let temp = store_of_one();
        let files = ["consort.db-wal", "published/store"].map(|name| temp.path().join(name));
        let written = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        let copies = files.clone().map(|path| (fs::read(&path).unwrap(), written(&path)));
        for n in 2..9 {
            store_story::join(&mut app_at(temp.path()), &format!("s{n}"), 1, NameWish::Any).unwrap();
        }
        assert_eq!(agents(temp.path()), 8);
        for (path, (bytes, written)) in files.iter().zip(copies) {
            fs::write(path, bytes).unwrap();
            File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
        }
        assert_eq!(agents(temp.path()), 1);
        let mut store = Store::new(temp.path().join("consort.db"), StoreUser::Command);
        let found = store.read().unwrap().verify().unwrap();
        assert!(found.integrity.is_empty() && found.differences.is_empty(), "{found:?}");
    }
}
