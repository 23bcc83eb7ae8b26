//! What code in other languages inside a command would write: `python -c`, `node -e`,
//! `perl -e`, or a here-document. Their text is not understood; but a path that a call
//! names as what it writes is one that it writes. **What else they may do is unknown.**

use std::collections::BTreeMap;

use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// Calls by their last name, and which of their arguments they write.
const FIRST: &[&str] = &[
    // Python.
    "remove",
    "unlink",
    "truncate",
    "makedirs",
    "mkdir",
    "chmod",
    "utime",
    "mkfifo",
    "removedirs",
    "rmdir",
    // Node, with and without `Sync`.
    "writeFile",
    "appendFile",
    "unlink",
    "rm",
    "truncate",
    "mkdir",
    "createWriteStream",
    "chmod",
    "utimes",
    // Perl and Ruby.
    "write",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "make_path",
    "mkdir_p",
    "touch",
    "delete",
];
const SECOND: &[&str] =
    &["copy", "copy2", "copyfile", "copytree", "copyFile", "cp", "symlink", "link", "cp_r"];
const BOTH: &[&str] = &["rename", "replace", "move", "renames", "mv"];
const TREES: &[&str] = &["rmtree", "remove_tree", "rm_rf", "rm_r", "rm", "copytree", "cp", "cp_r"];
/// Methods of what a path was made into.
const METHODS: &[&str] = &[
    "write_text",
    "write_bytes",
    "touch",
    "unlink",
    "mkdir",
    "rmdir",
    "chmod",
    "rename",
    "replace",
    "symlink_to",
    "hardlink_to",
];
/// What makes a path of a text.
const PATHS: &[&str] = &["Path", "PurePath", "PosixPath"];

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    let (code, is_from_input) = match name {
        "python" | "python3" | "python2" => (&["-c"][..], true),
        "node" | "nodejs" | "bun" => (&["-e", "--eval", "-p", "--print"][..], true),
        "ruby" => (&["-e"][..], true),
        "perl" => (&["-e", "-E"][..], true),
        "php" => (&["-r"][..], false),
        _ => return false,
    };
    let options = match name {
        "perl" => Options { values: "eEIMm", suffixes: "iFCDx0l", long: &[] },
        _ => Options::with("ceErp", &["--eval", "--print", "--require"]),
    };
    let args = Args::read(words, &options);
    let mut texts: Vec<String> =
        args.values(code).filter_map(|word| word.text().map(str::to_owned)).collect();
    let reads_input = args.operands.first().is_none_or(|word| word.text() == Some("-"));
    if texts.is_empty() && is_from_input && reads_input {
        texts.extend(walk.input.text().map(str::to_owned));
    }
    for text in &texts {
        scan(walk, name, text);
    }
    // Perl that only computes is told apart where it edits in place.
    if name == "perl" {
        return false;
    }
    let only_asks =
        matches!(words, [Word::Text(option)] if matches!(option.as_str(), "--version" | "-V" | "-v"));
    if name.starts_with("python") && words.first().and_then(Word::text) == Some("-m") || only_asks {
        return false;
    }
    walk.doubt();
    true
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Sign(char),
}

