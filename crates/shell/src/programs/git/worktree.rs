//! Finds the files that `git` commands would write which restore files of the worktree: `checkout`,
//! `switch`, `restore`, `stash`, `reset`, `clean`.

use super::commits::go_to;
use super::pathspec::is_path;
use super::pathspec::is_revision;
use super::pathspec::listed;
use super::pathspec::pathspec;
use super::pathspec::write_from_revision;
use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// The long options of `git reset`, and below of `git checkout`: with any other, git does nothing.
#[rustfmt::skip]
const RESET: &[&str] = &[
    "--hard", "--soft", "--mixed", "--merge", "--keep", "--quiet", "--no-quiet", "--refresh", "--no-refresh",
    "--patch", "--intent-to-add", "--pathspec-from-file", "--pathspec-file-nul", "--recurse-submodules",
    "--no-recurse-submodules",
];
#[rustfmt::skip]
const CHECKOUT: &[&str] = &[
    "--quiet", "--progress", "--no-progress", "--force", "--ours", "--theirs", "--orphan", "--patch", "--merge",
    "--conflict", "--detach", "--track", "--no-track", "--guess", "--no-guess", "--ignore-skip-worktree-bits",
    "--ignore-other-worktrees", "--overwrite-ignore", "--no-overwrite-ignore", "--recurse-submodules",
    "--no-recurse-submodules", "--overlay", "--no-overlay", "--pathspec-from-file", "--pathspec-file-nul",
];

pub(super) fn checkout(walk: &mut Walk<'_>, words: &[Word]) {
    const BY: &str = "git checkout";
    let args = Args::read(words, &Options::with("bB", &["--orphan", "--conflict", "--pathspec-from-file"]));
    if args.has(&["-p", "--patch"]) || args.has_other_than(CHECKOUT) {
        return walk.note_unknown_write();
    }
    if let Some(count) = args.dashes
        && args.operands.len() > count
    {
        let revision = args.operands[..count].first().map(|word| word.text().unwrap_or_default());
        return args.operands[count..].iter().for_each(|path| write_from_revision(walk, path, revision, BY));
    }
    if let Some(file) = args.value(&["--pathspec-from-file"]) {
        let revision = args.operands.first().map(|word| word.text().unwrap_or_default());
        return listed(walk, file).iter().for_each(|path| write_from_revision(walk, path, revision, BY));
    }
    // Hooks run for a new branch, too.
    if args.has(&["-b", "-B"]) {
        walk.note_unknown_write();
    }
    match args.operands.as_slice() {
        [] if args.has(&["-f", "--force"]) => walk.write_here(Extent::Changes, BY),
        [] => {}
        [Word::Unknown] => walk.note_unknown_write(),
        [path] if is_path(path) && args.dashes.is_none() => write_from_revision(walk, path, None, BY),
        [to] => {
            if args.has(&["-f", "--force"]) {
                walk.write_here(Extent::Changes, BY);
            }
            go_to(walk, to, BY);
        }
        // A new branch that starts at another commit.
        _ if args.has(&["--orphan"]) => walk.write_here(Extent::Worktree, BY),
        [.., start] if args.has(&["-b", "-B"]) => go_to(walk, start, BY),
        [first, paths @ ..] => {
            let revision = match first.text() {
                Some(text) if is_revision(text) => Some(text),
                _ if is_path(first) => {
                    write_from_revision(walk, first, None, BY);
                    None
                }
                // The first operand is a branch or a file.
                text => {
                    walk.note_unknown_write();
                    Some(text.unwrap_or_default())
                }
            };
            paths.iter().for_each(|path| write_from_revision(walk, path, revision, BY));
        }
    }
}

pub(super) fn switch(walk: &mut Walk<'_>, words: &[Word]) {
    let args =
        Args::read(words, &Options::with("cC", &["--create", "--force-create", "--orphan", "--conflict"]));
    let is_orphan = args.has(&["--orphan"]);
    if args.has(&["-c", "-C", "--create", "--force-create"]) {
        walk.note_unknown_write();
    }
    match args.operands.as_slice() {
        [] if !is_orphan => {}
        _ if is_orphan => walk.write_here(Extent::Worktree, "git switch"),
        [.., to] => {
            if args.has(&["-f", "--force", "--discard-changes"]) {
                walk.write_here(Extent::Changes, "git switch");
            }
            go_to(walk, to, "git switch");
        }
        [] => {}
    }
}

