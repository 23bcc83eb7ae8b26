//! Finds processes that still run behind a shield: paths that were read-only when they began stay so for
//! them, even if nobody holds the paths any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

/// A process that runs behind a shield.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShieldedProcess {
    pub pid: u32,
    pub command: String,
    /// The paths that are read-only for the process.
    pub paths: Vec<PathBuf>,
}

/// Finds the processes for which something below `worktree` is read-only that is writable for us; of each
/// shield the oldest.
pub fn shielded_processes(worktree: &Path) -> Vec<ShieldedProcess> {
    let Ok(own) = fs::read_link("/proc/self/ns/mnt") else { return Vec::new() };
    let ours = read_only(&mounts("self"), worktree);
    let mut seen = BTreeSet::from([own]);
    let mut found = Vec::new();
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut pids: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    for pid in pids {
        let view = fs::read_link(format!("/proc/{pid}/ns/mnt"));
        if !view.is_ok_and(|view| seen.insert(view)) {
            continue;
        }
        let mut paths = read_only(&mounts(&pid.to_string()), worktree);
        paths.retain(|path| !ours.contains(path));
        if !paths.is_empty() {
            found.push(ShieldedProcess { pid, command: command(pid), paths });
        }
    }
    found
}

fn mounts(process: &str) -> String {
    fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default()
}

fn command(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ")
}

/// Lists the places below a directory that are read-only in a list of mounts.
fn read_only(mounts: &str, below: &Path) -> Vec<PathBuf> {
    let place = |line: &str| {
        let mut fields = line.split(' ').skip(4);
        let (place, options) = (fields.next()?, fields.next()?);
        let place = PathBuf::from(unescaped(place));
        let is_meant = place.starts_with(below) && place != below;
        (is_meant && options.split(',').any(|option| option == "ro")).then_some(place)
    };
    mounts.lines().filter_map(place).collect()
}

/// Decodes spaces and the like, which the kernel writes as `\040`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| str::from_utf8(digits).ok());
        let (byte, next) = match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => (byte, &after[3..]),
            None => (*first, after),
        };
        bytes.push(byte);
        rest = next;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_only_below_is_found() {
        let mounts = "1 0 8:1 / / rw - ext4 x rw\n2 1 8:1 /h/a\\040b /h/a\\040b ro,relatime - ext4 x rw\n\
                      3 1 8:1 /h/c /h/c rw - ext4 x rw\n4 1 8:1 /o /other ro - ext4 x rw\n";
        assert_eq!(read_only(mounts, Path::new("/h")), [PathBuf::from("/h/a b")]);
        assert_eq!(read_only(mounts, Path::new("/h/a b")), [] as [PathBuf; 0]);
    }
}
