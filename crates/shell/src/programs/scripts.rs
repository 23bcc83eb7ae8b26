//! Walks text that is run as a script: `bash -c`, `eval`, `source`, `trap`, `find -exec`.

use crate::Extent;
use crate::place::Place;
use crate::programs;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::ANY;
use crate::words::Word;
use crate::words::escape;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "bash" | "sh" | "zsh" | "dash" | "ksh" => shell(walk, words),
        "eval" => eval(walk, words),
        "." | "source" => match words.split_first() {
            Some((Word::Text(path), args)) => match walk.file(path) {
                Some(script) => {
                    let outer = walk.variables.enter(args.to_vec());
                    walk.deeper(|walk| walk.script(&script));
                    walk.variables.leave(outer);
                }
                None => walk.note_unknown_write(),
            },
            _ => walk.note_unknown_write(),
        },
        "trap" => trap(walk, words),
        "find" | "gfind" => find(walk, words),
        _ => return false,
    }
    true
}

fn shell(walk: &mut Walk<'_>, words: &[Word]) {
    let (args, rest) = Args::leading(words, &Options::with("oO", &["--rcfile", "--init-file"]));
    walk.ends_on_error |= args.has(&["-e"]);
    // With these options the shell runs nothing.
    if args.has(&["-n", "--version", "--help"]) {
        return;
    }
    let is_from_input =
        rest.is_empty() || args.has(&["-s"]) || rest.first().and_then(Word::text) == Some("-");
    match rest.first() {
        Some(Word::Text(script)) if args.has(&["-c"]) => {
            let arguments = rest.get(2..).unwrap_or_default().to_vec();
            nested(walk, script, arguments, rest.get(1).cloned());
        }
        _ if is_from_input && !args.has(&["-c"]) => match walk.input.text().map(str::to_owned) {
            Some(script) => nested(walk, &script, rest.get(1..).unwrap_or_default().to_vec(), None),
            None => walk.note_unknown_write(),
        },
        Some(Word::Text(path)) if !args.has(&["-c"]) => match walk.file(path) {
            Some(script) => of_file(walk, &script, rest[1..].to_vec(), rest.first().cloned()),
            None => walk.note_unknown_write(),
        },
        _ => walk.note_unknown_write(),
    }
}

/// Walks a program that is a file of the repository, if it is a shell script.
pub(super) fn file(walk: &mut Walk<'_>, path: &str, args: &[Word]) {
    let script = walk.file(path).filter(|text| {
        let first = text.lines().next().unwrap_or_default();
        first.starts_with("#!") && (first.ends_with("sh") || first.contains("sh "))
    });
    match script {
        Some(script) => of_file(walk, &script, args.to_vec(), Some(Word::Text(path.to_owned()))),
        None => walk.note_unknown_write(),
    }
}

/// Walks a script from a file; what it does under conditions is not sure.
fn of_file(walk: &mut Walk<'_>, script: &str, arguments: Vec<Word>, name: Option<Word>) {
    let (is_file, conditions) = (walk.is_file, walk.conditions);
    (walk.is_file, walk.conditions) = (true, 0);
    nested(walk, script, arguments, name);
    (walk.is_file, walk.conditions) = (is_file, conditions);
    walk.note_unknown_write();
}

/// Walks a script in a shell of its own.
fn nested(walk: &mut Walk<'_>, script: &str, arguments: Vec<Word>, name: Option<Word>) {
    walk.aside(|walk| {
        walk.variables.enter(arguments);
        if let Some(name) = name {
            walk.variables.set("0", name);
        }
        walk.script(script);
    });
}

fn eval(walk: &mut Walk<'_>, words: &[Word]) {
    let texts: Option<Vec<&str>> = words.iter().map(Word::text).collect();
    match texts {
        Some(texts) => walk.script(&texts.join(" ")),
        None => walk.note_unknown_write(),
    }
}

fn trap(walk: &mut Walk<'_>, words: &[Word]) {
    let (_, rest) = Args::leading(words, &Options::NONE);
    match rest {
        // The signal may never come.
        [Word::Text(script), signals @ ..]
            if script != "-"
                && !signals.iter().any(|signal| matches!(signal.text(), Some("EXIT" | "0" | "DEBUG"))) =>
        {
            walk.note_unknown_write();
        }
        [Word::Text(script), signals @ ..]
            if signals.iter().any(|signal| matches!(signal.text(), Some("EXIT" | "0"))) =>
        {
            walk.at_exit = Some(script.clone()).filter(|script| script != "-");
        }
        [Word::Text(script), _, ..] if script != "-" => walk.aside(|walk| walk.script(script)),
        [Word::Glob(_) | Word::Unknown, _, ..] => walk.note_unknown_write(),
        _ => {}
    }
}

