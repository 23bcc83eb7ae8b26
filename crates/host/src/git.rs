//! Reads git repositories (place, branch, commit, changes), mostly from their files.
//! Starting `git` costs more than a whole hook, and all that hooks need is in four
//! small files.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use consort_core::claims::Pattern;
use consort_core::host::PlacedDirectory;
use consort_core::host::RootCommit;
use consort_files::NoFollowTree;

use crate::run_program::run;
use crate::run_program::run_with_codes;
use crate::run_program::run_with_codes_bytes;
use crate::run_program::run_with_input;

/// The file that marks a project without a repository.
const MARKER: &str = ".consort/config.toml";

/// The file that tells our own data directory, if it is called `.consort`, from a project's.
const NOT_A_MARKER: &str = ".consort/consort.db";

/// Most bytes of a file that is read here; `packed-refs` may be long.
const LONGEST: u64 = 64 << 20;

/// Most worktrees of a repository that are listed.
const MOST_WORKTREES: usize = 64;

/// Most paths that one git command is asked about.
const MOST_ASKED: usize = 256;

/// Reads a text file of git's own. A pipe or a device, which somebody else may have put in its place, is
/// an error.
fn read_text(path: impl AsRef<Path>) -> std::io::Result<String> {
    let bytes = consort_files::read_regular_file(path.as_ref(), LONGEST)?;
    String::from_utf8(bytes).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}

pub(crate) fn place(dir: &Path) -> PlacedDirectory {
    let dir = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    for worktree in dir.ancestors() {
        if let Some(git_dir) = git_dir(worktree) {
            let common = common_dir(&git_dir);
            return PlacedDirectory {
                worktree: text(worktree),
                origin: origin(&common),
                branch: head(&git_dir),
                repository: text(&common),
                is_git: true,
            };
        }
    }
    let is_marked =
        |dir: &&Path| NoFollowTree::new(dir).has_file(Path::new(MARKER)) && !dir.join(NOT_A_MARKER).exists();
    let marked = dir.ancestors().find(is_marked);
    let root = text(marked.unwrap_or(&dir));
    PlacedDirectory { worktree: root.clone(), repository: root, origin: None, branch: None, is_git: false }
}

/// Returns the branch checked out now, or `@` and the first digits of a detached commit.
pub(crate) fn branch(worktree: &Path) -> Option<String> {
    head(&git_dir(worktree)?)
}

/// Reads the id of the commit that is checked out from git's files.
pub(crate) fn current_commit(worktree: &Path) -> Option<String> {
    let git_dir = git_dir(worktree)?;
    let head = read_text(git_dir.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return Some(head.trim().to_owned()) };
    let common = common_dir(&git_dir);
    if let Ok(commit) = read_text(common.join(name)) {
        return Some(commit.trim().to_owned());
    }
    let packed = read_text(common.join("packed-refs")).ok()?;
    let line = packed.lines().find(|line| line.split_once(' ').is_some_and(|(_, found)| found == name))?;
    line.split_once(' ').map(|(commit, _)| commit.to_owned())
}

/// Changes the configuration of a repository; false if `git config` fails.
pub fn change_git_config(worktree: &Path, arguments: &[&str]) -> bool {
    let mut config = git(worktree);
    config.args(["config", "--local"]).args(arguments);
    run(&mut config, Duration::from_secs(2)).is_some()
}

/// Returns both sides of a file whose merge conflict is not resolved; starts `git` only in the middle of
/// a merge.
pub fn unmerged_sides(worktree: &Path, path: &str) -> Vec<Vec<u8>> {
    let Some(git_dir) = git_dir(worktree) else { return Vec::new() };
    let under_way = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];
    if !under_way.iter().any(|name| git_dir.join(name).exists()) {
        return Vec::new();
    }
    let side = |stage: u8| {
        let mut show = git(worktree);
        show.args(["cat-file", "blob", &format!(":{stage}:{path}")]);
        run_with_codes_bytes(&mut show, Duration::from_secs(5), &[0])
    };
    [2, 3].into_iter().filter_map(side).collect()
}

