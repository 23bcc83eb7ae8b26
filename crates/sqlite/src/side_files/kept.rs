//! Keeps contents for a day, each under a name: private to this user, and bounded.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use consort_core::Timestamp;
use consort_files::MARKER;
use consort_files::OurDir;
use consort_files::replace_whole;

use super::no_waiting;

pub(super) const DIR: &str = "kept";

/// Most bytes that are kept; the oldest contents are removed first.
const MOST: u64 = 64 << 20;

/// Most bytes of one content.
const LONGEST: u64 = 1 << 20;

/// Keeps a content under a name, instead of the one before. If it is the same, only its age begins again.
pub(super) fn put(dir: &Path, name: &str, content: &[u8], now: SystemTime) -> std::io::Result<()> {
    let place = place(dir, name).filter(|_| content.len() as u64 <= LONGEST);
    let place = place.ok_or(std::io::ErrorKind::InvalidInput)?;
    if let Ok(known) = no_waiting().append(true).open(&place)
        && known.metadata()?.len() == content.len() as u64
        && get(dir, name).is_some_and(|known| known == content)
    {
        return known.set_modified(now);
    }
    OurDir::create(&dir.join(DIR))?;
    replace_whole(&place, content)?;
    tidy(dir);
    Ok(())
}

/// Returns the content that is kept under a name.
pub(super) fn get(dir: &Path, name: &str) -> Option<Vec<u8>> {
    consort_files::read_regular_file(&place(dir, name)?, LONGEST).ok()
}

/// Removes the contents that nobody has kept again since then.
pub(super) fn forget(dir: &Path, before: Timestamp) {
    let before = UNIX_EPOCH + Duration::from_millis(before.0.try_into().unwrap_or_default());
    for (path, _, at) in all(dir) {
        if at < before {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the oldest contents until the rest is within the limit.
fn tidy(dir: &Path) {
    let mut all = all(dir);
    let mut bytes: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
    all.sort_by_key(|(_, _, at)| *at);
    for (path, size, _) in all {
        if bytes <= MOST {
            return;
        }
        if fs::remove_file(path).is_ok() {
            bytes -= size;
        }
    }
}

fn all(dir: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let entries = fs::read_dir(dir.join(DIR)).into_iter().flatten().flatten();
    let one = |entry: fs::DirEntry| {
        let found = entry.metadata().ok()?;
        Some((entry.path(), found.len(), found.modified().ok()?))
    };
    entries.filter(|entry| entry.file_name() != MARKER).filter_map(one).collect()
}

/// Returns the path of a content; `None` if its name is not a hexadecimal number.
fn place(dir: &Path, name: &str) -> Option<PathBuf> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| dir.join(DIR).join(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn it_is_private_bounded_and_forgotten() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        put(dir, "a1", b"one", at(10)).unwrap();
        put(dir, "a1", b"one", at(20)).unwrap();
        put(dir, "b2", b"two", at(15)).unwrap();
        assert_eq!(get(dir, "a1").as_deref(), Some(b"one".as_slice()));
        put(dir, "b2", b"new", at(15)).unwrap();
        assert_eq!(get(dir, "b2").as_deref(), Some(b"new".as_slice()), "a new content of the same length");
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(dir.join(DIR)), mode(dir.join(DIR).join("a1"))), (0o700, 0o600));
        for name in ["", "../x", ".consort-directory", "A/b"] {
            assert!(put(dir, name, b"x", at(1)).is_err(), "{name}");
            assert_eq!(get(dir, name), None);
        }
        assert!(put(dir, "c3", &vec![0; LONGEST as usize + 1], at(1)).is_err());
        // A content that was kept again since then stays.
        fs::File::options()
            .append(true)
            .open(dir.join(DIR).join("b2"))
            .unwrap()
            .set_modified(at(15))
            .unwrap();
        forget(dir, Timestamp(18_000));
        assert_eq!((get(dir, "a1").is_some(), get(dir, "b2")), (true, None));
        for number in 0..70 {
            put(dir, &format!("f{number:02}"), &vec![1; LONGEST as usize], at(30)).unwrap();
        }
        assert!(all(dir).iter().map(|(_, bytes, _)| bytes).sum::<u64>() <= MOST);
        assert!(get(dir, "f69").is_some() && get(dir, "a1").is_none());
    }
}