fn scan(walk: &mut Walk<'_>, by: &str, code: &str) {
    let tokens = tokens(code, by);
    let mut known = loops(&tokens);
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let next = tokens.get(at + 1);
        // `p = Path("x")`, `f = 'x'`.
        if next == Some(&Token::Sign('=')) && tokens.get(at + 2) != Some(&Token::Sign('=')) {
            if let Some((path, _)) = literal(&tokens, at + 2, &known) {
                known.insert(name, path);
            }
            continue;
        }
        let is_glob = next == Some(&Token::Name("glob".into()));
        let is_perl_call = by == "perl" && (is_glob || matches!(next, Some(Token::Text(_))));
        if next != Some(&Token::Sign('(')) && !is_perl_call {
            continue;
        }
        let bare = name.strip_suffix("Sync").unwrap_or(name);
        let first_at = if is_perl_call { at + 1 } else { at + 2 };
        let arguments = arguments(&tokens, first_at, &known);
        let mut write = |path: Option<&Option<Word>>| {
            if let Some(Some(path)) = path {
                let extent = if TREES.contains(&bare) { Extent::Tree } else { Extent::File };
                walk.write(path, extent, by);
            }
        };
        let receiver = receiver(&tokens, at, &known);
        match bare {
            "open" => {
                let modes = tokens[at..].iter().take(12).filter_map(|token| match token {
                    Token::Text(mode) if mode.len() <= 3 => Some(mode.as_str()),
                    _ => None,
                });
                let is_writing = |mode: &str| mode.contains(['w', 'a', 'x', '+', '>']);
                if modes.into_iter().any(is_writing) {
                    // Perl names the mode before the file.
                    let path = arguments
                        .iter()
                        .flatten()
                        .find(|argument| argument.shape().is_some_and(|path| path.len() > 3));
                    write(Some(&receiver.clone().or_else(|| path.cloned())));
                }
            }
            "system" | "exec" | "execFile" | "spawn" | "popen" | "Popen" | "call" | "check_call"
            | "check_output" | "run" => {
                let words = arguments.iter().flatten().filter_map(Word::text);
                match words.clone().next() {
                    Some(script) if script.contains(' ') => walk.aside(|walk| walk.script(script)),
                    Some(_) => walk.aside(|walk| walk.script(&quoted(words))),
                    None => {}
                }
            }
            // The first word is said twice: as the program, and as its own name.
            "execvp" | "execv" | "execlp" => {
                let words = arguments.iter().flatten().filter_map(Word::text).skip(1);
                walk.aside(|walk| walk.script(&quoted(words)));
            }
            _ if METHODS.contains(&bare) && receiver.is_some() => {
                write(Some(&receiver));
                if matches!(bare, "rename" | "replace") {
                    write(arguments.first());
                }
            }
            "rmtree" => write(arguments.first()),
            _ if BOTH.contains(&bare) && arguments.len() >= 2 => {
                arguments.iter().take(2).for_each(|one| write(Some(one)))
            }
            _ if SECOND.contains(&bare) => write(arguments.get(1)),
            _ if FIRST.contains(&bare) && by == "perl" => arguments.iter().for_each(|one| write(Some(one))),
            // `f.write("text")` names no path, `File.write("path", "text")` does.
            "write" if arguments.len() < 2 => {}
            _ if FIRST.contains(&bare) => write(arguments.first()),
            _ => {}
        }
    }
}

/// The names that a loop goes over, where it is over the files of a pattern.
fn loops(tokens: &[Token]) -> BTreeMap<&str, Word> {
    let over = tokens.windows(2).enumerate().filter_map(|(at, pair)| match pair {
        [Token::Name(name), Token::Name(over)] if over == "in" => {
            let (word, _) = literal(tokens, at + 2, &BTreeMap::new())?;
            matches!(word, Word::Glob(_)).then_some((name.as_str(), word))
        }
        _ => None,
    });
    over.collect()
}

/// A command line of these words.
fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect::<Vec<_>>().join(" ")
}

/// What a program of awk writes and runs: where it says so by name.
pub(super) fn awk(walk: &mut Walk<'_>, by: &str, code: &str, set: &[(&str, &str)]) {
    let tokens = tokens(code, by);
    let mut prints = false;
    for (at, token) in tokens.iter().enumerate() {
        let text = |at: usize| match tokens.get(at) {
            Some(Token::Text(text)) => Some(text.as_str()),
            Some(Token::Name(name)) => set.iter().find(|(known, _)| known == name).map(|(_, value)| *value),
            _ => None,
        };
        match token {
            Token::Sign('{' | '}' | ';') => prints = false,
            Token::Name(name) if name == "print" || name == "printf" => prints = true,
            Token::Name(name) if name == "system" => {
                text(at + 2).into_iter().for_each(|script| walk.aside(|walk| walk.script(script)));
            }
            Token::Sign('>') if prints => {
                let is_more = tokens.get(at + 1) == Some(&Token::Sign('>'));
                if let Some(path) = text(at + 1 + usize::from(is_more)) {
                    walk.write(&Word::Text(path.to_owned()), Extent::File, by);
                }
            }
            Token::Sign('|') if prints => {
                text(at + 1).into_iter().for_each(|script| walk.aside(|walk| walk.script(script)));
            }
            _ => {}
        }
    }
}

