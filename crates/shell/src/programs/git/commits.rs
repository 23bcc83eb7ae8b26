//! Finds the files that `git` commands would write which bring in other commits or patches:
//! `merge`, `rebase`, `pull`, `apply`.

use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::patches;
use crate::walk::Walk;
use crate::words::Word;

/// Checks out another commit: the files that differ from the current one are written.
pub(super) fn go_to(walk: &mut Walk<'_>, to: &Word, by: &str) {
    let to = &match to.text().and_then(|name| walk.refs.get(name)) {
        Some(commit) => Word::Text(commit.clone()),
        None => to.clone(),
    };
    // An earlier command of the text may have checked out another commit.
    let from = walk.head.clone().unwrap_or("HEAD".into());
    match to.text() {
        Some("-") if walk.head.is_some() => {
            walk.write_commits(&[&from, "HEAD"], by);
            walk.head = None;
        }
        Some("-") => walk.write_commits(&["HEAD", "@{-1}"], by),
        Some("HEAD" | "@") => walk.note_unknown_write(),
        Some(commit) => {
            walk.write_commits(&[&from, commit], by);
            walk.head = Some(commit.to_owned());
        }
        None => walk.note_unknown_write(),
    }
}

/// Handles commands that bring in commits: the files that the commits change are written.
pub(super) fn bring_in(walk: &mut Walk<'_>, verb: &str, words: &[Word]) {
    let is_stashing = words.iter().any(|word| matches!(word.text(), Some("--autostash")));
    let by = format!("git {verb}{}", if is_stashing { " --autostash" } else { "" });
    let (letters, long): (_, &[&str]) = match verb {
        "merge" => ("mFsXS", &["--strategy", "--strategy-option", "--message", "--file", "--into-name"]),
        "rebase" => ("sXx", &["--onto", "--strategy", "--strategy-option", "--exec"]),
        _ => ("mXsS", &["--mainline", "--strategy", "--strategy-option"]),
    };
    let args = Args::read(words, &Options { values: letters, suffixes: "", long });
    if args.has(&["--abort", "--quit", "--skip", "--continue", "--edit-todo", "--stdin"]) {
        return walk.note_unknown_write();
    }
    // This strategy keeps all files as they are.
    if verb == "merge" && args.value(&["-s", "--strategy"]).and_then(Word::text) == Some("ours") {
        return;
    }
    if args.has(&["--show-current-patch", "-h", "--help"]) {
        return;
    }
    let Some(commits) = args.operands.iter().map(|word| word.text()).collect::<Option<Vec<&str>>>() else {
        return walk.note_unknown_write();
    };
    match verb {
        "merge" if commits.is_empty() => walk.write_commits(&["HEAD...@{upstream}"], &by),
        "merge" => commits.iter().for_each(|commit| walk.write_commits(&[&format!("HEAD...{commit}")], &by)),
        "rebase" => {
            let onto = args.value(&["--onto"]).and_then(Word::text);
            let onto = onto.or(commits.first().copied()).unwrap_or("@{upstream}");
            walk.write_commits(&["HEAD", onto], &by);
            walk.write_commits(&[&format!("{onto}...HEAD")], &by);
        }
        _ if commits.iter().any(|commit| commit.contains("..")) => {
            commits.iter().for_each(|commit| walk.write_commits(&[commit], &by));
        }
        _ => commits.iter().for_each(|commit| walk.write_commits(&[&format!("{commit}^"), commit], &by)),
    }
    // The given commands, or the person, may do more.
    if args.has(&["-x", "--exec", "-i", "--interactive"]) {
        walk.note_unknown_write();
    }
}

/// Records the commit of a new branch.
pub(super) fn branch(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("u", &["--set-upstream-to", "--format", "--sort"]));
    if let [Word::Text(name), Word::Text(at)] = args.operands.as_slice()
        && !args.has(&["-d", "-D", "-m", "-M", "--delete", "--move"])
    {
        walk.refs.insert(name.clone(), at.clone());
    }
}

