//! What `git` would write: the paths its commands change, and those that put
//! uncommitted work at stake.

mod commits;
mod made;

use commits::apply;
use commits::bring_in;
use commits::go_to;
use commits::pull;

use crate::Extent;
use crate::place::Place;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::copies;
use crate::walk::Walk;
use crate::words::Word;

/// Commands that leave the files of the worktree alone.
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
    let runs_more = |set: &Word| set.text().is_some_and(|set| set.starts_with("core.hooksPath"));
    if args.has(&["--git-dir", "--work-tree", "--bare"])
        || args.values(&["-c"]).any(runs_more)
        || args.values(&["-c"]).any(|set| set.text().is_none())
    {
        walk.doubt();
    }
    walk.aside(|walk| {
        for directory in args.values(&["-C"]) {
            let place = directory.text().map(|directory| walk.place.enter(directory));
            walk.place = place.unwrap_or_else(Place::unknown);
        }
        let known = walk.aliases.len();
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
    }
}

fn subcommand(walk: &mut Walk<'_>, words: &[Word]) {
    let Some((verb, words)) = words.split_first() else { return };
    match verb.text() {
        Some("add" | "stage") => add(walk, words),
        Some(verb @ ("merge" | "rebase" | "cherry-pick" | "revert")) => bring_in(walk, verb, words),
        Some("pull") => pull(walk, words),
        Some(verb @ ("apply" | "am")) => apply(walk, verb, words),
        Some("checkout") => checkout(walk, words),
        Some("clean") => clean(walk, words),
        Some("commit") => commit(walk, words),
        Some("mv") => copies::move_files(walk, "git mv", words),
        Some("reset") => reset(walk, words),
        Some("restore") => restore(walk, words),
        Some("rm") => remove(walk, words),
        Some("stash") => stash(walk, words),
        Some("switch") => switch(walk, words),
        Some(verb) if made::run(walk, verb, words) => {}
        Some(verb) if READS.contains(&verb) => read_only(walk, verb, words),
        Some(verb) => alias(walk, verb, words),
        None => walk.doubt(),
    }
}

fn set_alias(walk: &mut Walk<'_>, name: &str, value: &str) {
    if let Some(name) = name.strip_prefix("alias.") {
        walk.aliases.push((name.to_owned(), value.to_owned()));
    }
}

/// A command that git does not know itself may be an alias; of the text, or of its
/// configuration.
fn alias(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    walk.doubt();
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
    // The configuration of another file than the repository's own.
    if verb == "config" && args.has(&["-f", "--file"]) {
        walk.doubt();
    }
}

fn add(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("", &["--chmod", "--pathspec-from-file"]));
    if args.has(&["-n", "--dry-run"]) {
        return;
    }
    if args.has(&["-p", "--patch", "-i", "--interactive", "-e", "--edit", "--pathspec-from-file"]) {
        return walk.doubt();
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

fn commit(walk: &mut Walk<'_>, words: &[Word]) {
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
        return walk.doubt();
    }
    if args.has(&["-a", "--all"]) {
        walk.write_here(Extent::Changes, "git commit");
    }
    args.operands.iter().for_each(|path| pathspec(walk, path, "git commit"));
}

fn checkout(walk: &mut Walk<'_>, words: &[Word]) {
    const BY: &str = "git checkout";
    let args = Args::read(words, &Options::with("bB", &["--orphan", "--conflict", "--pathspec-from-file"]));
    if args.has(&["-p", "--patch", "--pathspec-from-file"]) {
        return walk.doubt();
    }
    if let Some(count) = args.dashes
        && args.operands.len() > count
    {
        return args.operands[count..].iter().for_each(|path| pathspec(walk, path, BY));
    }
    match args.operands.as_slice() {
        [] if args.has(&["-f", "--force"]) => walk.write_here(Extent::Changes, BY),
        [] => {}
        [Word::Unknown] => walk.doubt(),
        [path] if is_path(path) && args.dashes.is_none() => pathspec(walk, path, BY),
        [to] => {
            if args.has(&["-f", "--force"]) {
                walk.write_here(Extent::Changes, BY);
            }
            go_to(walk, to, BY);
        }
        // The start of a new branch.
        _ if args.has(&["--orphan"]) => walk.write_here(Extent::Worktree, BY),
        [.., start] if args.has(&["-b", "-B"]) => go_to(walk, start, BY),
        [first, paths @ ..] => {
            match first.text() {
                Some(text) if is_revision(text) => {}
                _ if is_path(first) => pathspec(walk, first, BY),
                _ => walk.doubt(),
            }
            paths.iter().for_each(|path| pathspec(walk, path, BY));
        }
    }
}

/// How files end, and branches do not.
const ENDINGS: &[&str] = &[
    "c", "cc", "cfg", "cjs", "cpp", "cs", "css", "go", "h", "hpp", "html", "ini", "java", "js", "json",
    "jsx", "kt", "lock", "md", "mjs", "php", "proto", "py", "rb", "rs", "scss", "sh", "sql", "svelte",
    "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
];

