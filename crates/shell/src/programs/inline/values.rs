//! Evaluates expressions that are paths in Python, JavaScript, Perl, Ruby or PHP, as far as the text tells.

use std::collections::BTreeMap;

use super::tokens::CLOSE;
use super::tokens::OPEN;
use super::tokens::Token;
use crate::words::ANY;
use crate::words::Word;
use crate::words::escape;

/// Most values that a name has at once: a loop runs over several.
const MOST: usize = 16;

/// Deepest nesting of expressions that is followed.
const DEEPEST: usize = 16;

/// Functions that make a path from a text, or leave it as it is.
const SAME: &[&str] = &[
    "Path",
    "PurePath",
    "PosixPath",
    "str",
    "abspath",
    "realpath",
    "resolve",
    "fspath",
    "normpath",
    "expanduser",
    "normalize",
    "Pathname",
    "absolute",
    "String",
];
/// Functions that join paths.
const JOINS: &[&str] = &["join", "Path", "PurePath", "resolve", "joinpath", "catfile", "joinPath"];
/// Functions that list the names in a directory.
const LISTS: &[&str] = &["listdir", "scandir", "readdir", "readdirSync", "children", "iterdir", "entries"];

/// The known values of names, and the arguments of the program.
#[derive(Default)]
pub(super) struct Values {
    pub(super) known: BTreeMap<String, Vec<Word>>,
    /// The arguments of the program, of which the first has the number `first` in its language.
    pub(super) arguments: Vec<Word>,
    /// The number of the first argument: 1 in Python, 2 for a script of node.
    pub(super) first: usize,
}

impl Values {
    pub(super) fn set(&mut self, name: &str, values: Vec<Word>) {
        self.known.insert(name.to_owned(), values);
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.known.remove(name);
    }

    /// Reads the expression at a token; returns its values and the token after it.
    pub(super) fn read(&self, tokens: &[Token], at: usize) -> Option<(Vec<Word>, usize)> {
        self.sum(tokens, at, 0)
    }

    /// Reads `a + b` or `a / b`.
    fn sum(&self, tokens: &[Token], at: usize, depth: usize) -> Option<(Vec<Word>, usize)> {
        if depth > DEEPEST {
            return None;
        }
        let (mut words, mut end) = self.term(tokens, at, depth)?;
        loop {
            let sign = match tokens.get(end) {
                Some(Token::Sign('+')) if tokens.get(end + 1) != Some(&Token::Sign('+')) => "",
                Some(Token::Sign('.')) if matches!(tokens.get(end + 1), Some(Token::Text(_))) => "",
                Some(Token::Sign('/')) => "/",
                _ => return Some((words, end)),
            };
            let (more, after) = match self.term(tokens, end + 1, depth + 1) {
                Some(term) => term,
                None => (vec![Word::Text(ANY.to_string())], skip(tokens, end + 1)),
            };
            words = put_together(&words, sign, &more);
            end = after;
        }
    }

    fn term(&self, tokens: &[Token], at: usize, depth: usize) -> Option<(Vec<Word>, usize)> {
        let (words, end) = match tokens.get(at)? {
            Token::Text(text) => (vec![self.filled(text)], at + 1),
            Token::Sign('(') => {
                let (words, end) = self.list(tokens, at + 1, depth + 1)?;
                (words, end + 1)
            }
            Token::Sign('[') => {
                let (words, end) = self.list(tokens, at + 1, depth + 1)?;
                (words, end + 1)
            }
            Token::Name(name) => self.name(tokens, at, name, depth)?,
            Token::Sign(_) => return None,
        };
        Some(self.methods(tokens, words, end, depth))
    }

    fn name(&self, tokens: &[Token], at: usize, name: &str, depth: usize) -> Option<(Vec<Word>, usize)> {
        let next = tokens.get(at + 1);
        if let Some(found) = self.argument(tokens, at, name) {
            return Some(found);
        }
        if let Some(words) = self.known.get(name).filter(|_| next != Some(&Token::Sign('('))) {
            return Some((words.clone(), at + 1));
        }
        match (name, next) {
            ("cwd" | "getcwd", Some(Token::Sign('('))) => Some((vec![Word::Text(".".into())], at + 3)),
            ("__dirname", _) => Some((vec![Word::Text(".".into())], at + 1)),
            ("await" | "my" | "new" | "const", _) => self.term(tokens, at + 1, depth + 1),
            (_, Some(Token::Sign('('))) => self.call(tokens, at, name, depth),
            ("glob", Some(Token::Text(pattern))) => Some((vec![Word::Glob(pattern.clone())], at + 2)),
            // `pathlib.Path("x")`, `os.path.join(…)`
            (_, Some(Token::Sign('.'))) if matches!(tokens.get(at + 2), Some(Token::Name(_))) => {
                self.term(tokens, at + 2, depth + 1)
            }
            _ => None,
        }
    }