pub(super) fn restore(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("s", &["--source", "--conflict", "--pathspec-from-file"]));
    let only_index = args.has(&["-S", "--staged"]) && !args.has(&["-W", "--worktree"]);
    if only_index {
        return;
    }
    if args.has(&["-p", "--patch"]) {
        return walk.note_unknown_write();
    }
    let revision = args.value(&["-s", "--source"]).map(|word| word.text().unwrap_or_default());
    if let Some(file) = args.value(&["--pathspec-from-file"]) {
        return listed(walk, file)
            .iter()
            .for_each(|path| write_from_revision(walk, path, revision, "git restore"));
    }
    args.operands.iter().for_each(|path| write_from_revision(walk, path, revision, "git restore"));
}

pub(super) fn stash(walk: &mut Walk<'_>, words: &[Word]) {
    let verb = match words.first() {
        Some(Word::Text(verb)) if !verb.starts_with('-') => verb.as_str(),
        Some(Word::Text(_)) | None => "",
        Some(Word::Glob(_) | Word::Unknown) => return walk.note_unknown_write(),
    };
    let rest = if verb.is_empty() { words } else { &words[1..] };
    let args = Args::read(rest, &Options::with("m", &["--message", "--pathspec-from-file"]));
    let is_partial = args.has(&["-p", "--patch", "--pathspec-from-file"]);
    match verb {
        "list" | "show" | "drop" | "clear" | "create" | "store" => {}
        "" | "push" | "save" if is_partial => walk.note_unknown_write(),
        "" | "push" if !args.operands.is_empty() => {
            walk.has_stashed = true;
            args.operands.iter().for_each(|path| pathspec(walk, path, "git stash"));
        }
        // The changes that the text itself has stashed come back.
        "pop" | "apply" if walk.has_stashed && args.operands.is_empty() => walk.note_unknown_write(),
        "pop" | "apply" | "branch" => {
            let stash = args
                .operands
                .get(usize::from(verb == "branch"))
                .and_then(|word| word.text())
                .unwrap_or("stash@{0}");
            let stash = if stash.bytes().all(|byte| byte.is_ascii_digit()) {
                format!("stash@{{{stash}}}")
            } else {
                stash.to_owned()
            };
            walk.write_commits(&[&format!("{stash}^"), &stash], "git stash");
        }
        "" | "push" | "save" => {
            walk.has_stashed = true;
            walk.write_here(Extent::Changes, "git stash");
        }
        _ => walk.note_unknown_write(),
    }
}

pub(super) fn reset(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("", &["--pathspec-from-file"]));
    if args.has_other_than(RESET) {
        return walk.note_unknown_write();
    }
    if !args.has(&["--hard", "--merge", "--keep"]) {
        return;
    }
    // These options keep changes that are not staged.
    if args.has(&["--merge", "--keep"]) {
        walk.note_unknown_write();
    } else {
        walk.write_here(Extent::Changes, "git reset");
    }
    // A reset to another commit also writes the files that differ.
    match args.operands.first().map(|commit| commit.text()) {
        None | Some(Some("HEAD" | "@")) => {}
        Some(Some(commit)) if args.has(&["--keep"]) => {
            walk.write_commits(&["HEAD", commit], "git reset --keep")
        }
        Some(Some(commit)) => walk.write_commits(&["HEAD", commit], "git reset"),
        Some(None) => walk.write_here(Extent::Worktree, "git reset"),
    }
}

pub(super) fn clean(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("e", &["--exclude"]));
    if args.has(&["-i", "--interactive"]) {
        return walk.note_unknown_write();
    }
    if args.has(&["-n", "--dry-run"]) {
        return;
    }
    // Git refuses to clean without force, unless its configuration allows it.
    if !args.has(&["-f", "--force"]) && !walk.cleans_unforced {
        return walk.note_unknown_write();
    }
    // The excluded files may be just those that are reserved.
    if args.has(&["-e", "--exclude"]) {
        return walk.note_unknown_write();
    }
    if args.has(&["-x", "-X"]) {
        walk.note_unknown_write();
    }
    if args.operands.is_empty() {
        return walk.write_here(Extent::Tree, "git clean");
    }
    args.operands.iter().for_each(|path| pathspec(walk, path, "git clean"));
}