/// Follows the actions of `find` on the files it finds.
fn find(walk: &mut Walk<'_>, words: &[Word]) {
    let Search { roots, rest } = Search::read(words);
    // Files found behind links are in other places.
    if words.first().and_then(Word::text) == Some("-L")
        || rest.iter().any(|word| word.text() == Some("-follow"))
    {
        walk.note_unknown_write();
    }
    let found = files(&roots, rest);
    let mut rest = rest;
    let mut tests = 0;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text() {
            Some("-delete") => match &found {
                _ if tests > 0 => walk.note_unknown_write(),
                Some(found) => found.iter().for_each(|file| walk.write(file, Extent::File, "find")),
                None => walk.note_unknown_write(),
            },
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                if let Some(file) = after.first() {
                    walk.write(file, Extent::File, "find");
                }
            }
            // These ask the person first.
            Some("-ok" | "-okdir") => walk.note_unknown_write(),
            Some(action @ ("-exec" | "-execdir")) => {
                let end = after.iter().position(|word| matches!(word.text(), Some(";" | "+")));
                let command = &after[..end.unwrap_or(after.len())];
                let is_elsewhere = action.ends_with("dir");
                walk.unsure += tests;
                execute(walk, command, found.as_deref(), is_elsewhere);
                walk.unsure -= tests;
                // Actions after it are done only if it succeeds.
                tests += usize::from(end.is_some_and(|end| after[end].text() == Some(";")));
                rest = end.map_or(&[], |end| &after[end + 1..]);
            }
            Some(_) => {}
            // An unknown word may be an action.
            None if *word == Word::Unknown => walk.note_unknown_write(),
            None => {}
        }
    }
}

/// Runs a command on each file that was found: in the file's own directory with `is_elsewhere`, or here.
fn execute(walk: &mut Walk<'_>, command: &[Word], found: Option<&[Word]>, is_elsewhere: bool) {
    let Some(found) = found else {
        return walk.aside(|walk| {
            if is_elsewhere {
                walk.place = Place::unknown();
            }
            programs::run(walk, &with_unknown(command, "{}"));
        });
    };
    for file in found {
        walk.aside(|walk| {
            let file = if is_elsewhere { walk.absolute(file) } else { file.clone() };
            if is_elsewhere {
                walk.place = Place::unknown();
            }
            programs::run(walk, &with_word(command, "{}", &file));
        });
    }
}

/// The directories that `find` searches, and its tests and actions.
struct Search<'w> {
    roots: Vec<&'w Word>,
    rest: &'w [Word],
}

impl<'w> Search<'w> {
    fn read(words: &'w [Word]) -> Self {
        let is_root = |word: &&Word| !word.shape().is_some_and(|shape| shape.starts_with(['-', '(', '!']));
        let leading = words.iter().take_while(|word| matches!(word.text(), Some("-L" | "-H" | "-P"))).count();
        let roots: Vec<&Word> = words[leading..].iter().take_while(is_root).collect();
        let rest = &words[leading + roots.len()..];
        Self { roots, rest }
    }
}

/// Returns the files that `find` prints, if it does nothing else.
pub(crate) fn found(words: &[Word]) -> Option<Vec<Word>> {
    let Search { roots, rest } = Search::read(words);
    let acts = |word: &Word| word.text().is_some_and(|text| text.starts_with("-exec") || text == "-delete");
    if rest.iter().any(acts) { None } else { files(&roots, rest) }
}

/// Most levels of `find -maxdepth` that get a pattern each.
const MOST_LEVELS: usize = 6;