/// Whether this clone has a merge driver of that name, in its own settings.
pub fn has_merge_driver(worktree: &Path, name: &str) -> bool {
    let config = shared_git_dir(worktree).map(|repository| repository.join("config"));
    let text =
        config.and_then(|config| consort_files::read_regular_file(&config, 1 << 20).ok()).unwrap_or_default();
    String::from_utf8_lossy(&text).contains(&format!("[merge \"{name}\"]"))
}

/// Returns the time of a commit, in seconds since 1970; starts `git`.
pub fn commit_time(worktree: &Path, revision: &str) -> Option<i64> {
    if revision.starts_with('-') {
        return None;
    }
    let mut show = git(worktree);
    show.args(["show", "-s", "--format=%ct", revision]);
    run(&mut show, Duration::from_secs(2))?.trim().parse().ok()
}

/// Finds the oldest root commit of the history; only `git` itself can tell.
pub(crate) fn root_commit(worktree: &Path) -> RootCommit {
    let mut rev_list = git(worktree);
    rev_list.args(["rev-list", "--max-parents=0", "HEAD"]);
    // In a repository without a commit git exits with 128.
    match run_with_codes(&mut rev_list, Duration::from_secs(1), &[0, 128]) {
        Some(roots) => {
            roots.lines().last().map_or(RootCommit::Absent, |root| RootCommit::Found(root.to_owned()))
        }
        None => RootCommit::Unknown,
    }
}

/// Longest time git may take to answer a hook.
const PATIENCE: Duration = Duration::from_millis(300);

/// Whether anything that the pattern matches differs from the last commit; `None` if git does not tell in
/// time.
pub(crate) fn has_changes(worktree: &Path, pattern: &Pattern, with_new: bool) -> Option<bool> {
    let pathspec = pathspec(pattern);
    let mut command = asking(worktree);
    // `--no-optional-locks`: a status must not take the lock that someone's commit needs.
    let new = if with_new { "-unormal" } else { "-uno" };
    command.args(["--no-optional-locks", "status", "--porcelain", "--no-renames", new, "--", &pathspec]);
    run(&mut command, PATIENCE).map(|changes| !changes.trim().is_empty())
}

/// Translates a pattern for git, which knows no braces: a pattern with braces becomes the directory above
/// all that it matches.
fn pathspec(pattern: &Pattern) -> String {
    match pattern.literal() {
        Some(path) => format!(":(literal,top){path}"),
        None if pattern.as_str().contains('{') => format!(":(literal,top){}", pattern.stem()),
        None => format!(":(glob,top){}", pattern.as_str().trim_end_matches('/')),
    }
}

