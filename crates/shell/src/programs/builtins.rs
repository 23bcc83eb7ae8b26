//! Applies the shell's own commands to the state of the walk: they change variables and the directory.

use crate::output;
use crate::place::Place;
use crate::programs;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::ANY;
use crate::words::Word;

/// Applies commands that set variables: `export NAME=value` and the like, `set`, `shift`, `read`.
pub(super) fn assign(walk: &mut Walk<'_>, name: &str, args: &[Word]) {
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
    if name == "export" && args.iter().filter_map(Word::shape).any(programs::has_hidden_effect) {
        walk.note_unknown_write();
    }
    match name {
        "export" | "declare" | "local" | "readonly" | "typeset" => {
            let is_reference = args.iter().any(|word| word.text() == Some("-n"));
            for (name, value) in args.iter().filter_map(|word| word.text()?.split_once('=')) {
                match is_reference {
                    true => walk.variables.refer(name, value),
                    false => walk.variables.set(name, Word::Text(value.to_owned())),
                }
            }
        }
        "set" => {
            let flags = || args.iter().filter_map(Word::text).filter(|word| word.starts_with('-'));
            // With `-n`, the shell parses the rest but runs nothing.
            walk.has_ended |= args.iter().any(|word| word.text() == Some("-n"));
            walk.keeps_files |= flags().any(|word| word.contains('C'))
                || args.iter().any(|word| word.text() == Some("noclobber"));
            walk.ends_on_error |= flags().any(|word| word.contains('e'))
                || args.iter().any(|word| word.text() == Some("errexit"));
            if let Some(at) = args.iter().position(|word| word.text() == Some("--")) {
                walk.variables.enter(args[at + 1..].to_vec());
            }
        }
        "shift" => {
            let count = args.first().map_or(Some(1), |count| count.text()?.parse().ok());
            match count {
                Some(count) => walk.variables.shift(count),
                None => walk.variables.forget(),
            }
        }
        "read"
            if args.iter().any(|word| word.text().is_some_and(|o| o.starts_with('-') && o.contains('a'))) =>
        {
            read_list(walk, args);
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

/// Returns the names of the variables that `read` sets.
pub(crate) fn names_read(words: &[Word]) -> Option<Vec<String>> {
    let args = Args::read(words, &Options::with("dniNptu", &[]));
    let names: Option<Vec<String>> =
        args.operands.iter().map(|word| word.text().map(str::to_owned)).collect();
    names.filter(|names| !names.is_empty() && !args.has(&["-a"]))
}

/// Applies `read` into an array: `IFS=/ read -ra parts`.
fn read_list(walk: &mut Walk<'_>, args: &[Word]) {
    let Some(Word::Text(name)) = args.last() else { return };
    let between = walk.names().value("IFS").and_then(|word| word.text().map(str::to_owned));
    let words = match walk.input.lines().as_deref() {
        Some([Word::Text(line), ..]) => {
            let is_between =
                |c: char| between.as_ref().map_or(c.is_whitespace(), |between| between.contains(c));
            line.split(is_between).map(|word| Word::Text(word.to_owned())).collect()
        }
        _ => return walk.variables.forget(),
    };
    walk.variables.set_list(name, words);
}

pub(super) fn change_place(walk: &mut Walk<'_>, name: &str, args: &[Word]) -> bool {
    let before = walk.place.clone();
    let is_cd = match name {
        "cd" => true,
        "pushd" => false,
        "popd" => {
            walk.place = walk.stacked.pop().filter(|_| args.is_empty()).unwrap_or_else(Place::unknown);
            return true;
        }
        _ => return false,
    };
    let is_option = |word: &&Word| matches!(word.text(), Some("--" | "-L" | "-P" | "-e" | "-@" | "-n"));
    let operands: Vec<&Word> = args.iter().skip_while(is_option).collect();
    walk.place = match operands.as_slice() {
        [] if is_cd => walk.home(),
        [Word::Text(dash)] if dash == "-" && is_cd => walk.before.clone().unwrap_or_else(Place::unknown),
        [Word::Text(directory)] if is_cd && let Some(place) = by_path(walk, directory) => place,
        [Word::Text(directory)] if !directory.starts_with(['-', '+']) => {
            let place = walk.place.enter(directory);
            if is_cd && is_missing(walk, &place) {
                walk.is_nowhere = true;
                walk.note_unknown_write();
                return true;
            }
            place
        }
        _ => Place::unknown(),
    };
    if name == "pushd" {
        walk.stacked.push(before.clone());
    }
    walk.before = Some(before);
    true
}

/// Finds the directory that `cd` changes to by `CDPATH`.
fn by_path(walk: &Walk<'_>, directory: &str) -> Option<Place> {
    let path = walk.names().value("CDPATH")?;
    let is_dir = walk.here.is_dir?;
    if directory.starts_with(['/', '.']) {
        return None;
    }
    let places = path.text()?.split(':').map(|above| walk.place.enter(above).enter(directory));
    places.into_iter().find(|place| place.path(".").is_some_and(|path| is_dir(&path)))
}

/// Whether `cd` finds no directory at a place.
fn is_missing(walk: &Walk<'_>, place: &Place) -> bool {
    match (walk.here.is_dir, place.path(".")) {
        (Some(is_dir), Some(path)) => !path.contains(ANY) && !walk.may_have_made(&path) && !is_dir(&path),
        _ => false,
    }
}