/// Returns patterns for all files that pass the tests, if the tests are few and plain; `None` if
/// they are not, or if they exclude files that somebody may have reserved.
fn files(roots: &[&Word], tests: &[Word]) -> Option<Vec<Word>> {
    let mut names: Vec<String> = Vec::new();
    let (mut least, mut deepest, mut is_negated) = (1, None, false);
    let mut rest = tests;
    while let Some((test, after)) = rest.split_first() {
        let take = || after.first().and_then(Word::shape);
        let taken = match test.shape()? {
            "-name" | "-iname" => {
                let name = take()?.to_owned();
                let name = if test.text() == Some("-iname") { in_any_case(&name) } else { name };
                if !is_negated {
                    names.push(name);
                }
                2
            }
            "-path" | "-wholename" if is_negated => 2,
            // `-path ./.git -prune -o …`
            "-path" | "-wholename" => {
                let is_git = take()?.contains(".git") || take()?.contains("node_modules");
                if after.get(1).and_then(Word::text) != Some("-prune") || !is_git {
                    return None;
                }
                2
            }
            "-maxdepth" => {
                deepest = Some(take()?.parse::<usize>().ok()?);
                2
            }
            "-mindepth" => {
                least = take()?.parse::<usize>().ok()?.max(1);
                2
            }
            "-type" => 2,
            "!" | "-not" => {
                // The excluded files may be the reserved ones; but nobody reserves these.
                if !after.get(1).is_some_and(is_made_by_tools)
                    && after.first().and_then(Word::text) != Some("-type")
                {
                    return None;
                }
                is_negated = true;
                rest = after;
                continue;
            }
            "-o" | "-or" | "-a" | "-and" | "(" | ")" | "-prune" | "-print" | "-print0" | "-depth"
            | "-true" => 1,
            "-delete" => 1,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = after.iter().position(|word| matches!(word.text(), Some(";" | "+")))?;
                end + 2
            }
            _ => return None,
        };
        is_negated = false;
        rest = rest.get(taken..).unwrap_or_default();
    }
    if names.is_empty() {
        names.push("*".into());
    }
    patterns_below(roots, &names, least, deepest)
}

/// Returns patterns for these names from `least` to `deepest` levels below the directories of `find`.
fn patterns_below(
    roots: &[&Word],
    names: &[String],
    least: usize,
    deepest: Option<usize>,
) -> Option<Vec<Word>> {
    let here = Word::Text(".".into());
    let roots = if roots.is_empty() { vec![&here] } else { roots.to_vec() };
    if deepest == Some(0) {
        return Some(roots.into_iter().cloned().collect());
    }
    let levels = match deepest {
        Some(deepest) if deepest <= MOST_LEVELS => {
            (least..=deepest).map(|depth| "*/".repeat(depth - 1)).collect()
        }
        _ => vec!["**/".to_owned()],
    };
    let mut files = Vec::new();
    for root in roots {
        let root = match root {
            Word::Text(root) => escape(root.trim_end_matches('/')),
            Word::Glob(root) => root.clone(),
            Word::Unknown => return None,
        };
        for below in &levels {
            files.extend(names.iter().map(|name| Word::Glob(format!("{root}/{below}{name}"))));
        }
    }
    Some(files)
}

/// Whether a word names files that tools make and nobody reserves.
fn is_made_by_tools(word: &Word) -> bool {
    let names = [".git", "node_modules", "target", "dist", "vendor", ".venv", "__pycache__"];
    word.shape().is_some_and(|shape| names.iter().any(|name| shape.contains(name)))
}

/// Makes a pattern that matches in upper and lower case.
fn in_any_case(pattern: &str) -> String {
    let any = |c: char| match (c.to_ascii_lowercase(), c.to_ascii_uppercase()) {
        (lower, upper) if lower != upper => format!("[{lower}{upper}]"),
        _ => c.to_string(),
    };
    pattern.chars().map(any).collect()
}

/// Replaces `mark` in a command with a text that is not known.
pub(super) fn with_unknown(command: &[Word], mark: &str) -> Vec<Word> {
    let any = |word: &Word| match word.shape().and_then(|shape| shape.split_once(mark)) {
        Some((before, after)) if before.contains('/') => Word::Text(format!("{before}{ANY}{after}")),
        Some(_) => Word::Unknown,
        None => word.clone(),
    };
    command.iter().map(any).collect()
}

/// Replaces `mark` in a command with a known word.
pub(super) fn with_word(command: &[Word], mark: &str, file: &Word) -> Vec<Word> {
    let fill = |word: &Word| match (word, file) {
        (Word::Text(text), _) if text == mark => file.clone(),
        (Word::Text(text), Word::Text(file)) if text.contains(mark) => Word::Text(text.replace(mark, file)),
        (Word::Text(text), Word::Glob(file)) if text.contains(mark) => {
            // A new name, made from the names of existing files.
            let directory = file.find(['*', '?', '[']).and_then(|at| file[..at].rfind('/'));
            match directory.map(|end| &file[..end]) {
                Some(directory) => Word::Text(text.replace(mark, &format!("{directory}/{ANY}"))),
                None => Word::Unknown,
            }
        }
        _ if word.shape().is_some_and(|shape| shape.contains(mark)) => Word::Unknown,
        _ => word.clone(),
    };
    command.iter().map(fill).collect()
}