/// What cannot be the name of a branch, or hardly.
fn is_path(word: &Word) -> bool {
    match word {
        Word::Text(text) => {
            matches!(text.as_str(), "." | "..")
                || text.starts_with(['/', '.', ':'])
                || text.ends_with('/')
                || text.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
        }
        Word::Glob(_) => true,
        Word::Unknown => false,
    }
}

/// What is hardly the name of a file.
fn is_revision(text: &str) -> bool {
    matches!(text, "HEAD" | "@" | "main" | "master" | "ORIG_HEAD" | "MERGE_HEAD" | "FETCH_HEAD")
        || text.contains(['~', '^'])
        || text.contains("@{")
        || text.starts_with("origin/")
        || (text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn switch(walk: &mut Walk<'_>, words: &[Word]) {
    let args =
        Args::read(words, &Options::with("cC", &["--create", "--force-create", "--orphan", "--conflict"]));
    let is_orphan = args.has(&["--orphan"]);
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

fn restore(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("s", &["--source", "--conflict", "--pathspec-from-file"]));
    let only_index = args.has(&["-S", "--staged"]) && !args.has(&["-W", "--worktree"]);
    if only_index {
        return;
    }
    if args.has(&["-p", "--patch", "--pathspec-from-file"]) {
        return walk.doubt();
    }
    args.operands.iter().for_each(|path| pathspec(walk, path, "git restore"));
}

fn stash(walk: &mut Walk<'_>, words: &[Word]) {
    let verb = match words.first() {
        Some(Word::Text(verb)) if !verb.starts_with('-') => verb.as_str(),
        Some(Word::Text(_)) | None => "",
        Some(Word::Glob(_) | Word::Unknown) => return walk.doubt(),
    };
    let rest = if verb.is_empty() { words } else { &words[1..] };
    let args = Args::read(rest, &Options::with("m", &["--message", "--pathspec-from-file"]));
    let is_partial = args.has(&["-p", "--patch", "--pathspec-from-file"]);
    match verb {
        "list" | "show" | "drop" | "clear" | "create" | "store" => {}
        "" | "push" | "save" if is_partial => walk.doubt(),
        "" | "push" if !args.operands.is_empty() => {
            args.operands.iter().for_each(|path| pathspec(walk, path, "git stash"));
        }
        "pop" | "apply" => {
            let stash = args.operands.first().and_then(|word| word.text()).unwrap_or("stash@{0}");
            let stash = if stash.bytes().all(|byte| byte.is_ascii_digit()) {
                format!("stash@{{{stash}}}")
            } else {
                stash.to_owned()
            };
            walk.write_commits(&[&format!("{stash}^"), &stash], "git stash");
        }
        "" | "push" | "save" => walk.write_here(Extent::Changes, "git stash"),
        _ => walk.doubt(),
    }
}

fn reset(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("", &["--pathspec-from-file"]));
    if !args.has(&["--hard", "--merge", "--keep"]) {
        return;
    }
    walk.write_here(Extent::Changes, "git reset");
    // Another commit brings other files.
    match args.operands.first().map(|commit| commit.text()) {
        None | Some(Some("HEAD" | "@")) => {}
        Some(Some(commit)) => walk.write_commits(&["HEAD", commit], "git reset"),
        Some(None) => walk.write_here(Extent::Worktree, "git reset"),
    }
}

fn clean(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("e", &["--exclude"]));
    if args.has(&["-i", "--interactive"]) {
        return walk.doubt();
    }
    if args.has(&["-n", "--dry-run"]) {
        return;
    }
    // Git refuses to clean unless it is told to, here or in its configuration.
    if !args.has(&["-f", "--force"]) {
        return walk.doubt();
    }
    if args.operands.is_empty() {
        return walk.write_here(Extent::Tree, "git clean");
    }
    args.operands.iter().for_each(|path| pathspec(walk, path, "git clean"));
}

fn remove(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("", &["--pathspec-from-file"]));
    if args.has(&["--cached", "-n", "--dry-run"]) {
        return;
    }
    if args.has(&["--pathspec-from-file"]) {
        walk.doubt();
    }
    args.operands.iter().for_each(|path| pathspec(walk, path, "git rm"));
}

/// A path as git takes it. It has patterns and magic of its own, which reach
/// further than the shell's.
fn pathspec(walk: &mut Walk<'_>, path: &Word, by: &str) {
    match path.text() {
        Some(":/" | ":") => walk.write_here(Extent::Changes, by),
        Some(text) if text.starts_with(":!") || text.starts_with(":^") || text.starts_with(":(exclude") => {
            walk.doubt()
        }
        Some(text) => {
            let text = text.strip_prefix(":(glob)").or_else(|| text.strip_prefix(":(top)")).unwrap_or(text);
            match text.contains(['*', '?', '[']) {
                _ if text.starts_with(':') => walk.doubt(),
                false => walk.write(path, Extent::Tree, by),
                // A star of git's reaches across directories.
                true => {
                    let (directory, name) = text.rsplit_once('/').unwrap_or(("", text));
                    let directory =
                        if directory.is_empty() { String::new() } else { format!("{directory}/") };
                    walk.write(&Word::Glob(format!("{directory}**/{name}")), Extent::File, by);
                }
            }
        }
        _ => walk.write(path, Extent::Tree, by),
    }
}

/// What an alias stands for in a file of git's configuration.
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
