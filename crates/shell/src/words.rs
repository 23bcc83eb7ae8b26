//! Evaluates shell words: the arguments they become after the shell has expanded
//! them, as far as the text tells.

use rable::Node;
use rable::NodeKind;

use crate::braces;
use crate::input::Input;
use crate::variables::Names;

/// The mark in a path for a part that the text does not tell: `src/auth/$x` is below `src/auth`.
pub(crate) const ANY: char = '\u{fffc}';

/// The path that a program gets for `<(…)`.
pub(crate) const SUBSTITUTION_PATH: &str = "/dev/fd/63";

/// One argument, as the program gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Text(String),
    /// A pattern that the shell expands; quoted characters are escaped in it.
    Glob(String),
    /// A word with an expansion that is not known: no argument, one or many.
    Unknown,
}

impl Word {
    /// Returns the text, if it is known exactly.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Glob(_) | Self::Unknown => None,
        }
    }

    /// Returns the text or the pattern, which is enough to recognise an option.
    pub(crate) fn shape(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Glob(text) => Some(text),
            Self::Unknown => None,
        }
    }

    /// Returns a word of the same kind with other text.
    pub(crate) fn with(&self, text: &str) -> Self {
        match self {
            Self::Text(_) => Self::Text(text.into()),
            Self::Glob(_) => Self::Glob(text.into()),
            Self::Unknown => Self::Unknown,
        }
    }

    /// Returns the word with `suffix` at its end.
    pub(crate) fn append(&self, suffix: &str) -> Self {
        match self {
            Self::Text(text) => Self::Text(format!("{text}{suffix}")),
            Self::Glob(pattern) => Self::Glob(format!("{pattern}{}", escape(suffix))),
            Self::Unknown => Self::Unknown,
        }
    }
}

/// A character of a word: quoted, or bare so that the shell may expand it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordChar {
    Quoted(char),
    Bare(char),
}

/// Returns the arguments that `word` becomes.
pub(crate) fn fields(word: &Node, names: &Names<'_>) -> Vec<Word> {
    let NodeKind::Word { parts, .. } = &word.kind else {
        return vec![Word::Unknown];
    };
    // Bash gives the program a path under /dev/fd, which is not a file on the disk.
    if let [Node { kind: NodeKind::ProcessSubstitution { .. }, .. }] = parts.as_slice() {
        return vec![Word::Text(SUBSTITUTION_PATH.into())];
    }
    if let Some(arguments) = all_arguments(word, names) {
        return arguments;
    }
    // `$(ls *.rs)` becomes as many words as the command prints.
    if let [Node { kind: NodeKind::CommandSubstitution { command, .. }, .. }] = parts.as_slice()
        && let Some(words) = names.output(command, &Input::Unknown).words()
    {
        return words;
    }
    // `$CMD` becomes as many words as its value has.
    if let [Node { kind: NodeKind::ParamExpansion { param, op, arg }, .. }] = parts.as_slice()
        && let Some(Word::Text(text)) = names.expand(param, op.as_deref(), arg.as_deref())
        && text.contains(char::is_whitespace)
        && !text.contains(['*', '?', '['])
    {
        return text.split_whitespace().map(|word| Word::Text(word.to_owned())).collect();
    }
    let Some(pieces) = pieces(parts, names) else { return vec![Word::Unknown] };
    match braces::expand(&pieces) {
        Some(fields) => fields.into_iter().map(|field| value(&field, names)).collect(),
        None => vec![Word::Unknown],
    }
}

/// Escapes `text` into a pattern that matches only itself.
pub(crate) fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        push_escaped(&mut pattern, c);
    }
    pattern
}

fn push_escaped(pattern: &mut String, c: char) {
    if matches!(c, '*' | '?' | '[' | ']' | '\\') {
        pattern.push('\\');
    }
    pattern.push(c);
}

/// Expands `"$@"` and `$*` to as many words as there are arguments.
fn all_arguments(word: &Node, names: &Names<'_>) -> Option<Vec<Word>> {
    let NodeKind::Word { value, .. } = &word.kind else { return None };
    let words = match value.trim_matches('"') {
        "$@" | "$*" | "${@}" | "${*}" if value != "\"$*\"" => names.variables.arguments(),
        value => names.variables.list(value.strip_prefix("${")?.strip_suffix("[@]}")?),
    };
    words.map(<[Word]>::to_vec)
}

