//! Finds the files that `git` commands would make where they are told to: patches,
//! bundles, clones, worktrees.

use super::pathspec::pathspec;
use crate::Extent;
use crate::Needs;
use crate::input::Input;
use crate::output;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// Records the writes of the command, if it is one of these; returns whether it is.
pub(super) fn run(walk: &mut Walk<'_>, verb: &str, words: &[Word]) -> bool {
    match verb {
        "checkout-index" => checkout_index(walk, words),
        "submodule" if words.first().and_then(Word::text) == Some("add") => {
            let args = Args::read(
                &words[1..],
                &Options::with("b", &["--branch", "--name", "--reference", "--depth"]),
            );
            args.operands.get(1).into_iter().for_each(|path| walk.write(path, Extent::Tree, "git submodule"));
            walk.note_unknown_write();
        }
        "sparse-checkout" => {
            // Files outside the named directories are removed.
            if let Some("set" | "init" | "reapply") = words.first().and_then(Word::text) {
                walk.write_here(Extent::Worktree, "git sparse-checkout");
            }
            walk.note_unknown_write();
        }
        "filter-branch" | "filter-repo" => walk.write_here(Extent::Worktree, "git filter-branch"),
        "difftool" | "mergetool" | "bisect" | "submodule" | "maintenance" | "hook" | "rerere" => {
            let args = Args::read(words, &Options::with("xt", &["--extcmd", "--tool"]));
            let scripts: Vec<String> =
                args.values(&["-x", "--extcmd"]).filter_map(|word| word.text().map(str::to_owned)).collect();
            scripts.iter().for_each(|script| walk.aside(|walk| walk.script(script)));
            walk.note_unknown_write();
        }
        "read-tree"
            if words
                .iter()
                .any(|word| word.text().is_some_and(|o| o.starts_with('-') && o.contains('u'))) =>
        {
            walk.write_here(Extent::Worktree, "git read-tree");
        }
        "format-patch" => {
            let args = Args::read(words, &Options::with("o", &["--output-directory"]));
            args.values(&["-o", "--output-directory"]).for_each(|directory| {
                walk.write(&directory.append("/0001.patch"), Extent::File, "git format-patch")
            });
            walk.note_unknown_write();
        }
        "bundle" if words.first().and_then(Word::text) == Some("create") => {
            let args = Args::read(&words[1..], &Options::NONE);
            args.operands.first().into_iter().for_each(|file| walk.write(file, Extent::File, "git bundle"));
        }
        "worktree" if words.first().and_then(Word::text) == Some("add") => {
            let args = Args::read(&words[1..], &Options::with("bB", &["--reason"]));
            let file = args.operands.first();
            file.into_iter()
                .for_each(|file| walk.write_if(file, Extent::Tree, "git worktree", Needs::Absent));
            walk.note_unknown_write();
        }
        "clone" => {
            let args =
                Args::read(words, &Options::with("bcojuC", &["--branch", "--depth", "--origin", "--config"]));
            args.operands.get(1).into_iter().for_each(|file| walk.write(file, Extent::Tree, "git clone"));
            walk.note_unknown_write();
        }
        "init" => {
            let args = Args::read(words, &Options::with("b", &["--initial-branch", "--template"]));
            args.operands.first().into_iter().for_each(|file| walk.write(file, Extent::Tree, "git init"));
        }
        "merge-file" => {
            let args = Args::read(words, &Options::with("L", &["--marker-size"]));
            if !args.has(&["-p", "--stdout"]) {
                args.operands
                    .first()
                    .into_iter()
                    .for_each(|file| walk.write(file, Extent::File, "git merge-file"));
            }
        }
        "archive" => archive(walk, words),
        _ => return false,
    }
    true
}

fn archive(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("o", &["--output", "--prefix", "--format"]));
    args.values(&["-o", "--output"]).for_each(|file| walk.write(file, Extent::File, "git archive"));
    if let Some(file) = args.value(&["-o", "--output"]) {
        let operands: Vec<&str> = args.operands.iter().filter_map(|word| word.text()).collect();
        if let Input::Packed(members) = output::archive(&operands) {
            walk.pack(file, members);
        }
    }
}

fn checkout_index(walk: &mut Walk<'_>, words: &[Word]) {
    const BY: &str = "git checkout-index";
    let args = Args::read(words, &Options::with("", &["--prefix", "--stage"]));
    let is_forced = args.has(&["-f", "--force"]);
    if args.has(&["--prefix"]) {
        walk.note_unknown_write();
    }
    if args.has(&["-a", "--all"]) && is_forced {
        walk.write_here(Extent::Changes, BY);
    }
    if args.has(&["--stdin"]) {
        match walk.input.words() {
            Some(paths) => paths.iter().for_each(|path| pathspec(walk, path, BY)),
            None => walk.note_unknown_write(),
        }
    }
    let needs = if is_forced { Needs::Nothing } else { Needs::Absent };
    args.operands.iter().for_each(|path| walk.write_if(path, Extent::Tree, BY, needs));
}
