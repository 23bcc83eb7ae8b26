//! Text that is run as a script: `bash -c`, `eval`, `trap`, `find -exec`.

use crate::Extent;
use crate::place::Place;
use crate::programs;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "bash" | "sh" | "zsh" | "dash" | "ksh" => shell(walk, words),
        "eval" => eval(walk, words),
        "trap" => trap(walk, words),
        "find" | "gfind" => find(walk, words),
        _ => return false,
    }
    true
}

fn shell(walk: &mut Walk<'_>, words: &[Word]) {
    let (args, rest) = Args::leading(words, &Options::with("oO", &["--rcfile", "--init-file"]));
    match rest.first() {
        Some(Word::Text(script)) if args.has(&["-c"]) => walk.aside(|walk| walk.script(script)),
        None if args.has(&["--version", "--help"]) => {}
        _ => walk.doubt(),
    }
}

fn eval(walk: &mut Walk<'_>, words: &[Word]) {
    let texts: Option<Vec<&str>> = words.iter().map(Word::text).collect();
    match texts {
        Some(texts) => walk.script(&texts.join(" ")),
        None => walk.doubt(),
    }
}

fn trap(walk: &mut Walk<'_>, words: &[Word]) {
    let (_, rest) = Args::leading(words, &Options::NONE);
    match rest {
        [Word::Text(script), _, ..] if script != "-" => walk.aside(|walk| walk.script(script)),
        [Word::Glob(_) | Word::Unknown, _, ..] => walk.doubt(),
        _ => {}
    }
}

fn find(walk: &mut Walk<'_>, words: &[Word]) {
    let is_root = |word: &&Word| !word.shape().is_some_and(|shape| shape.starts_with(['-', '(', '!']));
    let leading = words.iter().take_while(|word| matches!(word.text(), Some("-L" | "-H" | "-P"))).count();
    let roots: Vec<&Word> = words[leading..].iter().take_while(is_root).collect();
    let mut rest = &words[leading + roots.len()..];
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text() {
            Some("-delete") => delete(walk, &roots),
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                if let Some(file) = after.first() {
                    walk.write(file, Extent::File, "find");
                }
            }
            Some(action @ ("-exec" | "-execdir" | "-ok" | "-okdir")) => {
                let end = after.iter().position(|word| matches!(word.text(), Some(";" | "+")));
                let command = &after[..end.unwrap_or(after.len())];
                walk.aside(|walk| {
                    if action.ends_with("dir") {
                        walk.place = Place::unknown();
                    }
                    programs::run(walk, &with_unknown(command, "{}"));
                });
                rest = end.map_or(&[], |end| &after[end + 1..]);
            }
            Some(_) => {}
            // A variable may hold an action.
            None if *word == Word::Unknown => walk.doubt(),
            None => {}
        }
    }
}

/// Which of the files below the roots go, the text does not tell.
fn delete(walk: &mut Walk<'_>, roots: &[&Word]) {
    if roots.is_empty() {
        walk.write_here(Extent::Tree, "find");
    }
    roots.iter().for_each(|root| walk.write(root, Extent::Tree, "find"));
    walk.doubt();
}

/// The command with what comes from elsewhere where `mark` stands.
pub(super) fn with_unknown(command: &[Word], mark: &str) -> Vec<Word> {
    let is_marked = |word: &Word| word.shape().is_some_and(|shape| shape.contains(mark));
    command.iter().map(|word| if is_marked(word) { Word::Unknown } else { word.clone() }).collect()
}