/// Returns the command of `<(…)`, if the word is one.
pub(crate) fn substituted(word: &Node) -> Option<&Node> {
    let NodeKind::Word { parts, .. } = &word.kind else { return None };
    match parts.as_slice() {
        [Node { kind: NodeKind::ProcessSubstitution { command, .. }, .. }] => Some(command),
        _ => None,
    }
}

/// Parses `NAME=(words)` or `NAME+=(words)`: the name, whether the words are added to those that
/// are there, and the words; `None` if the word is neither.
pub(crate) fn array(word: &Node, names: &Names<'_>) -> Option<(String, bool, Vec<Word>)> {
    let NodeKind::Word { value, .. } = &word.kind else { return None };
    let (name, list) = value.strip_suffix(')')?.split_once("=(")?;
    let nodes = rable::parse(&format!("x {list}"), false).ok()?;
    let [Node { kind: NodeKind::Command { words, .. }, .. }] = nodes.as_slice() else { return None };
    let bare = name.strip_suffix('+').unwrap_or(name);
    let words = words[1..].iter().flat_map(|word| fields(word, names)).collect();
    Some((bare.to_owned(), bare != name, words))
}

/// Parses `NAME=value`; `None` if the word is no assignment.
pub(crate) fn assignment(word: &Node, names: &Names<'_>) -> Option<(String, Word)> {
    let NodeKind::Word { value, parts, .. } = &word.kind else { return None };
    let (name, _) = value.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let bare = name.strip_suffix('+').unwrap_or(name);
    if bare.is_empty() || !bare.chars().all(is_name) {
        return None;
    }
    let pieces = pieces(parts, names).filter(|_| bare == name);
    let value =
        pieces.map(|pieces| pieces[name.chars().count() + 1..].iter().map(|piece| piece.char()).collect());
    Some((bare.to_owned(), value.map_or(Word::Unknown, Word::Text)))
}

/// Returns the characters of a word without its quotes; `None` if it contains an
/// expansion that the text does not tell.
fn pieces(parts: &[Node], names: &Names<'_>) -> Option<Vec<WordChar>> {
    let mut reader = Reader { pieces: Vec::new(), quote: Quote::None };
    for (at, part) in parts.iter().enumerate() {
        match &part.kind {
            NodeKind::WordLiteral { value } => reader.read(value)?,
            NodeKind::BraceExpansion { content } | NodeKind::LocaleString { content, .. } => {
                reader.read(content)?;
            }
            NodeKind::AnsiCQuote { decoded, .. } => {
                reader.pieces.extend(decoded.chars().map(WordChar::Quoted))
            }
            NodeKind::ParamExpansion { param, op, arg } => {
                let word = names.expand(param, op.as_deref(), arg.as_deref());
                reader.insert(word.map(|word| if is_part(parts, at) { one_of(&word) } else { word }))?;
            }
            NodeKind::ParamIndirect { param, op: None, .. } => {
                let name = names.value(param).and_then(|word| names.value(word.text()?));
                reader.insert(name)?;
            }
            NodeKind::CommandSubstitution { command, .. } => {
                reader.insert(names.output(command, &Input::Unknown).word())?;
            }
            NodeKind::ArithmeticExpansion { .. } => reader.insert(None)?,
            _ => return None,
        }
    }
    Some(reader.pieces)
}

/// Whether a word contains more than the part at `at` and quotes.
fn is_part(parts: &[Node], at: usize) -> bool {
    parts.iter().enumerate().any(|(other, part)| match &part.kind {
        NodeKind::WordLiteral { value } => !matches!(value.trim_matches(['"', '\'']), "" | "./"),
        _ => other != at,
    })
}

/// Returns a part of a longer name, for one file of a pattern: the name is new, so nothing matches it.
fn one_of(word: &Word) -> Word {
    match word {
        Word::Glob(pattern) => {
            let end = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
            let directory = pattern[..end].rfind('/').map_or("", |at| &pattern[..=at]);
            Word::Text(format!("{directory}{ANY}"))
        }
        _ => word.clone(),
    }
}

enum Quote {
    None,
    Single,
    Double,
}

/// A reader that removes quotes. A word comes in parts, and a quote may span several.
struct Reader {
    pieces: Vec<WordChar>,
    quote: Quote,
}

