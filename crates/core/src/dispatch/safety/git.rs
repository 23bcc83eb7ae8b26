//! Classifies git commands by how much they could destroy, for a run's safety level.

use super::ActionClass;
use super::args::Args;

/// Options of git itself that take a word.
const WITH_VALUE: &[&str] =
    &["-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"];

/// Commands that show something, except by the options that `shown` looks for.
#[rustfmt::skip]
const READING: &[&str] = &[
    "annotate", "archive", "blame", "cat-file", "check-attr", "check-ignore", "check-mailmap", "check-ref-format",
    "cherry", "count-objects", "describe", "diff-files", "diff-index", "diff-tree", "for-each-ref", "fsck", "get-tar-commit-id",
    "grep", "help", "ls-files", "ls-tree", "merge-base", "merge-tree", "name-rev", "patch-id", "range-diff", "rev-list",
    "rev-parse", "shortlog", "show-branch", "show-ref", "status", "var", "verify-commit", "verify-tag", "version",
    "whatchanged",
];

/// Commands that add, and leave what was there, except in the forms that `added` names.
#[rustfmt::skip]
const ADDING: &[&str] = &[
    "add", "am", "apply", "bundle", "clone", "commit", "commit-graph", "commit-tree", "fetch", "format-patch",
    "hash-object", "init", "maintenance", "mktree", "mv", "notes", "pack-refs", "remote", "request-pull", "revert",
    "sparse-checkout", "stage", "write-tree", "lfs", "submodule", "bisect", "update-index", "read-tree", "interpret-trailers",
    "stripspace", "merge-file", "mailinfo", "repack",
];

/// Returns the class of a git command.
pub(super) fn classify(args: Args<'_>) -> ActionClass {
    let mut at = 0;
    let mut tells_more = false;
    while let Some(Some(word)) = args.0.get(at) {
        match word.as_str() {
            "-c" => {
                tells_more |=
                    args.0.get(at + 1).is_none_or(|setting| setting.as_deref().is_none_or(is_telling));
                at += 2;
            }
            option if WITH_VALUE.contains(&option) => at += 2,
            "--exec-path" | "--version" | "--help" => return ActionClass::FileRead,
            option if option.starts_with("--exec-path=") || option.starts_with("--config-env=") => {
                return ActionClass::SystemModify;
            }
            option if option.starts_with('-') => at += 1,
            _ => break,
        }
    }
    let class = match args.0.get(at) {
        None => ActionClass::FileRead,
        // The text does not tell which git command it is.
        Some(None) => ActionClass::GitDestructive,
        Some(Some(verb)) => of_verb(verb, args.after(at + 1)),
    };
    if tells_more { class.max(ActionClass::SystemModify) } else { class }
}

/// Tells whether a setting makes git run programs that the setting names.
fn is_telling(setting: &str) -> bool {
    const KEYS: &[&str] = &[
        "alias.",
        "browser.",
        "core.editor",
        "core.fsmonitor",
        "core.hookspath",
        "core.pager",
        "core.sshcommand",
        "core.askpass",
        "credential.",
        "diff.",
        "difftool.",
        "filter.",
        "gpg.",
        "include",
        "merge.",
        "mergetool.",
        "pager.",
        "protocol.",
        "sequence.editor",
        "ssh.",
        "uploadpack.",
        "remote.",
        "url.",
    ];
    let lower = setting.to_lowercase();
    KEYS.iter().any(|key| lower.starts_with(key)) && !lower.starts_with("merge.conflictstyle")
}

fn of_verb(verb: &str, args: Args<'_>) -> ActionClass {
    match verb {
        _ if READING.contains(&verb) => shown(args),
        "log" | "diff" | "show" => shown(args),
        "ls-remote" => ActionClass::Network,
        _ if ADDING.contains(&verb) => added(verb, args),
        "branch" => branch(args),
        "tag" => match () {
            () if args.has(&["-d", "--delete", "-f", "--force"]) => ActionClass::GitDestructive,
            () if args.operands().next().is_none() || args.has(&["-l", "--list", "-n"]) => {
                ActionClass::FileRead
            }
            () => ActionClass::BashExec,
        },
        "checkout" => checkout(args),
        "switch" => match args.has(&["-C", "--force-create", "-f", "--force", "--discard-changes"]) {
            true => ActionClass::GitDestructive,
            false => ActionClass::BashExec,
        },
        "restore" => match args.has(&["-S", "--staged"]) && !args.has(&["-W", "--worktree"]) {
            true => ActionClass::BashExec,
            false => ActionClass::GitDestructive,
        },
        "clean" => match args.has(&["--dry-run"]) || args.has_short('n') {
            true => ActionClass::FileRead,
            false => ActionClass::GitDestructive,
        },
        "rm" => match args.has(&["--cached", "-n", "--dry-run"]) {
            true => ActionClass::FileWrite,
            false => ActionClass::FileDelete,
        },
        "stash" => match args.first() {
            Some("list" | "show") => ActionClass::FileRead,
            Some("drop" | "clear") => ActionClass::GitDestructive,
            _ => ActionClass::BashExec,
        },
        "reflog" => match args.first() {
            Some("expire" | "delete" | "drop") => ActionClass::GitDestructive,
            _ => ActionClass::FileRead,
        },
        "worktree" => match args.first() {
            Some("list") => ActionClass::FileRead,
            Some("remove") if args.has(&["-f", "--force"]) => ActionClass::GitDestructive,
            Some("remove") => ActionClass::FileDelete,
            _ => ActionClass::BashExec,
        },
        "config" => config(args),
        "pull" => match args.has(&["--ff-only"]) {
            true => ActionClass::BashExec,
            false => ActionClass::GitDestructive,
        },
        "push" => push(args),
        "send-email" | "svn" | "p4" => ActionClass::GitPush,
        "gc" => match args.has(&["--prune"]) {
            true => ActionClass::GitDestructive,
            false => ActionClass::BashExec,
        },
        // Rebase, reset, merge, cherry-pick, filter-branch, update-ref, and unknown commands.
        _ => ActionClass::GitDestructive,
    }
}

