//! Finds the files that known programs would write, by their arguments: calls the file of this
//! folder that describes the program.
//!
//! Each file answers one question about its programs: which of the operands are
//! written? **A program that nobody described may write anything**, and so may one
//! whose options are not known from the text.

mod archives;
pub(crate) mod args;
mod builtins;
mod copies;
mod editors;
mod edits;
mod file_tools;
mod formatters;
mod git;
mod harmless;
mod inline;
mod make;
mod outputs;
mod packages;
mod patches;
mod reads;
mod scripts;
mod sed;
mod wrappers;

use crate::aliases;
use crate::outside;
use crate::walk::Walk;
use crate::words::Word;

/// Walks a command: a function of the text, or a program.
pub(crate) fn call(walk: &mut Walk<'_>, words: &[Word]) {
    if let Some((Word::Text(name), args)) = words.split_first() {
        walk.note_outside(outside::unconfined_reason(name, args));
    }
    let is_function = words
        .split_first()
        .is_some_and(|(name, args)| name.text().is_some_and(|name| walk.call_function(name, args)));
    if !is_function {
        run(walk, words);
    }
}

/// Walks a program with its arguments. Programs that run programs
/// (`xargs xargs …`) are followed up to a limit.
pub(crate) fn run(walk: &mut Walk<'_>, words: &[Word]) {
    if !walk.may_step() || walk.programs >= MOST_NESTED {
        return walk.note_unknown_write();
    }
    walk.programs += 1;
    if let Some((program, args)) = words.split_first() {
        run_one(walk, program, args);
    }
    walk.programs -= 1;
}

/// Most programs that may run one another.
const MOST_NESTED: usize = 24;

fn run_one(walk: &mut Walk<'_>, program: &Word, args: &[Word]) {
    let Some(name) = program.text().and_then(known_name) else {
        return match program.text() {
            Some(path) => scripts::file(walk, path, args),
            None => walk.note_unknown_write(),
        };
    };
    const CHANGES_WORDS: &[&str] = &["nocaseglob", "extglob", "dotglob", "expand_aliases", "globstar"];
    let changes = |word: &Word| word.text().is_some_and(|word| CHANGES_WORDS.contains(&word));
    let loads = matches!(name, "enable" | "history" | "bind" | "hash")
        && args.iter().any(|word| word.text() != Some("-r"));
    if name == "shopt" && args.iter().any(changes) || loads {
        walk.note_unknown_write();
    }
    walk.note_outside(outside::unconfined_reason(name, args));
    let ends_round = matches!(name, "continue" | "break") && walk.loop_conditions == Some(walk.conditions);
    if matches!(name, "exit" | "return") && walk.conditions == 0 || ends_round {
        walk.has_ended = true;
        return;
    }
    // Only the state of the machine decides whether anything after this runs.
    if name == "exit" && walk.unsure > 0 {
        walk.may_have_ended = true;
    }
    if may_be_missing(name) && walk.names().is_installed(name) == Some(false) {
        return walk.note_unknown_write();
    }
    runs_more(walk, args);
    builtins::assign(walk, name, args);
    reads::note(walk, name, args);
    let is_known = builtins::change_place(walk, name, args)
        || inline::run(walk, name, args)
        || packages::managed(walk, name, args)
        || wrappers::run(walk, name, args)
        || scripts::run(walk, name, args)
        || git::run(walk, name, args)
        || edits::run(walk, name, args)
        || editors::run(walk, name, args)
        || copies::run(walk, name, args)
        || file_tools::run(walk, name, args)
        || outputs::run(walk, name, args)
        || archives::run(walk, name, args)
        || packages::run(walk, name, args)
        || make::run(walk, name, args)
        || formatters::run(walk, name, args)
        || harmless::run(name);
    if !is_known {
        unknown(walk, name, args);
    }
    // The program replaces the shell, so nothing after it runs.
    if name == "exec"
        && walk.conditions == 0
        && args.iter().any(|word| word.text().is_some_and(|word| !word.starts_with('-')))
    {
        walk.has_ended = true;
    }
}

