//! The cache on this machine of results that were computed from a file's content: kept
//! by its hash, bounded, and safe to delete.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use consort_files::MARKER;
use consort_files::OurDir;

use crate::files::content_hash;

/// How much is kept, in bytes; the longest untouched goes first.
const MOST: u64 = 64 << 20;

/// How large one result may be.
pub const LARGEST: usize = 4 << 20;

/// Results of other programs, kept by the content they were made from.
pub struct Cache {
    dir: PathBuf,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub results: usize,
    pub bytes: u64,
}

impl Cache {
    /// The cache in a directory.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// What was computed of a file as it is now, under that name.
    pub fn get(&self, file: &Path, name: &str) -> Option<Vec<u8>> {
        let place = self.place(file, name)?;
        let found = fs::read(&place).ok()?;
        // Touched: what is asked for stays.
        let _ = fs::File::open(&place).and_then(|file| file.set_modified(now()));
        Some(found)
    }

    /// Keeps a result; false where the file cannot be read or the result is too
    /// large.
    pub fn put(&self, file: &Path, name: &str, result: &[u8]) -> std::io::Result<bool> {
        let Some(place) = self.place(file, name).filter(|_| result.len() <= LARGEST) else {
            return Ok(false);
        };
        OurDir::create(&self.dir)?;
        let aside = self.dir.join(format!(".{}", std::process::id()));
        let mut open = fs::OpenOptions::new();
        open.write(true).create(true).truncate(true).mode(0o600).open(&aside)?.write_all(result)?;
        fs::rename(&aside, place)?;
        self.tidy();
        Ok(true)
    }

    /// How many results there are, and how large they are.
    pub fn size(&self) -> Size {
        let one = |size: Size, (_, bytes, _): (PathBuf, u64, SystemTime)| Size {
            results: size.results + 1,
            bytes: size.bytes + bytes,
        };
        self.all().into_iter().fold(Size::default(), one)
    }

    /// Removes all of them.
    pub fn clear(&self) -> std::io::Result<()> {
        OurDir::remove(&self.dir)
    }

    fn place(&self, file: &Path, name: &str) -> Option<PathBuf> {
        let name = blake3::hash(name.as_bytes()).to_hex();
        Some(self.dir.join(format!("{}-{}", content_hash(file)?, &name[..16])))
    }

    /// Lets the longest untouched go until there is room.
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
        let cache = Cache::new(temp.path().join("cache"));
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
        let cache = Cache::new(temp.path().join("cache"));
        let file = temp.path().join("file");
        fs::write(&file, "x").unwrap();
        for number in 0..20 {
            cache.put(&file, &number.to_string(), &vec![0; LARGEST]).unwrap();
        }
        assert!(cache.size().bytes <= MOST);
        assert!(cache.get(&file, "19").is_some());
    }
}