    /// Reads arguments of the program: `sys.argv[1]`, `process.argv[2]`, `$ARGV[0]`.
    fn argument(&self, tokens: &[Token], at: usize, name: &str) -> Option<(Vec<Word>, usize)> {
        if !matches!(name, "argv" | "ARGV") {
            return None;
        }
        match tokens.get(at + 1..at + 4) {
            Some([Token::Sign('['), Token::Name(number), Token::Sign(']')]) => {
                let number: usize = number.parse().ok()?;
                Some((vec![self.arguments.get(number.checked_sub(self.first)?)?.clone()], at + 4))
            }
            _ if self.arguments.is_empty() => None,
            _ => {
                // `argv[1:]`, `argv.slice(2)` and `@ARGV` stand for all arguments.
                let end = match tokens.get(at + 1) {
                    Some(Token::Sign('[')) => tokens[at..]
                        .iter()
                        .position(|token| *token == Token::Sign(']'))
                        .map_or(at + 1, |end| at + end + 1),
                    _ => at + 1,
                };
                Some((self.arguments.clone(), end))
            }
        }
    }

    fn call(&self, tokens: &[Token], at: usize, name: &str, depth: usize) -> Option<(Vec<Word>, usize)> {
        let close = closing(tokens, at + 1)?;
        let arguments = self.arguments_of(tokens, at + 2, depth + 1);
        let words = match name {
            "glob" | "iglob" | "globSync" => arguments
                .first()?
                .as_ref()?
                .iter()
                .map(|word| Word::Glob(word.shape().unwrap_or_default().to_owned()))
                .collect(),
            "walk" => arguments.first()?.as_ref()?.iter().map(below).collect(),
            _ if LISTS.contains(&name) => vec![Word::Text(ANY.to_string())],
            _ if JOINS.contains(&name) && arguments.len() > 1 => {
                let any = vec![Word::Text(ANY.to_string())];
                let mut parts = arguments.into_iter().map(|argument| argument.unwrap_or_else(|| any.clone()));
                let first = parts.next()?;
                parts.fold(first, |path, part| put_together(&path, "/", &part))
            }
            _ if SAME.contains(&name) => arguments.into_iter().next()??,
            "sorted" | "list" | "set" | "reversed" | "Array" | "from" => arguments.into_iter().next()??,
            _ => return None,
        };
        Some((words, close + 1))
    }

    /// Applies methods to a path: `.parent`, `.rglob("*.rs")`, `.with_suffix(".x")`.
    fn methods(
        &self,
        tokens: &[Token],
        mut words: Vec<Word>,
        mut end: usize,
        depth: usize,
    ) -> (Vec<Word>, usize) {
        while let (Some(Token::Sign('.')), Some(Token::Name(name))) = (tokens.get(end), tokens.get(end + 1)) {
            let is_call = tokens.get(end + 2) == Some(&Token::Sign('('));
            let close = if is_call { closing(tokens, end + 2) } else { Some(end + 1) };
            let Some(close) = close else { break };
            let arguments = if is_call { self.arguments_of(tokens, end + 3, depth + 1) } else { Vec::new() };
            let first = arguments.into_iter().next().flatten();
            words = match (name.as_str(), first) {
                (
                    "resolve" | "absolute" | "expanduser" | "sort" | "filter" | "to_s" | "toString" | "strip"
                    | "trim",
                    _,
                ) => words,
                ("parent", None) if !is_call => words.iter().map(parent).collect(),
                ("joinpath" | "join", Some(more)) if is_call => put_together(&words, "/", &more),
                ("glob" | "rglob", Some(patterns)) => {
                    let deep = if name == "rglob" { "/**/" } else { "/" };
                    let under = |word: &Word| {
                        patterns
                            .iter()
                            .map(|pattern| {
                                Word::Glob(format!(
                                    "{}{deep}{}",
                                    escaped(word),
                                    pattern.shape().unwrap_or("*")
                                ))
                            })
                            .collect::<Vec<_>>()
                    };
                    words.iter().flat_map(under).collect()
                }
                ("iterdir", _) => {
                    words.iter().map(|word| Word::Glob(format!("{}/*", escaped(word)))).collect()
                }
                ("with_suffix" | "with_name" | "with_stem", _) => {
                    words.iter().map(|word| join_any(&parent(word))).collect()
                }
                _ => break,
            };
            end = close + 1;
        }
        words.truncate(MOST);
        (words, end)
    }

