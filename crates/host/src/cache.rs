//! A cache of results that were computed from files, keyed by the hash of a file's content: bounded, and
//! safe to delete.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use consort_files::MARKER;
use consort_files::OurDir;

use crate::files::content_hash;

/// Most bytes that are kept; the least recently used results are removed first.
const MOST: u64 = 64 << 20;

/// Most bytes of one result.
pub const LARGEST: usize = 4 << 20;

/// A cache of other programs' results, keyed by the content they were made from.
pub struct ResultCache {
    dir: PathBuf,
}

/// The number of results in the cache, and their size together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub results: usize,
    pub bytes: u64,
}

impl ResultCache {
    /// Uses the cache in a directory.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Returns the result of that name for the content that a file has now.
    pub fn get(&self, file: &Path, name: &str) -> Option<Vec<u8>> {
        let place = self.place(file, name)?;
        let found = fs::read(&place).ok()?;
        // The modification time is the time of the last use, by which `tidy` removes.
        let _ = fs::File::open(&place).and_then(|file| file.set_modified(now()));
        Some(found)
    }

    /// Keeps a result; false if the file cannot be read or the result is too large.
    pub fn put(&self, file: &Path, name: &str, result: &[u8]) -> std::io::Result<bool> {
        let Some(place) = self.place(file, name).filter(|_| result.len() <= LARGEST) else {
            return Ok(false);
        };
        OurDir::create(&self.dir)?;
        consort_files::replace_whole(&place, result)?;
        self.tidy();
        Ok(true)
    }

    /// Returns the number of results, and their size together.
    pub fn size(&self) -> Size {
        let one = |size: Size, (_, bytes, _): (PathBuf, u64, SystemTime)| Size {
            results: size.results + 1,
            bytes: size.bytes + bytes,
        };
        self.all().into_iter().fold(Size::default(), one)
    }

    /// Removes all results.
    pub fn clear(&self) -> std::io::Result<()> {
        OurDir::remove(&self.dir)
    }

    fn place(&self, file: &Path, name: &str) -> Option<PathBuf> {
        let name = blake3::hash(name.as_bytes()).to_hex();
        Some(self.dir.join(format!("{}-{}", content_hash(file)?, &name[..16])))
    }

    /// Removes the least recently used results until the rest is within the limit.
    fn tidy(&self) {
        let mut all = self.all();
        let mut bytes: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        all.sort_by_key(|(_, _, touched)| *touched);
        for (path, size, _) in all {
            if bytes <= MOST {
                return;
            }
            if fs::remove_file(path).is_ok() {
                bytes -= size;
            }
        }
    }

    fn all(&self) -> Vec<(PathBuf, u64, SystemTime)> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let one = |entry: fs::DirEntry| {
            let found = entry.metadata().ok()?;
            Some((entry.path(), found.len(), found.modified().ok()?))
        };
        entries.filter(|entry| entry.file_name() != MARKER).filter_map(one).collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where time comes from")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_follow_the_content_and_not_the_name() {
        let temp = tempfile::tempdir().unwrap();
        let cache = ResultCache::new(temp.path().join("cache"));
        let (one, other) = (temp.path().join("one"), temp.path().join("other"));
        fs::write(&one, "same").unwrap();
        fs::write(&other, "same").unwrap();
        assert_eq!(cache.get(&one, "symbols"), None);
        assert!(cache.put(&one, "symbols", b"a b").unwrap());
        assert_eq!(cache.get(&other, "symbols").as_deref(), Some(b"a b".as_slice()));
        assert_eq!(cache.get(&one, "types"), None);
        fs::write(&one, "changed").unwrap();
        assert_eq!(cache.get(&one, "symbols"), None);
        assert!(!cache.put(&temp.path().join("missing"), "symbols", b"x").unwrap());
        assert!(!cache.put(&one, "symbols", &vec![0; LARGEST + 1]).unwrap());
        assert_eq!(cache.size(), Size { results: 1, bytes: 3 });
        cache.clear().unwrap();
        cache.clear().unwrap();
        assert_eq!(cache.size(), Size::default());
    }

    #[test]
    fn it_stays_within_its_bounds() {
        let temp = tempfile::tempdir().unwrap();
        let cache = ResultCache::new(temp.path().join("cache"));
        let file = temp.path().join("file");
        fs::write(&file, "x").unwrap();
        for number in 0..20 {
            cache.put(&file, &number.to_string(), &vec![0; LARGEST]).unwrap();
        }
        assert!(cache.size().bytes <= MOST);
        assert!(cache.get(&file, "19").is_some());
    }
}
