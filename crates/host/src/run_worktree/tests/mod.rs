//! Tests runs in worktrees of real repositories, each made for its test.

mod apart;
mod conflicts;
pub(super) mod fault;
mod killed;
mod making;
mod merging;
mod removing;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use super::*;

/// A repository of the person's with one commit, and the worktree of a run.
struct World {
    temp: tempfile::TempDir,
    /// The person's worktree.
    own: PathBuf,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let own = fs::canonicalize(temp.path()).unwrap().join("shop");
        fs::create_dir(&own).unwrap();
        let world = Self { temp, own };
        world.git(&["init", "-q", "-b", "main"]);
        world.write("a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        world.write("b", "b\n");
        world.write("dir/c", "c\n");
        world.write(".gitignore", "*.ignored\nnode_modules/\n.env\n");
        world.commit("root");
        world
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.own, words)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.own, name, text);
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.own.join(name)).ok()
    }

    fn commit(&self, text: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", text]);
    }

    /// Lists the differences from the last commit, a line each.
    fn status(&self) -> Vec<String> {
        status(&self.own)
    }

    /// Lists the subjects of the commits, the newest first.
    fn log(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.temp.path().join("data").join(name)
    }

    fn make(&self) -> Run {
        self.make_named("run-1")
    }

    fn make_named(&self, name: &str) -> Run {
        let made =
            make(&self.own, &self.at(name), &format!("consort/{name}"), &Bootstrap::default()).unwrap();
        Run { tree: made.tree }
    }

    fn merge(&self, run: &Run) -> Merge {
        merge(&run.tree, &self.own).unwrap()
    }

    /// Lists everything that a merge could change: files with their modes, what is staged, the commit.
    fn everything(&self) -> String {
        let mut found = Vec::new();
        list(&self.own, &mut found);
        found.sort();
        let staged = self.git(&["ls-files", "-s"]);
        format!("{}\n{staged}\n{}", found.join("\n"), self.git(&["rev-parse", "HEAD"]))
    }
}

/// The worktree of a run, and the worker in it.
struct Run {
    tree: RunTree,
}

impl Run {
    fn git(&self, words: &[&str]) -> String {
        git(&self.tree.path, words)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.tree.path, name, text);
    }

    fn commit(&self, text: &str) {
        self.git(&["add", "-A"]);
        self.git(&["-c", "user.name=Worker", "-c", "user.email=w@w", "commit", "-q", "-m", text]);
    }

    fn delete(&self, name: &str) {
        fs::remove_file(self.tree.path.join(name)).unwrap();
    }
}

fn merged(commits: usize, files: usize) -> Merge {
    Merge::Merged { commits, as_changes: 0, files }
}

fn conflicts(paths: &[&str]) -> Merge {
    Merge::Conflicts { paths: paths.iter().map(|path| (*path).to_owned()).collect(), is_half_done: false }
}

fn git(dir: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=Person", "-c", "user.email=p@p", "-c", "protocol.file.allow=always"])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn status(dir: &Path) -> Vec<String> {
    let told = git(dir, &["status", "--porcelain", "-z", "--no-renames", "-uall"]);
    told.split_terminator('\0').map(str::to_owned).collect()
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn list(dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let stat = fs::symlink_metadata(&path).unwrap();
        if stat.is_dir() {
            if entry.file_name() != ".git" {
                list(&path, found);
            }
            continue;
        }
        let content = match stat.is_symlink() {
            true => format!("{:?}", fs::read_link(&path).unwrap()),
            false => format!("{:?}", String::from_utf8_lossy(&fs::read(&path).unwrap())),
        };
        found.push(format!("{path:?} {:o} {content}", stat.permissions().mode()));
    }
}