    /// Reads the elements of `("a", "b")`; returns them and the position of the closing bracket.
    fn list(&self, tokens: &[Token], at: usize, depth: usize) -> Option<(Vec<Word>, usize)> {
        let mut words = Vec::new();
        let mut at = at;
        loop {
            // An element that is not known counts as an element.
            let (more, end) = match self.sum(tokens, at, depth) {
                Some(sum) => sum,
                None => (vec![Word::Unknown], self.element_end(tokens, at)?),
            };
            words.extend(more);
            match tokens.get(end)? {
                Token::Sign(',') if matches!(tokens.get(end + 1), Some(Token::Sign(')' | ']'))) => {
                    return Some((words, end + 1));
                }
                Token::Sign(',') => at = end + 1,
                Token::Sign(')' | ']') => return Some((words, end)),
                _ => return None,
            }
            if words.len() > MOST {
                return None;
            }
        }
    }

    /// Finds the end of an element in a list.
    fn element_end(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let mut at = at;
        loop {
            match tokens.get(at)? {
                Token::Sign('(' | '[' | '{') => at = closing(tokens, at)? + 1,
                Token::Sign(',' | ')' | ']') => return Some(at),
                Token::Sign(';') => return None,
                _ => at += 1,
            }
        }
    }

    /// Reads the arguments of a call; `None` for each that is not known.
    pub(super) fn arguments_of(&self, tokens: &[Token], from: usize, depth: usize) -> Vec<Option<Vec<Word>>> {
        if depth > DEEPEST {
            return Vec::new();
        }
        let one = |at: usize| self.sum(tokens, at, depth + 1).map(|(words, _)| words);
        let mut arguments = vec![one(from)];
        let mut open = 0;
        for (at, token) in tokens.iter().enumerate().skip(from) {
            match token {
                Token::Sign('(' | '{' | '[') => open += 1,
                Token::Sign(')' | '}' | ']') if open == 0 => break,
                Token::Sign(')' | '}' | ']') => open -= 1,
                Token::Sign(';') if open == 0 => break,
                Token::Sign(',') if open == 0 => arguments.push(one(at + 1)),
                _ => {}
            }
            if arguments.len() > MOST {
                break;
            }
        }
        arguments
    }

    /// Puts the known values of names into a text.
    fn filled(&self, text: &str) -> Word {
        if !text.contains(OPEN) {
            return Word::Text(text.to_owned());
        }
        let mut filled = String::new();
        for (at, part) in text.split([OPEN, CLOSE]).enumerate() {
            let value = match (at % 2, self.known.get(part).map(Vec::as_slice)) {
                (0, _) => part.to_owned(),
                (_, Some([Word::Text(text)])) => text.clone(),
                _ => ANY.to_string(),
            };
            filled.push_str(&value);
        }
        Word::Text(filled)
    }
}

/// Finds the bracket that closes the one at `open`.
pub(super) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Finds roughly the end of an expression that is not known.
fn skip(tokens: &[Token], at: usize) -> usize {
    match tokens.get(at + 1) {
        Some(Token::Sign('(' | '[')) => closing(tokens, at + 1).map_or(at + 1, |end| end + 1),
        _ => at + 1,
    }
}

fn put_together(left: &[Word], sign: &str, right: &[Word]) -> Vec<Word> {
    let one = |left: &Word, right: &Word| match (left, right) {
        (Word::Text(_), Word::Text(right)) if sign == "/" && right.starts_with('/') => {
            Word::Text(right.clone())
        }
        (Word::Text(left), Word::Text(right)) => Word::Text(format!("{left}{sign}{right}")),
        (Word::Glob(left), Word::Text(right)) if sign == "/" => {
            Word::Glob(format!("{left}/{}", escape(right)))
        }
        // A new name, made from the name of an existing file.
        (Word::Glob(left), _) => {
            let end = left.find(['*', '?', '[']).unwrap_or(left.len());
            Word::Text(format!("{}{ANY}", left[..end].rfind('/').map_or("", |at| &left[..=at])))
        }
        (Word::Text(left), Word::Glob(right)) => Word::Glob(format!("{}{sign}{right}", escape(left))),
        _ => Word::Unknown,
    };
    left.iter().flat_map(|left| right.iter().map(move |right| one(left, right))).take(MOST).collect()
}

fn parent(word: &Word) -> Word {
    match word {
        Word::Text(path) if matches!(path.as_str(), "." | "") => Word::Text("..".into()),
        Word::Text(path) => Word::Text(path.rsplit_once('/').map_or(".", |(parent, _)| parent).to_owned()),
        _ => Word::Unknown,
    }
}

fn join_any(word: &Word) -> Word {
    match word {
        Word::Text(path) => Word::Text(format!("{path}/{ANY}")),
        _ => Word::Unknown,
    }
}

fn escaped(word: &Word) -> String {
    match word {
        Word::Text(path) => escape(path.trim_end_matches('/')),
        Word::Glob(pattern) => pattern.clone(),
        Word::Unknown => String::new(),
    }
}

/// Makes a pattern for everything below a path.
fn below(word: &Word) -> Word {
    Word::Glob(format!("{}/**", escaped(word)))
}
