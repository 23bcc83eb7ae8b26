//! Finds the files that editors would write which are given commands: `ed`, `ex`, `vim -es`. **A
//! command that nobody described may write anything.**

use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// Commands that change only the text in the editor, or the view.
#[rustfmt::skip]
const SAFE: &[&str] = &[
    "", "a", "append", "c", "change", "co", "copy", "d", "delete", "e", "edit", "f", "file", "filetype", "g", "global", "i", "insert",
    "j", "join", "k", "let", "list", "m", "move", "n", "next", "noh", "norm", "normal", "nu", "p", "print", "pu", "put",
    "q", "qa", "qall", "quit", "r", "read", "retab", "s", "set", "setlocal", "sort", "substitute", "syntax", "t", "u", "undo", "v", "y", "yank",
];

/// Commands that write the file, or another file that they name.
const SAVES: &[&str] = &[
    "w", "write", "W", "wq", "wqa", "wqall", "wa", "wall", "wn", "x", "xit", "xa", "xall", "up", "update",
    "exit", "sav", "saveas", "wqa", "ZZ",
];

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    if !matches!(
        name,
        "ed" | "red" | "ex" | "vi" | "vim" | "nvim" | "view" | "emacs" | "nano" | "kak" | "hx" | "gvim"
    ) {
        return false;
    }
    // In line editors `-s` means silent; in vim its value is a file with keys.
    let is_of_lines = matches!(name, "ed" | "red" | "ex") || words.iter().filter_map(Word::text).any(is_ex);
    let values = if is_of_lines { "cuSpPwWTiU" } else { "cuSspPwWTiU" };
    let args = Args::read(words, &Options { values, suffixes: "", long: &["--cmd", "--eval"] });
    if name == "view" || args.has(&["--version", "--help"]) {
        return true;
    }
    let is_plus = |word: &&&Word| word.shape().is_some_and(|text| text.starts_with('+'));
    let plus = args.operands.iter().filter(is_plus).copied();
    let given: Vec<&Word> = args.values(&["-c", "--cmd"]).chain(plus).collect();
    let mut commands: Vec<String> = given
        .iter()
        .filter_map(|word| word.text())
        .map(|text| text.trim_start_matches('+').to_owned())
        .collect();
    let sources: Vec<String> = args.values(&["-S"]).filter_map(|file| walk.file(file.text()?)).collect();
    commands.extend(sources.iter().flat_map(|text| text.lines()).map(str::to_owned));
    let reads_input = is_of_lines && !args.has(&["-c", "-S"]) && commands.is_empty();
    let typed = walk.input.text().filter(|_| reads_input).map(str::to_owned);
    commands.extend(typed.iter().flat_map(|text| text.lines()).map(str::to_owned));
    let mut files: Vec<Word> =
        args.operands.iter().filter(|word| !is_plus(word)).map(|word| (*word).clone()).collect();
    if commands.is_empty() {
        // A person types the commands, or the input is not known.
        files.iter().for_each(|file| walk.write(file, Extent::File, name));
        walk.note_unknown_write();
        return true;
    }
    if given.iter().any(|word| word.text().is_none()) || name == "emacs" {
        walk.note_unknown_write();
    }
    let is_text = typed.is_some();
    commands.iter().for_each(|command| command_line(walk, name, command, &mut files, is_text));
    true
}

/// Reads one line of commands. With `is_text`, the line may also be text that the commands insert.
fn command_line(walk: &mut Walk<'_>, by: &str, line: &str, files: &mut Vec<Word>, is_text: bool) {
    let shell = line.split_once('!').filter(|(before, _)| {
        let before = before.trim_start_matches(|c: char| is_address(c) || c == ':');
        before.is_empty()
            || before.starts_with("sil") && !before.contains('/')
            || matches!(before, "r " | "r" | "w ")
    });
    if let Some((_, script)) = shell {
        walk.aside(|walk| walk.script(script));
        return walk.note_unknown_write();
    }
    for command in line.split('|') {
        let command = command.trim_start_matches(|c: char| is_address(c) || c == ':').trim();
        let command =
            ["silent!", "silent", "sil!", "sil", "argdo", "bufdo", "windo", "noautocmd", "keepjumps", "exe"]
                .iter()
                .fold(command, |command, prefix| command.strip_prefix(prefix).map_or(command, str::trim))
                .trim_start_matches(is_address);
        let end = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
        let (name, argument) = command.split_at(end);
        // In `s/a/b/`, the name is only the letter.
        let argument = argument.trim_start_matches('!').trim();
        match name {
            _ if SAVES.contains(&name) => {
                walk.note_unknown_write();
                if argument.is_empty() || argument.starts_with(['+', '>']) {
                    files.iter().for_each(|file| walk.write(file, Extent::File, by));
                } else {
                    walk.write(&Word::Text(argument.to_owned()), Extent::File, by);
                }
            }
            "e" | "edit" | "args" | "n" | "next" if !argument.is_empty() => {
                let is_pattern = argument.contains(['*', '?']);
                *files =
                    vec![if is_pattern { Word::Glob(argument.into()) } else { Word::Text(argument.into()) }];
            }
            "call"
                if argument.contains("writefile")
                    || argument.contains("delete(")
                    || argument.contains("rename(") =>
            {
                let mut quoted = argument.split(['"', '\'']).skip(1).step_by(2).collect::<Vec<_>>();
                let path = quoted.pop().unwrap_or_default();
                walk.write(&Word::Text(path.to_owned()), Extent::File, by);
                walk.note_unknown_write();
            }
            _ if SAFE.contains(&name) || is_text => {}
            _ => walk.note_unknown_write(),
        }
        if argument.contains("writefile")
            || argument.contains("system(")
            || matches!(name, "g" | "v" | "global" | "normal" | "norm") && argument.contains("w")
        {
            walk.note_unknown_write();
        }
    }
}

fn is_address(c: char) -> bool {
    c.is_ascii_digit() || "%,.;$ ".contains(c)
}

/// Whether a word is the option `-e` or `-E`, alone or among other letters.
fn is_ex(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(['e', 'E'])
}