/// What a method is called on: `Path("x").touch()`, `p.touch()`.
fn receiver(tokens: &[Token], at: usize, known: &BTreeMap<&str, Word>) -> Option<Word> {
    if at < 2 || tokens[at - 1] != Token::Sign('.') {
        return None;
    }
    match &tokens[at - 2] {
        Token::Name(name) => known.get(name.as_str()).cloned(),
        Token::Sign(')') => match tokens.get(at.checked_sub(5)?..at - 1)? {
            [Token::Name(made), Token::Sign('('), Token::Text(path), Token::Sign(')')]
                if PATHS.contains(&made.as_str()) =>
            {
                Some(Word::Text(path.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A text, a path made of one, or a name that stands for one; and where it ends.
fn literal(tokens: &[Token], at: usize, known: &BTreeMap<&str, Word>) -> Option<(Word, usize)> {
    match tokens.get(at)? {
        Token::Text(text) => Some((Word::Text(text.clone()), at + 1)),
        // `glob("x/*")`, and `glob "x/*"` in Perl.
        Token::Name(name)
            if matches!(name.as_str(), "glob" | "iglob" | "globSync")
                && tokens.get(at + 1) != Some(&Token::Sign('.')) =>
        {
            let open = usize::from(tokens.get(at + 1) == Some(&Token::Sign('(')));
            let (word, end) = literal(tokens, at + 1 + open, known)?;
            Some((Word::Glob(word.text()?.to_owned()), end + open))
        }
        // `pathlib.Path("x")`.
        Token::Name(_) if tokens.get(at + 1) == Some(&Token::Sign('.')) => literal(tokens, at + 2, known),
        Token::Name(name) if PATHS.contains(&name.as_str()) => {
            let (text, end) = literal(tokens, at + 2, known)?;
            Some((text, end + 1))
        }
        Token::Name(name) => Some((known.get(name.as_str())?.clone(), at + 1)),
        Token::Sign(_) => None,
    }
}

/// The arguments of a call, as far as they are literal.
fn arguments(tokens: &[Token], from: usize, known: &BTreeMap<&str, Word>) -> Vec<Option<Word>> {
    let mut arguments = vec![literal(tokens, from, known).map(|(text, _)| text)];
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::Sign('(' | '{') => depth += 1,
            Token::Sign(')' | '}') if depth == 0 => break,
            Token::Sign(')' | '}') => depth -= 1,
            Token::Sign(';') => break,
            // The words of `["rm", "x"]` are arguments too.
            Token::Sign(',' | '[') if depth == 0 => {
                arguments.push(literal(tokens, at + 1, known).map(|(text, _)| text));
            }
            _ => {}
        }
    }
    arguments
}

/// The words of a program in any of these languages, as far as they have them in common.
fn tokens(code: &str, by: &str) -> Vec<Token> {
    let runs = matches!(by, "perl" | "ruby" | "php");
    let mut tokens = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                let mut text = String::new();
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => text.extend(chars.next()),
                        _ if inner == c => break,
                        _ => text.push(inner),
                    }
                }
                // What stands in these is run.
                if c == '`' && runs {
                    tokens.extend([
                        Token::Name("system".into()),
                        Token::Sign('('),
                        Token::Text(text),
                        Token::Sign(')'),
                    ]);
                    continue;
                }
                tokens.push(Token::Text(text));
            }
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            '$' | '@' | '%' => {}
            c if c.is_alphanumeric() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                tokens.push(Token::Name(name));
            }
            c if c.is_whitespace() => {}
            c => tokens.push(Token::Sign(c)),
        }
    }
    tokens
}
