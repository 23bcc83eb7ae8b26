//! A chroot for tests that feed hostile ids and paths, so that a failure destroys nothing of the
//! machine's.
//!
//! The test runs itself again inside the jail, as an ordinary user. This needs root or user
//! namespaces.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use crate::rounds::LONG;

/// The ordinary user inside the jail, if the test was started by root.
const USER: u32 = 12_345;

/// The variable that is set inside the jail.
const INSIDE: &str = "CONSORT_TEST_JAIL";

/// Tells whether this process runs inside a jail.
pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// A temporary directory that becomes `/` of the test.
pub struct Jail {
    temp: tempfile::TempDir,
}

impl Jail {
    /// Makes a jail with `consort` and this very test in `/bin`, a home, a repository, and
    /// files around them that nobody may touch.
    pub fn new(consort: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for dir in
            ["bin", "proc", "dev", "tmp", "etc/ssh", "home/user/mail/cur", "home/user/src", "home/other"]
        {
            fs::create_dir_all(root.join(dir)).unwrap();
        }
        fs::copy(consort, root.join("bin/consort")).unwrap();
        fs::copy(std::env::current_exe().unwrap(), root.join("bin/test")).unwrap();
        for file in [
            "etc/passwd",
            "etc/ssh/config",
            "flag",
            "held",
            "home/user/.bashrc",
            "home/user/mail/cur/1",
            "home/user/src/main.rs",
            "home/other/file",
            "tmp/file",
            "dev/null",
        ] {
            fs::write(root.join(file), format!("precious: {file}")).unwrap();
        }
        fs::set_permissions(root.join("dev/null"), fs::Permissions::from_mode(0o666)).unwrap();
        let jail = Self { temp };
        jail.git(&["init", "-q", "-b", "main"]);
        jail.git(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "root",
        ]);
        jail
    }

    pub fn root(&self) -> &Path {
        self.temp.path()
    }

    /// Returns the path of the repository in the jail, seen from outside.
    pub fn repository(&self) -> PathBuf {
        self.root().join("home/user/src")
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.repository()).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.status().unwrap().success(), "git {arguments:?}");
    }

    /// Runs this test again inside the jail; returns whether it passed.
    pub fn run(&self, test: &str) -> bool {
        let root = self.root().display();
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--pid", "--fork", "--kill-child"]);
        let user = if is_root {
            let mut chown = Command::new("chown");
            assert!(
                chown.args(["-R", &format!("{USER}:{USER}")]).arg(self.root()).status().unwrap().success()
            );
            format!("--userspec={USER}:{USER}")
        } else {
            unshare.args(["--user", "--map-root-user"]);
            String::new()
        };
        let script = format!(
            "mount -t proc proc '{root}/proc' && mount --bind /dev/null '{root}/dev/null' && \
             exec chroot {user} '{root}' /bin/test --exact {test} --nocapture --include-ignored"
        );
        unshare.args(["sh", "-c", &script]).env_clear();
        unshare.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env(INSIDE, "1").env("HOME", "/home/user");
        unshare.envs(std::env::var_os(LONG).map(|long| (LONG, long)));
        // `unshare` comes with util-linux.
        unshare.status().unwrap().success()
    }
}

/// Describes everything below `/` except the paths in `ours` and the kernel's: type, mode, owner,
/// size, time of change and content.
pub fn manifest(ours: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::from("/")];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let path = entry.path();
            let name = path.to_string_lossy().into_owned();
            let is_apart = ["/proc", "/dev/null", "/bin/test"].contains(&name.as_str());
            if is_apart || ours.iter().any(|ours| path.starts_with(ours)) {
                continue;
            }
            let stat = fs::symlink_metadata(&path).unwrap();
            let content = if stat.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
            if stat.is_dir() {
                open.push(path);
            }
            let sum =
                content.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
            // The time and size of a directory change with our own files in it.
            let (size, time) = if stat.is_dir() { (0, 0) } else { (stat.size(), stat.mtime_nsec()) };
            let owner = format!("{}:{}", stat.uid(), stat.gid());
            found.insert(name, format!("{:o} {owner} {size} {time} {sum:x}", stat.mode()));
        }
    }
    found
}