fn shown(args: Args<'_>) -> ActionClass {
    let writes = args.has(&["--output", "-o"]) && !args.has(&["--others"]);
    let runs = args.has(&["--ext-diff", "--open-files-in-pager", "-O", "--textconv"]);
    match (runs, writes) {
        (true, _) => ActionClass::BashExec,
        (false, true) => ActionClass::FileWrite,
        (false, false) => ActionClass::FileRead,
    }
}

fn added(verb: &str, args: Args<'_>) -> ActionClass {
    let first = args.first().unwrap_or_default();
    match (verb, first) {
        ("remote", "" | "-v" | "show" | "get-url") | ("notes", "list" | "show") => ActionClass::FileRead,
        ("submodule", "" | "status" | "summary") => ActionClass::FileRead,
        ("submodule", "deinit") | ("notes", "remove" | "prune") => ActionClass::GitDestructive,
        ("bisect", "log" | "view") => ActionClass::FileRead,
        ("read-tree", _) if args.has(&["--reset", "-u"]) => ActionClass::GitDestructive,
        ("am" | "revert", _) if args.has(&["--abort", "--skip", "--quit"]) => ActionClass::GitDestructive,
        ("add" | "mv" | "apply" | "stage", _) => ActionClass::FileWrite,
        _ => ActionClass::BashExec,
    }
}

fn branch(args: Args<'_>) -> ActionClass {
    let takes = ["-D", "-d", "--delete", "-M", "-C", "-f", "--force"];
    if args.has(&takes) || args.has_short('D') || args.has_short('M') {
        return ActionClass::GitDestructive;
    }
    let lists =
        ["-a", "--all", "-r", "--remotes", "-l", "--list", "-v", "-vv", "--show-current", "--contains"];
    match args.operands().next().is_none() || args.has(&lists) || args.has(&["--merged", "--no-merged"]) {
        true => ActionClass::FileRead,
        false => ActionClass::BashExec,
    }
}

/// Classifies a checkout: to change to a branch loses nothing; to check out files overwrites them.
fn checkout(args: Args<'_>) -> ActionClass {
    if args.has(&["-b", "--orphan"]) && !args.has(&["-f", "--force"]) {
        return ActionClass::BashExec;
    }
    let overwrites =
        ["--", "-f", "--force", "-B", "-p", "--patch", "--ours", "--theirs", "-m", "--pathspec-from-file"];
    let operands: Vec<&str> = args.operands().collect();
    let is_path = |word: &str| {
        let last = word.rsplit('/').next().unwrap_or(word);
        word == "." || word.ends_with('/') || word.contains('*') || last.contains('.') && !is_version(last)
    };
    let is_branch = match operands[..] {
        [] => !args.has_unknown(),
        [one] => !is_path(one) && !args.has_unknown(),
        _ => false,
    };
    match is_branch && !args.has(&overwrites) {
        true => ActionClass::BashExec,
        false => ActionClass::GitDestructive,
    }
}

/// Tells whether a word is a version: `v1.2` is a tag, not a file.
fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || "._-".contains(c))
}

fn config(args: Args<'_>) -> ActionClass {
    let reads = [
        "--get",
        "--get-all",
        "--get-regexp",
        "-l",
        "--list",
        "get",
        "list",
        "--get-urlmatch",
        "--show-origin",
    ];
    let is_plain_get =
        args.operands().count() == 1 && !args.has(&["--unset", "--unset-all", "--add", "-e", "--edit"]);
    match args.has(&reads) || is_plain_get && !args.has_unknown() {
        true => ActionClass::FileRead,
        false => ActionClass::SystemModify,
    }
}

fn push(args: Args<'_>) -> ActionClass {
    let takes = [
        "-f",
        "--force",
        "--force-with-lease",
        "--force-if-includes",
        "-d",
        "--delete",
        "--mirror",
        "--prune",
    ];
    let overwrites = |word: &str| word.starts_with('+') || word.starts_with(':');
    if args.has(&takes) || args.has_short('f') || args.has_short('d') || args.operands().any(overwrites) {
        return ActionClass::GitDestructive;
    }
    match args.has(&["-n", "--dry-run"]) {
        true => ActionClass::Network,
        false => ActionClass::GitPush,
    }
}