/// Lists the paths that differ between commits and match a pattern; none if git does not tell in time.
pub(crate) fn differing(worktree: &Path, range: &[String], pattern: &Pattern) -> Vec<String> {
    let mut command = asking(worktree);
    command.args(["diff", "-z", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames"]);
    command.args(range).args(["--", &pathspec(pattern)]);
    let names = run(&mut command, PATIENCE).unwrap_or_default();
    names.split_terminator('\0').map(str::to_owned).collect()
}

/// Whether a file that differs between commits also has uncommitted changes: then git refuses to touch
/// any of the files.
pub(crate) fn would_overwrite_changes(worktree: &Path, range: &[String], pattern: &Pattern) -> bool {
    let names = |range: &[String], paths: &[String]| {
        let mut command = asking(worktree);
        command.args(["diff", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames"]);
        command.args(range).arg("--").args(paths);
        run(&mut command, PATIENCE)
    };
    let Some(differing) = names(range, &[pathspec(pattern)]) else { return false };
    let paths: Vec<String> =
        differing.lines().take(MOST_ASKED).map(|path| format!(":(literal,top){path}")).collect();
    !paths.is_empty() && names(&["HEAD".to_owned()], &paths).is_some_and(|dirty| !dirty.trim().is_empty())
}

/// Lists the worktrees of a repository, as it notes them; none if it has only its own.
pub(crate) fn worktrees(repository: &Path) -> Vec<PathBuf> {
    let Ok(notes) = fs::read_dir(repository.join("worktrees")) else { return Vec::new() };
    let noted = notes.flatten().take(MOST_WORKTREES).filter_map(|note| {
        let dot_git = read_text(note.path().join("gitdir")).ok()?;
        Path::new(dot_git.trim_end()).parent().map(Path::to_owned)
    });
    let own = repository.file_name().filter(|name| *name == ".git").and_then(|_| repository.parent());
    noted.chain(own.map(Path::to_owned)).map(|worktree| text(&worktree)).collect()
}

/// Returns those of the paths that are ignored and not tracked; outside of a repository, none.
pub(crate) fn ignored(worktree: &Path, paths: &[&str]) -> Option<Vec<String>> {
    if git_dir(worktree).is_none() {
        return Some(Vec::new());
    }
    // A command line's length is limited: further paths are not asked about.
    let paths: Vec<String> = paths.iter().take(MOST_ASKED).map(|path| format!("./{path}")).collect();
    let mut command = git(worktree);
    command.args(["-c", "core.quotePath=false", "check-ignore", "--"]).args(&paths);
    // Git exits with 1 if none of the paths is ignored.
    let told = run_with_codes(&mut command, Duration::from_secs(1), &[0, 1])?;
    Some(told.lines().map(|path| path.trim_start_matches("./").to_owned()).collect())
}

/// Lists the paths that conflict if the commits of two worktrees of one repository are merged. A `git`
/// that cannot tell (before 2.38) gives none.
pub(crate) fn merge_conflicts(one: &Path, other: &Path) -> Vec<String> {
    let head =
        |dir: &Path| run(git(dir).args(["rev-parse", "--verify", "-q", "HEAD"]), Duration::from_secs(1));
    let (Some(ours), Some(theirs)) = (head(one), head(other)) else { return Vec::new() };
    let mut command = git(one);
    command.args([
        "merge-tree",
        "--write-tree",
        "--name-only",
        "--no-messages",
        "-z",
        ours.trim(),
        theirs.trim(),
    ]);
    // Git exits with 1 if there are conflicts; it prints the tree first, then the paths.
    let told = run_with_codes(&mut command, Duration::from_secs(5), &[0, 1]).unwrap_or_default();
    told.split('\0').skip(1).filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

/// Lists the changes since the last commit: `src/auth.rs +12 -3`, and `new.rs (new)`.
pub(crate) fn changes(worktree: &Path) -> Vec<String> {
    let ask = |arguments: &[&str]| {
        let mut command = git(worktree);
        command.arg("--no-optional-locks").args(arguments);
        run(&mut command, Duration::from_secs(3)).unwrap_or_default()
    };
    let known = ask(&["diff", "--numstat", "--no-renames", "-z", "HEAD"]);
    let known = known.split_terminator('\0').filter_map(|line| {
        let mut cells = line.splitn(3, '\t');
        let (added, removed, path) = (cells.next()?, cells.next()?, cells.next()?);
        Some(format!("{path} +{added} -{removed}"))
    });
    let new = ask(&["ls-files", "--others", "--exclude-standard", "-z"]);
    let new = new.split_terminator('\0').map(|path| format!("{path} (new)"));
    known.chain(new).collect()
}

/// Lists the paths that a commit would take, asked from within a git hook of that commit.
pub fn staged(dir: &Path) -> Option<Vec<String>> {
    // The environment names the index of that commit, so it is kept.
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(["diff", "--cached", "--name-only", "--no-renames", "-z"]);
    let paths = run(&mut git, Duration::from_secs(10))?;
    Some(paths.split_terminator('\0').map(str::to_owned).collect())
}

/// Returns the directory of a repository's git hooks.
pub fn hooks_dir(dir: &Path) -> Option<PathBuf> {
    let path = run(git(dir).args(["rev-parse", "--git-path", "hooks"]), Duration::from_secs(1))?;
    let path = dir.join(path.trim_end_matches('\n'));
    Some(fs::canonicalize(&path).unwrap_or(path))
}

/// Returns the git directory that all worktrees of a worktree's repository share.
pub fn shared_git_dir(worktree: &Path) -> Option<PathBuf> {
    git_dir(worktree).map(|git_dir| common_dir(&git_dir))
}

/// Makes a worktree on a branch, and the branch if there is none of that name; the error is git's
/// message.
pub fn add_worktree(worktree: &Path, path: &Path, branch: &str) -> Result<(), String> {
    let exists = run(
        git(worktree).args(["show-ref", "--verify", "--quiet"]).arg(format!("refs/heads/{branch}")),
        MAKING,
    );
    let mut add = git(worktree);
    add.args(["worktree", "add", "--quiet"]);
    match exists {
        Some(_) => add.arg(path).arg(branch),
        None => add.arg("-b").arg(branch).arg(path),
    };
    let ran = run_with_input(&mut add, MAKING, b"").map_err(|error| error.to_string())?;
    match ran.is_success {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned()),
    }
}

/// Counts the lines that were added and removed in a worktree since its last commit; starts `git`.
pub fn changed_lines(worktree: &Path) -> Option<(u32, u32)> {
    let mut diff = git(worktree);
    diff.args(["diff", "--no-ext-diff", "--no-textconv", "--numstat", "HEAD", "--"]);
    let told = run(&mut diff, Duration::from_secs(5))?;
    let count = |word: Option<&str>| word.and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
    let mut lines = (0, 0);
    for line in told.lines() {
        let mut words = line.split('\t');
        lines = (lines.0 + count(words.next()), lines.1 + count(words.next()));
    }
    Some(lines)
}

/// Longest time a checkout may take.
const MAKING: Duration = Duration::from_secs(120);

/// Builds a `git` command for a worktree, whatever git hook of whatever repository we run in. Programs
/// that the repository's own settings name are not run.
pub(crate) fn git(worktree: &Path) -> Command {
    let mut git = Command::new("git");
    for setting in ["core.fsmonitor=false", "log.showSignature=false"] {
        git.args(["-c", setting]);
    }
    git.arg("-C").arg(worktree).env("GIT_NO_LAZY_FETCH", "1").env("GIT_OPTIONAL_LOCKS", "0");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"] {
        git.env_remove(variable);
    }
    git
}

/// Builds a `git` command for a question of our hooks: no git hook of the repository runs either.
fn asking(worktree: &Path) -> Command {
    let mut git = git(worktree);
    git.args(["-c", "core.hooksPath=/dev/null"]);
    git
}

/// Finds the git directory of a worktree: `.git` itself, or the directory that a file `.git` names.
pub(crate) fn git_dir(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    if dot_git.join("HEAD").is_file() {
        return Some(dot_git);
    }
    let link = read_text(&dot_git).ok()?;
    let target = link.strip_prefix("gitdir:")?.trim();
    let target = worktree.join(target);
    target.join("HEAD").is_file().then_some(target)
}

/// Returns the git directory that all worktrees of a repository share. A repository keeps the git
/// directories of its worktrees below its own: a directory that merely names another repository's is not
/// accepted.
pub(crate) fn common_dir(git_dir: &Path) -> PathBuf {
    let own = fs::canonicalize(git_dir).unwrap_or_else(|_| git_dir.to_owned());
    let common = read_text(git_dir.join("commondir")).ok();
    let common = common.and_then(|common| fs::canonicalize(git_dir.join(common.trim())).ok());
    common.filter(|common| own.starts_with(common)).unwrap_or(own)
}

fn head(git_dir: &Path) -> Option<String> {
    let head = read_text(git_dir.join("HEAD")).ok()?;
    let head = head.trim();
    Some(match head.strip_prefix("ref:") {
        Some(name) => name.trim().trim_start_matches("refs/heads/").to_owned(),
        None => format!("@{}", head.get(..7)?),
    })
}

/// Reads `url` in the section `[remote "origin"]` of a repository's configuration.
fn origin(common: &Path) -> Option<String> {
    let config = read_text(common.join("config")).ok()?;
    let mut in_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin = line.to_lowercase().starts_with("[remote ") && line.contains("\"origin\"");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| in_origin)
            && key.trim().eq_ignore_ascii_case("url")
        {
            return Some(value.trim().trim_matches('"').to_owned());
        }
    }
    None
}

/// Makes a path valid text, lossily if it is not: shared state is text.
pub(crate) fn text(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn do_git(dir: &Path, args: &[&str]) {
        let status = Command::new("git")
            .current_dir(dir)
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
            .args(args)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status()
            .unwrap();
        assert!(status.success(), "git {args:?}");
    }

    /// Settings do not come with a clone, but they do with a copy.
    #[test]
    fn nothing_runs_that_a_repository_names() {
        let temp = tempfile::tempdir().unwrap();
        let (repository, evil) = (temp.path().join("shop"), temp.path().join("evil"));
        fs::create_dir(&repository).unwrap();
        do_git(&repository, &["init", "-q"]);
        do_git(&repository, &["commit", "-q", "--allow-empty", "-m", "root"]);
        let marker = temp.path().join("ran");
        fs::write(&evil, format!("#!/bin/sh\ntouch {}\nexit 1\n", marker.display())).unwrap();
        fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let evil = evil.display().to_string();
        for (name, value) in [
            ("core.fsmonitor", evil.as_str()),
            ("log.showSignature", "true"),
            ("gpg.program", &evil),
            ("extensions.partialClone", "evil"),
            ("remote.evil.url", "/nowhere"),
            ("remote.evil.promisor", "true"),
            ("remote.evil.uploadpack", &evil),
            ("core.sshCommand", &evil),
            ("core.pager", &evil),
        ] {
            do_git(&repository, &["config", name, value]);
        }
        // A commit whose parent is not there, and would have to be fetched.
        let ask = |words: &[&str]| run(git(&repository).args(words), Duration::from_secs(1)).unwrap();
        let tree = ask(&["rev-parse", "HEAD^{tree}"]);
        let parent = "1".repeat(40);
        let who = "t <t@t> 1 +0000";
        let text = format!("tree {tree}parent {parent}\nauthor {who}\ncommitter {who}\ngpgsig x\n\nx\n");
        let file = temp.path().join("commit");
        fs::write(&file, text).unwrap();
        let made = ask(&["hash-object", "-t", "commit", "-w", "--literally", file.to_str().unwrap()]);
        fs::write(repository.join(".git/HEAD"), made).unwrap();
        fs::write(repository.join("file"), "changed").unwrap();
        let _ = (
            root_commit(&repository),
            commit_time(&repository, "HEAD"),
            current_commit(&repository),
            branch(&repository),
        );
        let _ = has_changes(&repository, &Pattern::file("file"), true);
        assert!(!marker.exists());
    }

    #[test]
    fn worktrees_of_one_repository_are_one_place() {
        let temp = tempfile::tempdir().unwrap();
        let main = temp.path().join("main");
        fs::create_dir_all(main.join("src")).unwrap();
        do_git(&main, &["init", "-q"]);
        do_git(&main, &["commit", "-q", "--allow-empty", "-m", "root"]);
        do_git(&main, &["remote", "add", "origin", "git@example.com:a/b.git"]);
        do_git(&main, &["worktree", "add", "-q", "-b", "feat/x", "../side"]);

        let one = place(&main.join("src"));
        let two = place(&temp.path().join("side"));
        assert_eq!(one.repository, two.repository);
        assert_ne!(one.worktree, two.worktree);
        assert_eq!(one.origin.as_deref(), Some("git@example.com:a/b.git"));
        assert_eq!(one.branch.as_deref(), Some("main"));
        assert_eq!(two.branch.as_deref(), Some("feat/x"));
        assert!(matches!(root_commit(&main), RootCommit::Found(_)));

        // A directory that names another's repository as its own is no worktree of it.
        let (forged, own) = (temp.path().join("forged"), temp.path().join("own"));
        fs::create_dir_all(&forged).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/main").unwrap();
        fs::write(own.join("commondir"), main.join(".git").to_str().unwrap()).unwrap();
        fs::write(forged.join(".git"), format!("gitdir: {}", own.display())).unwrap();
        assert_ne!(place(&forged).repository, one.repository);

        do_git(&main, &["checkout", "-q", "--detach"]);
        assert!(branch(&main).unwrap().starts_with('@'));
    }

    #[test]
    fn without_a_repository_a_marker_or_the_folder_decides() {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(root.join("marked/.consort")).unwrap();
        fs::create_dir_all(root.join("marked/deep")).unwrap();
        assert_eq!(place(&root.join("marked/deep")).worktree, root.join("marked/deep"));
        fs::write(root.join("marked/.consort/config.toml"), "").unwrap();
        assert_eq!(place(&root.join("marked/deep")).worktree, root.join("marked"));
        assert_eq!(place(&root).worktree, root);
        assert!(!place(&root).is_git);
        // Our own data directory does not mark a project.
        fs::write(root.join("marked/.consort/consort.db"), "").unwrap();
        assert_eq!(place(&root.join("marked/deep")).worktree, root.join("marked/deep"));
    }
}