impl Reader {
    /// Adds the value of an expansion. An unknown value becomes [`ANY`] if the directory before it is known.
    fn insert(&mut self, word: Option<Word>) -> Option<()> {
        let is_bare = matches!(self.quote, Quote::None);
        let is_several = |text: &str| is_bare && (text.is_empty() || text.contains(char::is_whitespace));
        match word {
            Some(Word::Text(text)) if !is_several(&text) && is_bare => {
                self.pieces.extend(text.chars().map(WordChar::Bare));
            }
            Some(Word::Text(text)) if !is_several(&text) => {
                self.pieces.extend(text.chars().map(WordChar::Quoted));
            }
            // One of the files that the pattern matches.
            Some(Word::Glob(pattern)) => {
                let mut chars = pattern.chars();
                while let Some(c) = chars.next() {
                    let piece =
                        if c == '\\' { chars.next().map(WordChar::Quoted) } else { Some(WordChar::Bare(c)) };
                    self.pieces.extend(piece);
                }
            }
            _ if self.pieces.iter().any(|piece| piece.char() == '/') => {
                self.pieces.push(WordChar::Quoted(ANY))
            }
            _ => return None,
        }
        Some(())
    }

    fn read(&mut self, raw: &str) -> Option<()> {
        let mut chars = raw.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            match (&self.quote, c) {
                (Quote::Single, '\'') | (Quote::Double, '"') => self.quote = Quote::None,
                (Quote::Single, c) => self.pieces.push(WordChar::Quoted(c)),
                (Quote::None, '\'') => self.quote = Quote::Single,
                (Quote::None, '"') => self.quote = Quote::Double,
                (Quote::None, '\\') => self.pieces.extend(chars.next().map(WordChar::Quoted)),
                (Quote::Double, '\\') if matches!(next, Some('$' | '`' | '"' | '\\')) => {
                    self.pieces.extend(chars.next().map(WordChar::Quoted));
                }
                (_, '`') => return None,
                (Quote::None, '$') if next.is_some_and(|c| opens_expansion(c) || c == '\'' || c == '"') => {
                    return None;
                }
                (Quote::Double, '$') if next.is_some_and(opens_expansion) => return None,
                (Quote::Double, c) => self.pieces.push(WordChar::Quoted(c)),
                // Only an extended glob or an array has these in a word.
                (Quote::None, '(' | ')') => return None,
                (Quote::None, c) => self.pieces.push(WordChar::Bare(c)),
            }
        }
        Some(())
    }
}

fn opens_expansion(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_@*#?-$!({[".contains(c)
}

fn value(pieces: &[WordChar], names: &Names<'_>) -> Word {
    match (pieces, names.here.home) {
        ([WordChar::Bare('~')], Some(home)) => Word::Text(home.into()),
        ([WordChar::Bare('~'), rest @ ..], Some(home)) if rest.first() == Some(&WordChar::Bare('/')) => {
            let mut path: Vec<WordChar> = home.trim_end_matches('/').chars().map(WordChar::Quoted).collect();
            path.extend(rest);
            plain(&path)
        }
        ([WordChar::Bare('~'), WordChar::Bare(sign @ ('-' | '+')), rest @ ..], _) => {
            let name = if *sign == '-' { "OLDPWD" } else { "PWD" };
            let Some(Word::Text(place)) = names.value(name) else { return Word::Unknown };
            let path: Vec<WordChar> =
                place.chars().map(WordChar::Quoted).chain(rest.iter().copied()).collect();
            plain(&path)
        }
        ([WordChar::Bare('~'), ..], _) => Word::Unknown,
        _ => plain(pieces),
    }
}

fn plain(pieces: &[WordChar]) -> Word {
    if !is_glob(pieces) {
        return Word::Text(pieces.iter().map(|piece| piece.char()).collect());
    }
    let mut pattern = String::new();
    for piece in pieces {
        match piece {
            WordChar::Quoted(c) => push_escaped(&mut pattern, *c),
            WordChar::Bare(c) => pattern.push(*c),
        }
    }
    Word::Glob(pattern)
}

/// Whether the pieces contain a pattern. A `[` alone is the name of a program.
fn is_glob(pieces: &[WordChar]) -> bool {
    let closes = pieces.iter().rposition(|piece| piece.char() == ']');
    pieces.iter().enumerate().any(|(at, piece)| match piece {
        WordChar::Bare('*' | '?') => true,
        WordChar::Bare('[') => closes.is_some_and(|closes| closes > at + 1),
        _ => false,
    })
}

