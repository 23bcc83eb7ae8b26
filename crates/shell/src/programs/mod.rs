//! What known programs would write, by the arguments they are given: finds the file for
//! each.
//!
//! Each file asks its programs one question: which of the operands are written?
//! **A program that nobody described may write anything**, and so may one whose
//! options the text does not tell.

mod archives;
mod args;
mod copies;
mod edits;
mod files;
mod formatters;
mod git;
mod harmless;
mod inline;
mod make;
mod packages;
mod patches;
mod reads;
mod scripts;
mod wrappers;

use crate::output;
use crate::outside;
use crate::place::Place;
use crate::walk::Walk;
use crate::words::ANY;
use crate::words::Word;
use args::Args;
use args::Options;

/// A program and its arguments.
pub(crate) fn run(walk: &mut Walk<'_>, words: &[Word]) {
    let Some((program, args)) = words.split_first() else { return };
    if !walk.may_step() {
        return;
    }
    let Some(name) = program.text().and_then(known_name) else {
        return match program.text() {
            Some(path) => scripts::file(walk, path, args),
            None => walk.doubt(),
        };
    };
    if name == "shopt"
        && args.iter().any(|word| matches!(word.text(), Some("nocaseglob" | "extglob" | "dotglob")))
    {
        walk.doubt();
    }
    walk.note_outside(outside::outside(name, args));
    if walk.calls(name, args) {
        return;
    }
    if matches!(name, "exit" | "return") && walk.conditions == 0 {
        walk.has_ended = true;
        return;
    }
    assign(walk, name, args);
    reads::note(walk, name, args);
    let is_known = change_place(walk, name, args)
        || inline::run(walk, name, args)
        || wrappers::run(walk, name, args)
        || scripts::run(walk, name, args)
        || git::run(walk, name, args)
        || edits::run(walk, name, args)
        || copies::run(walk, name, args)
        || files::run(walk, name, args)
        || archives::run(walk, name, args)
        || packages::run(walk, name, args)
        || make::run(walk, name, args)
        || formatters::run(walk, name, args)
        || harmless::run(walk, name, args);
    if !is_known {
        walk.doubt();
    }
}

/// `export NAME=value` and its like; and what is read into variables.
fn assign(walk: &mut Walk<'_>, name: &str, args: &[Word]) {
    const SETS: &[&str] = &[
        "export",
        "declare",
        "local",
        "readonly",
        "typeset",
        "set",
        "read",
        "unset",
        "mapfile",
        "readarray",
        "getopts",
        "let",
    ];
    if SETS.contains(&name) && args.contains(&Word::Unknown) {
        return walk.variables.forget();
    }
    match name {
        "export" | "declare" | "local" | "readonly" | "typeset" => {
            for (name, value) in args.iter().filter_map(|word| word.text()?.split_once('=')) {
                walk.variables.set(name, Word::Text(value.to_owned()));
            }
        }
        "set" => {
            if let Some(at) = args.iter().position(|word| word.text() == Some("--")) {
                walk.variables.enter(args[at + 1..].to_vec());
            }
        }
        "read" if let Some(names) = names_read(args) => match walk.input.lines().as_deref() {
            Some([line, ..]) => walk.set_read(&names, line),
            _ => names.iter().for_each(|name| walk.variables.set(name, Word::Unknown)),
        },
        "mapfile" | "readarray" => {
            if let (Some(lines), Some(Word::Text(name))) = (walk.input.lines(), args.last()) {
                walk.variables.set_list(name, lines);
            }
        }
        "printf"
            if let [Word::Text(option), Word::Text(name), rest @ ..] = args
                && option == "-v" =>
        {
            let text = rest.iter().map(Word::text).collect::<Option<Vec<&str>>>();
            let text = text.and_then(|words| output::printf(&words));
            walk.variables.set(name, text.map_or(Word::Unknown, Word::Text));
        }
        "read" | "unset" | "getopts" | "let" => {
            args.iter().filter_map(Word::text).for_each(|name| walk.variables.set(name, Word::Unknown));
        }
        _ => {}
    }
}

pub use git::alias_in as git_alias;
pub(crate) use scripts::found;

/// The variables that `read` sets.
pub(crate) fn names_read(words: &[Word]) -> Option<Vec<String>> {
    let args = Args::read(words, &Options::with("dniNptu", &[]));
    let names: Option<Vec<String>> =
        args.operands.iter().map(|word| word.text().map(str::to_owned)).collect();
    names.filter(|names| !names.is_empty() && !args.has(&["-a"]))
}

/// Whether an assignment makes a program do more than its arguments say.
pub(crate) fn is_telling(assignment: &str) -> bool {
    const TELLING: &[&str] =
        &["GIT_EDITOR=", "GIT_SEQUENCE_EDITOR=", "EDITOR=", "VISUAL=", "TMPDIR=", "BASH_ENV=", "PERL5OPT="];
    moves_git(assignment) || TELLING.iter().any(|name| assignment.starts_with(name))
}

/// Whether an assignment sends git to another worktree.
pub(crate) fn moves_git(assignment: &str) -> bool {
    assignment.starts_with("GIT_DIR=") || assignment.starts_with("GIT_WORK_TREE=")
}

/// The name by which a program is known. One from a directory of programs is
/// the program; `./rm` is whatever somebody put there.
fn known_name(path: &str) -> Option<&str> {
    match path.rsplit_once('/') {
        None => Some(path),
        Some((directory, name)) => {
            let is_installed = directory.starts_with('/') && directory.ends_with("/bin");
            (is_installed || directory.ends_with("node_modules/.bin")).then_some(name)
        }
    }
}

fn change_place(walk: &mut Walk<'_>, name: &str, args: &[Word]) -> bool {
    let is_cd = match name {
        "cd" => true,
        "pushd" => false,
        "popd" => {
            walk.place = Place::unknown();
            return true;
        }
        _ => return false,
    };
    let is_option = |word: &&Word| matches!(word.text(), Some("--" | "-L" | "-P" | "-e" | "-@" | "-n"));
    let operands: Vec<&Word> = args.iter().skip_while(is_option).collect();
    walk.place = match operands.as_slice() {
        [] if is_cd => walk.home(),
        [Word::Text(directory)] if !directory.starts_with(['-', '+']) => {
            let place = walk.place.enter(directory);
            if is_cd && is_missing(walk, &place) {
                walk.is_nowhere = true;
                walk.doubt();
                return true;
            }
            place
        }
        _ => Place::unknown(),
    };
    true
}

/// Whether `cd` finds no directory there.
fn is_missing(walk: &Walk<'_>, place: &Place) -> bool {
    match (walk.here.is_dir, place.path(".")) {
        (Some(is_dir), Some(path)) => !path.contains(ANY) && !walk.may_have_made(&path) && !is_dir(&path),
        _ => false,
    }
}
