//! Finds the files at stake when `git add`, `commit` and `rm` put work into a commit, or take files out.

use super::pathspec::pathspec;
use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn add(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("", &["--chmod", "--pathspec-from-file"]));
    if args.has(&["-n", "--dry-run"]) {
        return;
    }
    if args.has(&["-p", "--patch", "-i", "--interactive", "-e", "--edit", "--pathspec-from-file"]) {
        return walk.note_unknown_write();
    }
    let is_all = args.has(&["-A", "--all", "-u", "--update", "--no-ignore-removal"]);
    if is_all && args.operands.is_empty() {
        return walk.write_here(Extent::Changes, "git add");
    }
    for path in &args.operands {
        match path.shape() {
            Some(":/") => walk.write_here(Extent::Changes, "git add"),
            Some("." | "./" | "*") => walk.write_here(Extent::Tree, "git add"),
            _ => pathspec(walk, path, "git add"),
        }
    }
}

pub(super) fn commit(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] = &[
        "--message",
        "--file",
        "--author",
        "--date",
        "--fixup",
        "--squash",
        "--trailer",
        "--cleanup",
        "--template",
        "--reuse-message",
        "--reedit-message",
        "--pathspec-from-file",
    ];
    let args = Args::read(words, &Options { values: "mFCct", suffixes: "Su", long: LONG });
    if args.has(&["--dry-run", "--short", "--porcelain"]) {
        return;
    }
    if args.has(&["-p", "--patch", "--interactive", "--pathspec-from-file"]) {
        return walk.note_unknown_write();
    }
    if args.has(&["-a", "--all"]) {
        walk.write_here(Extent::Changes, "git commit");
    }
    args.operands.iter().for_each(|path| pathspec(walk, path, "git commit"));
    // Hooks of the repository may write more.
    walk.note_unknown_write();
}

pub(super) fn remove(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("", &["--pathspec-from-file"]));
    if args.has(&["--cached", "-n", "--dry-run"]) {
        return;
    }
    if args.has(&["--pathspec-from-file"]) {
        walk.note_unknown_write();
    }
    let by = if args.has(&["-f", "--force"]) { "git rm -f" } else { "git rm" };
    args.operands.iter().for_each(|path| pathspec(walk, path, by));
}
