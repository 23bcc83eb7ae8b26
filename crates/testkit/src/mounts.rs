//! Mounts file systems for one test alone, to play disks that are full or read-only.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

/// The variable that is set in the process with its own mounts.
const INSIDE: &str = "CONSORT_TEST_MOUNTS";

/// Tells whether this process has its own mounts, which no other process sees. If not, it runs the
/// test again in a process that has; the test has passed when this returns false.
/// It needs root or user namespaces. `test` is the whole name of the test, with its modules.
pub fn ensure_own_mounts(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut unshare = Command::new("unshare");
    unshare.arg("--mount").args(if is_root { &[][..] } else { &["--user", "--map-root-user"] });
    unshare.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture", "--include-ignored"]);
    let output = unshare.env(INSIDE, "1").stderr(Stdio::inherit()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    // With a name that no test has, the run would succeed with no test passed.
    assert!(output.status.success() && said.contains("1 passed"), "{test}: {said}");
    false
}

/// Mounts a file system in memory of this size.
pub fn memory(dir: &Path, megabytes: u32) {
    mount(&["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"], dir);
}

/// Makes a file system read-only, or writable again. No process may be writing to it.
pub fn read_only(dir: &Path, is_so: bool) {
    mount(&["-o", if is_so { "remount,ro" } else { "remount,rw" }], dir);
}

fn mount(arguments: &[&str], dir: &Path) {
    assert!(Command::new("mount").args(arguments).arg(dir).status().unwrap().success());
}