/// Handles a program that nobody described: it may be an alias of the person's;
/// otherwise it may write anything.
fn unknown(walk: &mut Walk<'_>, name: &str, args: &[Word]) {
    let alias = walk.here.shell_alias.and_then(|alias| aliases::words(&alias(name)?));
    match alias {
        Some(words) if words.first().and_then(Word::text).is_some_and(|first| first != name) => {
            run(walk, &[&words, args].concat());
        }
        _ => walk.note_unknown_write(),
    }
}

/// Whether a program is missing on many machines. If it is not found it writes nothing, unless the
/// shell looks for it elsewhere.
fn may_be_missing(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "rsync",
        "rename",
        "prename",
        "file-rename",
        "perl-rename",
        "sponge",
        "dos2unix",
        "unix2dos",
        "mac2unix",
        "unix2mac",
        "fromdos",
        "todos",
        "sd",
        "yq",
    ];
    OTHERS.contains(&name) || formatters::is_one(name)
}

/// Options of known programs that make them run another program.
const RUNS: &[&str] = &[
    "--checkpoint-action",
    "--to-command",
    "--use-compress-program",
    "--compress-program",
    "--info-script",
    "--new-volume-script",
    "--rsh",
    "--rsh-command",
    "--rsync-path",
    "--pre",
    "--pager",
    "--editor",
    "--extcmd",
    "--open-files-in-pager",
    "--upload-pack",
    "--receive-pack",
    "--ext-diff",
    "--preprocessor",
    "--hook",
    "--unzip-command",
];

/// Follows the commands that options make a program run.
fn runs_more(walk: &mut Walk<'_>, args: &[Word]) {
    for (at, word) in args.iter().enumerate() {
        let Some(shape) = word.shape().filter(|shape| shape.starts_with("--")) else { continue };
        let (name, value) = shape.split_once('=').unwrap_or((shape, ""));
        if !RUNS.contains(&name) {
            continue;
        }
        walk.note_unknown_write();
        let value =
            if value.is_empty() { args.get(at + 1).and_then(Word::text).unwrap_or_default() } else { value };
        let script = value.strip_prefix("exec=").unwrap_or(value).to_owned();
        walk.aside(|walk| walk.script(&script));
    }
}

pub(crate) use builtins::names_read;
pub use git::alias_in as git_alias;
pub(crate) use inline::exit_code;
pub(crate) use scripts::found;

/// Whether an assignment makes programs do more than their arguments say.
pub(crate) fn has_hidden_effect(assignment: &str) -> bool {
    const TELLING: &[&str] = &[
        "GIT_EDITOR=",
        "GIT_SEQUENCE_EDITOR=",
        "EDITOR=",
        "VISUAL=",
        "TMPDIR=",
        "BASH_ENV=",
        "ENV=",
        "PERL5OPT=",
        "RUBYOPT=",
        "PYTHONSTARTUP=",
        "PYTHONPATH=",
        "NODE_OPTIONS=",
        "LD_PRELOAD=",
        "LD_LIBRARY_PATH=",
        "PATH=",
        "GIT_SSH_COMMAND=",
        "GIT_SSH=",
        "GIT_EXTERNAL_DIFF=",
        "GIT_PAGER=",
        "GIT_CONFIG",
        "PAGER=",
        "MANPAGER=",
        "LESSOPEN=",
        "PROMPT_COMMAND=",
        "GIT_ASKPASS=",
        "RUSTC_WRAPPER=",
        "MAKEFLAGS=",
        "npm_config_",
    ];
    moves_git(assignment) || TELLING.iter().any(|name| assignment.starts_with(name))
}

/// Whether an assignment sends git to another worktree.
pub(crate) fn moves_git(assignment: &str) -> bool {
    assignment.starts_with("GIT_DIR=") || assignment.starts_with("GIT_WORK_TREE=")
}

/// Returns the name by which a program is known, also from a directory of programs. `None` for
/// other paths: `./rm` may be any program.
pub(crate) fn known_name(path: &str) -> Option<&str> {
    match path.rsplit_once('/') {
        None => Some(path),
        Some((directory, name)) => {
            let is_installed = directory.starts_with('/') && directory.ends_with("/bin");
            (is_installed || directory.ends_with("node_modules/.bin")).then_some(name)
        }
    }
}