/// Records a branch that is fetched, with its commit when it was last fetched.
pub(super) fn fetch(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("jo", &["--depth", "--upload-pack"]));
    if let [Word::Text(remote), Word::Text(range)] = args.operands.as_slice()
        && let Some((from, to)) = range.split_once(':')
    {
        walk.refs.insert(to.to_owned(), format!("{remote}/{}", from.trim_start_matches('+')));
    }
    if args.has(&["--upload-pack"]) {
        walk.note_unknown_write();
    }
}

pub(super) fn apply(walk: &mut Walk<'_>, verb: &str, words: &[Word]) {
    let long = &["--directory", "--include", "--exclude", "--patch-format", "--exec"];
    let args = Args::read(words, &Options { values: "pC", suffixes: "", long });
    let is_look = args.has(&["--check", "--stat", "--numstat", "--summary"]) && !args.has(&["--apply"]);
    if is_look || args.has(&["--cached", "--abort", "--quit"]) && !args.has(&["--index"]) {
        return;
    }
    let files: Vec<Option<String>> = match args.operands.as_slice() {
        [] => vec![walk.input.text().map(str::to_owned)],
        [Word::Text(dash)] if dash == "-" => vec![walk.input.text().map(str::to_owned)],
        files => {
            let files = walk.names().all_expanded(files.iter().map(|file| (*file).clone()).collect());
            files.iter().map(|file| file.text().and_then(|path| walk.file(path))).collect()
        }
    };
    let strip = args.value(&["-p"]).and_then(Word::text).and_then(|count| count.parse().ok()).unwrap_or(1);
    let by = format!("git {verb}");
    const LENIENT: &[&str] = &["--3way", "-3", "--reject", "--unidiff-zero", "-C", "--recount"];
    let is_strict = verb == "apply" && !args.has(LENIENT) && !args.has(&["--ignore-whitespace"]);
    if args.operands.is_empty() && patches::from_git(walk, &by) {
        return;
    }
    for text in files {
        match text {
            Some(text) => {
                let only = |names: &[&str]| -> Vec<String> {
                    args.values(names).filter_map(|word| word.shape().map(str::to_owned)).collect()
                };
                let (with, without) = (only(&["--include"]), only(&["--exclude"]));
                // The paths in a patch are relative to the top of the worktree.
                let top = Word::Text(top(walk).to_owned());
                walk.within(&top, |walk| {
                    let here = Word::Text(".".into());
                    walk.within(args.value(&["--directory"]).unwrap_or(&here), |walk| {
                        let is_reverse = args.has(&["-R", "--reverse"]);
                        if is_strict && patches::fails(walk, &text, strip, is_reverse) {
                            return walk.note_unknown_write();
                        }
                        patches::write_some(walk, &text, Some(strip), &by, &with, &without);
                    });
                });
            }
            None => walk.note_unknown_write(),
        }
    }
}

/// Returns the top of the current worktree. In another repository it is not known,
/// so the current directory is taken.
fn top<'a>(walk: &Walk<'a>) -> &'a str {
    let is_in = |directory: &str, top: &str| {
        directory.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_elsewhere = walk.place.path(".").is_some_and(|here| {
        here.starts_with('/') && walk.here.worktree.is_none_or(|top| !is_in(&here, top))
            || walk.has_cloned(|made| is_in(&here, made))
    });
    walk.here.worktree.filter(|_| !is_elsewhere).unwrap_or(".")
}

/// Handles `pull`: what it will fetch is not known, but the commits fetched before are.
pub(super) fn pull(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options { values: "sXj", suffixes: "", long: &["--strategy", "--depth"] });
    if args.has(&["--dry-run"]) {
        return;
    }
    match args.operands.as_slice() {
        [] | [_] => {
            let is_rebase = args.has(&["-r", "--rebase"]) && !args.has(&["--autostash"]);
            walk.write_commits(&["HEAD...@{upstream}"], if is_rebase { "git rebase" } else { "git pull" });
        }
        [remote, branches @ ..] => {
            for branch in branches {
                match (remote.text(), branch.text()) {
                    (Some("."), Some(branch)) => {
                        walk.write_commits(&[&format!("HEAD...{branch}")], "git pull")
                    }
                    (Some(remote), Some(branch)) => {
                        walk.write_commits(&[&format!("HEAD...{remote}/{branch}")], "git pull");
                    }
                    _ => {}
                }
            }
        }
    }
    walk.note_unknown_write();
}