impl WordChar {
    pub(crate) fn char(self) -> char {
        match self {
            Self::Quoted(c) | Self::Bare(c) => c,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<Word> {
        let nodes = rable::parse(&format!("x {command}"), false).unwrap();
        let NodeKind::Command { words, .. } = &nodes[0].kind else { panic!("{command} is no command") };
        let here = crate::ShellContext { home: Some("/home/me"), ..crate::ShellContext::default() };
        let (place, variables) = (crate::place::Place::start(), crate::variables::Variables::default());
        let names = Names {
            here,
            place: &place,
            variables: &variables,
            made: &[],
            before: None,
            writes: &[],
            is_certain: true,
        };
        words[1..].iter().flat_map(|word| fields(word, &names)).collect()
    }

    fn text(text: &str) -> Word {
        Word::Text(text.into())
    }

    fn glob(pattern: &str) -> Word {
        Word::Glob(pattern.into())
    }

    #[test]
    fn quotes_come_off() {
        for (word, expected) in [
            ("a", "a"),
            ("'a b'", "a b"),
            ("\"a b\"", "a b"),
            ("a\\ b", "a b"),
            ("a'b'\"c\"d", "abcd"),
            ("''", ""),
            ("'it'\\''s'", "it's"),
            ("$'a\\nb\\x41'", "a\nbA"),
            ("\"a\\$b\\\"c\\d\"", "a$b\"c\\d"),
            ("'$x `y`'", "$x `y`"),
            ("\"$\"", "$"),
            ("\"a$'b'\"", "a$'b'"),
            ("a$", "a$"),
            ("$\"hi\"", "hi"),
            ("naïve/日本語.txt", "naïve/日本語.txt"),
            ("'a\nb'", "a\nb"),
            ("[", "["),
            ("a[", "a["),
            ("'*'", "*"),
            ("~/x", "/home/me/x"),
            ("~", "/home/me"),
            ("'~/x'", "~/x"),
            ("a~", "a~"),
        ] {
            assert_eq!(words(word), [text(expected)], "{word}");
        }
    }

    #[test]
    fn expansions_are_not_guessed() {
        for word in [
            "$x", "\"$x\"", "a${x}b", "$(y)", "`y`", "\"`y`\"", "$((1+1))", "$[1]", "~other/x", "{$a,b}",
            "$@", "\"a $1\"", "+(a)", "a<(b)",
        ] {
            assert_eq!(words(word), [Word::Unknown], "{word}");
        }
    }

    #[test]
    fn a_glob_keeps_what_was_quoted_apart() {
        assert_eq!(words("*.rs"), [glob("*.rs")]);
        assert_eq!(words("'a*'?"), [glob("a\\*?")]);
        assert_eq!(words("a[0-9]"), [glob("a[0-9]")]);
        assert_eq!(words("~/*.txt"), [glob("/home/me/*.txt")]);
        assert_eq!(words("\\*"), [text("*")]);
    }

    #[test]
    fn braces_become_words() {
        assert_eq!(words("a{b,c}d"), [text("abd"), text("acd")]);
        assert_eq!(words("{a,{b,c}}x"), [text("ax"), text("bx"), text("cx")]);
        assert_eq!(words("{a,'b,c'}"), [text("a"), text("b,c")]);
        assert_eq!(words("x{,.bak}"), [text("x"), text("x.bak")]);
        assert_eq!(words("{1..3}"), [text("1"), text("2"), text("3")]);
        assert_eq!(words("{c..a}"), [text("c"), text("b"), text("a")]);
        assert_eq!(words("{1..7..3}"), [text("1"), text("4"), text("7")]);
        assert_eq!(words("{a,b}*"), [glob("a*"), glob("b*")]);
        assert_eq!(words("'{a,b}'"), [text("{a,b}")]);
        assert_eq!(words("{a}"), [text("{a}")]);
        assert_eq!(words("{}"), [text("{}")]);
        assert_eq!(words("{1..100000}"), [Word::Unknown]);
        assert_eq!(words("{08..10}"), [text("08"), text("09"), text("10")]);
        assert_eq!(words("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), [Word::Unknown]);
    }
}
