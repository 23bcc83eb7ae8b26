//! What `git` commands would write that make files where they are told to: patches,
//! bundles, clones, worktrees.

use super::pathspec;
use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// Whether the command is one of these; then what it writes is told.
pub(super) fn run(walk: &mut Walk<'_>, verb: &str, words: &[Word]) -> bool {
    match verb {
        "checkout-index" => {
            let args = Args::read(words, &Options::with("", &["--prefix", "--stage"]));
            if args.has(&["-a", "--all"]) {
                walk.write_here(Extent::Changes, "git checkout-index");
            }
            args.operands.iter().for_each(|path| pathspec(walk, path, "git checkout-index"));
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
            walk.doubt();
        }
        "bundle" if words.first().and_then(Word::text) == Some("create") => {
            let args = Args::read(&words[1..], &Options::NONE);
            args.operands.first().into_iter().for_each(|file| walk.write(file, Extent::File, "git bundle"));
        }
        "worktree" if words.first().and_then(Word::text) == Some("add") => {
            let args = Args::read(&words[1..], &Options::with("bB", &["--reason"]));
            args.operands.first().into_iter().for_each(|file| walk.write(file, Extent::Tree, "git worktree"));
        }
        "clone" => {
            let args =
                Args::read(words, &Options::with("bcojuC", &["--branch", "--depth", "--origin", "--config"]));
            args.operands.get(1).into_iter().for_each(|file| walk.write(file, Extent::Tree, "git clone"));
            walk.doubt();
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
        "archive" => {
            let args = Args::read(words, &Options::with("o", &["--output", "--prefix", "--format"]));
            args.values(&["-o", "--output"]).for_each(|file| walk.write(file, Extent::File, "git archive"));
        }
        _ => return false,
    }
    true
}
