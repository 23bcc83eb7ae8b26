//! Finds the words of a git command by which git runs other programs or works elsewhere: options
//! before the verb, the verb, and the words after it.

use super::Detour;
use super::moved;
use super::place;
use super::wrong;
use crate::words::Word;

/// Verbs that run commands given to them, or change what git runs later.
const GIT_VERBS: &[&str] = &[
    "citool",
    "cvsimport",
    "cvsserver",
    "daemon",
    "difftool",
    "fast-import",
    "filter-branch",
    "for-each-repo",
    "gui",
    "help",
    "hook",
    "http-backend",
    "imap-send",
    "instaweb",
    "maintenance",
    "mergetool",
    "p4",
    "quiltimport",
    "receive-pack",
    "send-email",
    "send-pack",
    "shell",
    "svn",
    "upload-archive",
    "upload-pack",
    "fetch-pack",
];

/// Long options that make git run a given command, after any verb; `output` writes a file.
const GIT_LONG: &[&str] = &[
    "exec",
    "upload-pack",
    "receive-pack",
    "extcmd",
    "open-files-in-pager",
    "ext-diff",
    "textconv",
    "template",
    "output",
    "config",
    "to-command",
    "prefix",
    "export-marks",
    "file",
    "edit",
    "global",
    "system",
    "unsafe-paths",
];

/// Returns the words of a git command that are detours.
pub(super) fn of(args: &[Word]) -> Vec<Detour> {
    let mut found = Vec::new();
    let mut words = args.iter().enumerate();
    let verb = loop {
        let Some((at, word)) = words.next() else { return found };
        let Some(text) = word.shape() else { return vec![wrong(at)] };
        let value = text.split_once('=').map(|(_, value)| value);
        match text {
            "-C" => match words.next().and_then(|(_, word)| word.shape()) {
                Some(to) => found.push(place(at, to)),
                None => found.push(wrong(at)),
            },
            _ if text.starts_with("--git-dir") || text.starts_with("--work-tree") => {
                let to = value.or_else(|| words.next().and_then(|(_, word)| word.shape()));
                found.push(to.map_or_else(|| wrong(at), |to| place(at, to)));
            }
            "--no-pager" | "--version" | "--no-optional-locks" | "--literal-pathspecs" | "-P" => {}
            // `-c`, `--config-env`, `--exec-path`, and unknown options.
            _ if text.starts_with('-') => {
                found.push(wrong(at));
                return found;
            }
            verb => {
                let is_inner =
                    verb.contains("--") || verb.starts_with("remote-") || verb.starts_with("credential");
                if GIT_VERBS.contains(&verb) || is_inner {
                    found.push(wrong(at));
                }
                break verb;
            }
        }
    };
    let moved_by = found.first().map(|first| first.at);
    let rest: Vec<(usize, &Word)> = words.collect();
    let is_reading = verb == "config" && reads_config(&rest);
    let mut are_operands = false;
    for (at, word) in &rest {
        let Some(text) = word.shape() else {
            found.push(wrong(*at));
            continue;
        };
        are_operands |= text == "--";
        let is_told = match (verb, text) {
            ("bisect", "run") | ("submodule", "foreach") => true,
            (_, text) if text.starts_with("ext::") => true,
            ("config", _) => !is_reading,
            _ if are_operands || !text.starts_with('-') => false,
            (_, text) if text.starts_with("--") => {
                let name = text[2..].split('=').next().unwrap_or_default();
                name.len() > 1 && GIT_LONG.iter().any(|long| long.starts_with(name))
            }
            ("rebase", letters) => letters.contains('x'),
            ("grep", letters) => letters.contains('O'),
            ("clone", letters) => letters.contains(['c', 'u']),
            ("archive" | "format-patch", letters) => letters.contains('o'),
            _ => false,
        };
        if is_told {
            found.push(wrong(*at));
        } else if matches!(
            verb,
            "clone" | "init" | "worktree" | "bundle" | "mv" | "apply" | "am" | "interpret-trailers"
        ) {
            found.push(place(*at, text.split_once('=').map_or(text, |(_, value)| value)));
        }
    }
    moved(args, found, moved_by)
}

/// Whether `git config` only shows settings.
fn reads_config(rest: &[(usize, &Word)]) -> bool {
    let words: Vec<&str> = rest.iter().map(|(_, word)| word.shape().unwrap_or("")).collect();
    let reads = |word: &&str| {
        matches!(
            *word,
            "get" | "list" | "-l" | "--list" | "--get" | "--get-all" | "--get-regexp" | "--show-origin"
        )
    };
    match words[..] {
        [one] => !one.starts_with('-') && one.contains('.') || reads(&one),
        [first, key] => reads(&first) && !key.starts_with('-'),
        _ => false,
    }
}
