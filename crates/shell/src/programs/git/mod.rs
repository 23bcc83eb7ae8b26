//! Finds the files that `git` would write: the paths that its commands change, and uncommitted work
//! that they put at stake.

mod commits;
mod creates;
mod pathspec;
mod staging;
mod worktree;

use commits::apply;
use commits::bring_in;
use commits::pull;

use crate::Extent;
use crate::place::Place;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::copies;
use crate::walk::Walk;
use crate::words::Word;

/// Commands that do not change files of the worktree.
#[rustfmt::skip]
const READS: &[&str] = &[
    "annotate", "blame", "branch", "cat-file", "check-attr", "check-ignore", "cherry", "config", "count-objects",
    "describe", "diff", "diff-files", "diff-index", "diff-tree", "fetch", "for-each-ref", "fsck", "gc", "grep",
    "hash-object", "help", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "notes",
    "push", "range-diff", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-branch", "show-ref",
    "status", "symbolic-ref", "tag", "update-index", "update-ref", "var", "verify-commit", "verify-tag", "version",
    "whatchanged",
];

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    if name == "git" {
        git(walk, words);
    }
    name == "git"
}

fn git(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] = &["--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"];
    let (args, rest) = Args::leading(words, &Options::with("Cc", LONG));
    if args.has(&["--git-dir", "--work-tree", "--bare", "--exec-path", "--config-env"])
        || !args.values(&["-c"]).all(|set| set.text().is_some_and(is_harmless_setting))
    {
        walk.note_unknown_write();
    }
    walk.aside(|walk| {
        for directory in args.values(&["-C"]) {
            let place = directory.text().map(|directory| walk.place.enter(directory));
            walk.place = place.unwrap_or_else(Place::unknown);
        }
        if let Some(directory) = args.value(&["--work-tree"]) {
            let place = directory.text().map(|directory| walk.place.enter(directory));
            walk.place = place.unwrap_or_else(Place::unknown);
        }
        let known = walk.aliases.len();
        let force = ["clean.requireForce=false", "clean.requireforce=false"];
        let cleans = args.values(&["-c"]).any(|set| set.text().is_some_and(|set| force.contains(&set)));
        walk.cleans_unforced |= cleans;
        // The setting of an editor is a command.
        let editors = args.values(&["-c"]).filter_map(|set| set.text()?.split_once(".editor="));
        editors.for_each(|(_, script)| walk.aside(|walk| walk.script(script)));
        for set in args.values(&["-c"]).filter_map(|set| set.text()?.split_once('=')) {
            set_alias(walk, set.0, set.1);
        }
        subcommand(walk, rest);
        walk.aliases.truncate(known);
    });
    if let [Word::Text(config), Word::Text(name), Word::Text(value)] = rest
        && config == "config"
    {
        set_alias(walk, name, value);
        if !is_harmless_setting(&format!("{name}={value}")) {
            walk.note_unknown_write();
        }
        walk.cleans_unforced |= name.eq_ignore_ascii_case("clean.requireForce") && value == "false";
    }
}

fn subcommand(walk: &mut Walk<'_>, words: &[Word]) {
    let Some((verb, words)) = words.split_first() else { return };
    let known = walk.count_writes();
    act(walk, verb, words);
    // The caller asks git whether these write files, and git may not answer in time.
    let asks = ["checkout", "clean", "mv", "reset", "restore", "rm", "stash", "switch"];
    if walk.count_writes() > known && verb.text().is_some_and(|verb| asks.contains(&verb)) {
        walk.note_unknown_write();
    }
}

fn act(walk: &mut Walk<'_>, verb: &Word, words: &[Word]) {
    match verb.text() {
        Some("add" | "stage") => staging::add(walk, words),
        Some(verb @ ("merge" | "rebase" | "cherry-pick" | "revert")) => bring_in(walk, verb, words),
        Some("pull") => pull(walk, words),
        Some(verb @ ("apply" | "am")) => apply(walk, verb, words),
        Some("checkout") => worktree::checkout(walk, words),
        Some("clean") => worktree::clean(walk, words),
        Some("commit") => staging::commit(walk, words),
        Some("mv") if has_option(words, &["-n", "--dry-run"]) => {}
        Some("mv") => copies::move_files(walk, "git mv", words),
        Some("branch") => commits::branch(walk, words),
        Some("fetch") => commits::fetch(walk, words),
        Some("reset") => worktree::reset(walk, words),
        Some("restore") => worktree::restore(walk, words),
        Some("rm") => staging::remove(walk, words),
        Some("stash") => worktree::stash(walk, words),
        Some("switch") => worktree::switch(walk, words),
        Some(verb) if creates::run(walk, verb, words) => {}
        Some(verb) if READS.contains(&verb) => read_only(walk, verb, words),
        Some(verb) => alias(walk, verb, words),
        None => walk.note_unknown_write(),
    }
}

/// Whether a setting surely makes git run no other program.
fn is_harmless_setting(set: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "user.",
        "color.",
        "advice.",
        "alias.",
        "init.",
        "commit.gpgsign",
        "tag.gpgsign",
        "core.quotepath",
        "core.autocrlf",
        "core.filemode",
        "core.ignorecase",
        "core.abbrev",
        "core.pager=cat",
        "core.pager=",
        "pull.",
        "push.",
        "fetch.",
        "merge.conflictstyle",
        "merge.ff",
        "rebase.",
        "log.",
        "diff.renames",
        "diff.noprefix",
        "diff.context",
        "status.",
        "branch.",
        "rerere.",
        "gc.",
        "http.",
        "protocol.",
        "safe.",
        "remote.",
        "clean.",
    ];
    let set = set.to_ascii_lowercase();
    HARMLESS.iter().any(|start| set.starts_with(start))
}

pub(super) fn has_option(words: &[Word], options: &[&str]) -> bool {
    words.iter().filter_map(Word::text).any(|word| options.contains(&word))
}

fn set_alias(walk: &mut Walk<'_>, name: &str, value: &str) {
    if let Some(name) = name.strip_prefix("alias.") {
        walk.aliases.push((name.to_owned(), value.to_owned()));
    }
}

/// Follows an alias: git does not know the command, but the text or git's configuration may define it.
fn alias(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    walk.note_unknown_write();
    let set = walk.aliases.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let Some(value) = set.or_else(|| walk.here.alias?(name)) else { return };
    walk.deeper(|walk| match value.strip_prefix('!') {
        Some(script) => {
            let outer = walk.variables.enter(words.to_vec());
            walk.aside(|walk| walk.script(script));
            walk.variables.leave(outer);
        }
        None => {
            let alias = value.split_whitespace().map(|word| Word::Text(word.to_owned()));
            subcommand(walk, &alias.chain(words.iter().cloned()).collect::<Vec<_>>());
        }
    });
}

fn read_only(walk: &mut Walk<'_>, verb: &str, words: &[Word]) {
    let args = Args::read(words, &Options::with("", &["--output"]));
    let by = format!("git {verb}");
    args.values(&["--output"]).for_each(|file| walk.write(file, Extent::File, &by));
    // The file may not be the configuration of the repository.
    if verb == "config" && args.has(&["-f", "--file"]) {
        walk.note_unknown_write();
    }
}

/// Finds the command of an alias in the text of a git configuration file.
pub fn alias_in(config: &str, name: &str) -> Option<String> {
    let mut is_alias = false;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_alias = section.trim_end_matches(']').trim().eq_ignore_ascii_case("alias");
        } else if is_alias
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case(name)
        {
            return Some(value.trim().trim_matches('"').replace("\\\"", "\""));
        }
    }
    None
}
