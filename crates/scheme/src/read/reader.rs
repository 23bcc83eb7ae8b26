//! The parser of Scheme source. It returns one form at a time, so that the forms
//! before a mistake can be used.

use crate::error::Error;
use crate::error::Position;
use crate::meter;
use crate::read::Datum;
use crate::read::Form;
use crate::read::atoms;

pub(crate) struct Reader<'a> {
    text: &'a str,
    at: Position,
    nesting: usize,
    is_over: bool,
}

/// A list or a prefix that is not closed yet.
struct Level {
    opener: Opener,
    items: Vec<Datum>,
    at: Position,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opener {
    Parenthesis,
    Bracket,
    /// `'` and the other prefixes, closed by the one form that follows.
    Prefix,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, nesting: usize) -> Self {
        Self { text, at: Position { line: 1, column: 1 }, nesting, is_over: false }
    }

    /// Reads the next form; `None` at the end.
    fn form(&mut self) -> Result<Option<Datum>, Error> {
        let mut levels: Vec<Level> = Vec::new();
        loop {
            self.skip_blanks()?;
            let at = self.at;
            let Some(c) = self.peek() else {
                return match levels.pop() {
                    None => Ok(None),
                    Some(level) if level.opener == Opener::Prefix => {
                        Err(Error::new("nothing follows the quote").at(level.at))
                    }
                    Some(level) => Err(Error::new("this is never closed")
                        .hint(format!("{} more closing needed at the end", levels.len() + 1))
                        .at(level.at)),
                };
            };
            let mut done = match c {
                '(' | '[' | '\'' | '`' | ',' => {
                    if levels.len() >= self.nesting {
                        return Err(meter::too_nested(self.nesting).at(at));
                    }
                    levels.push(self.open(c, at));
                    continue;
                }
                ')' | ']' => {
                    self.advance();
                    close(c, levels.pop(), at)?
                }
                '{' | '}' => {
                    return Err(Error::new(format!("`{c}` means nothing here"))
                        .hint("make records with (dict :key value)")
                        .at(at));
                }
                '"' => {
                    self.advance();
                    Datum::new(Form::String(self.quoted('"', at)?.into()), at)
                }
                '#' => self.hash(at)?,
                _ => self.word(at)?,
            };
            while levels.last().is_some_and(|level| level.opener == Opener::Prefix) {
                if let Some(mut level) = levels.pop() {
                    level.items.push(done);
                    done = Datum::new(Form::List(level.items.into()), level.at);
                }
            }
            match levels.last_mut() {
                Some(level) => level.items.push(done),
                None => return Ok(Some(done)),
            }
        }
    }

    fn open(&mut self, c: char, at: Position) -> Level {
        self.advance();
        let prefix = match c {
            '(' => return Level { opener: Opener::Parenthesis, items: Vec::new(), at },
            '[' => return Level { opener: Opener::Bracket, items: Vec::new(), at },
            '\'' => "quote",
            '`' => "quasiquote",
            _ if self.peek() == Some('@') => {
                self.advance();
                "unquote-splicing"
            }
            _ => "unquote",
        };
        let items = vec![Datum::new(Form::Symbol(prefix.into()), at)];
        Level { opener: Opener::Prefix, items, at }
    }

    fn hash(&mut self, at: Position) -> Result<Datum, Error> {
        let form = match self.bare() {
            "#t" | "#true" => Form::Bool(true),
            "#f" | "#false" => Form::Bool(false),
            "#nil" => Form::Nil,
            other => {
                let hint = match other.chars().nth(1) {
                    Some('\\') => "there are no characters; use a string of length 1",
                    None => "there are no vectors; use a list",
                    _ => "#t and #f are all that begins with #",
                };
                let shown: String = other.chars().take(20).collect();
                return Err(Error::new(format!("`{shown}` means nothing here")).hint(hint).at(at));
            }
        };
        Ok(Datum::new(form, at))
    }

    /// Reads a name, a keyword or a number; `|a b|` and `:|a b|` are names that may contain anything.
    fn word(&mut self, at: Position) -> Result<Datum, Error> {
        let is_keyword = self.text.starts_with(":|");
        if is_keyword {
            self.advance();
        }
        if self.peek() == Some('|') {
            self.advance();
            let name = self.quoted('|', at)?.into();
            return Ok(Datum::new(if is_keyword { Form::Keyword(name) } else { Form::Symbol(name) }, at));
        }
        Ok(Datum::new(atoms::word(self.bare()), at))
    }

    /// Takes at least one character, and all further ones up to a delimiter.
    fn bare(&mut self) -> &'a str {
        let text = self.text;
        let first = text.chars().next().map_or(0, char::len_utf8);
        let end = text[first..].find(atoms::is_delimiter).map_or(text.len(), |end| first + end);
        self.text = &text[end..];
        self.at.column = self.at.column.saturating_add(text[..end].chars().count() as u32);
        &text[..end]
    }

    /// Reads up to `end`; `at` is the position of the opening quote or bar.
    fn quoted(&mut self, end: char, at: Position) -> Result<String, Error> {
        let mut text = String::new();
        loop {
            let place = self.at;
            match self.advance() {
                None => {
                    let what = if end == '"' { "this string" } else { "this name" };
                    return Err(Error::new(format!("{what} is never closed")).at(at));
                }
                Some(c) if c == end => return Ok(text),
                Some('\\') => text.extend(self.escaped(place)?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escaped(&mut self, at: Position) -> Result<Option<char>, Error> {
        Ok(match self.advance() {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('a') => Some('\u{7}'),
            Some('b') => Some('\u{8}'),
            Some('0') => Some('\0'),
            Some('x') => {
                let end = self.text.find(';').filter(|end| (1..=8).contains(end));
                let code = end.and_then(|end| u32::from_str_radix(&self.text[..end], 16).ok());
                let Some(c) = code.and_then(char::from_u32) else {
                    return Err(Error::new("this is no character").hint("write \\x41; for A").at(at));
                };
                while self.advance() != Some(';') {}
                Some(c)
            }
            // A backslash at the end of a line continues it.
            Some('\n') => {
                while matches!(self.peek(), Some(' ' | '\t')) {
                    self.advance();
                }
                None
            }
            other => other,
        })
    }

    fn skip_blanks(&mut self) -> Result<(), Error> {
        loop {
            match self.peek() {
                Some(';') => while self.advance().is_some_and(|c| c != '\n') {},
                Some('#') if self.text.starts_with("#|") => self.skip_block()?,
                Some(c) if c.is_whitespace() => {
                    self.advance();
                }
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment `#| … |#`, which may nest.
    fn skip_block(&mut self) -> Result<(), Error> {
        let at = self.at;
        let mut depth = 0_usize;
        loop {
            let step = match self.text {
                text if text.starts_with("#|") => {
                    depth += 1;
                    2
                }
                text if text.starts_with("|#") => {
                    depth -= 1;
                    2
                }
                _ => 1,
            };
            for _ in 0..step {
                if self.advance().is_none() {
                    return Err(Error::new("this comment is never closed").at(at));
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.text = &self.text[c.len_utf8()..];
        if c == '\n' {
            self.at = Position { line: self.at.line.saturating_add(1), column: 1 };
        } else {
            self.at.column = self.at.column.saturating_add(1);
        }
        Some(c)
    }
}

fn close(c: char, level: Option<Level>, at: Position) -> Result<Datum, Error> {
    match level {
        Some(Level { opener: Opener::Parenthesis, items, at }) if c == ')' => {
            Ok(Datum::new(Form::List(items.into()), at))
        }
        Some(Level { opener: Opener::Bracket, items, at }) if c == ']' => {
            Ok(Datum::new(Form::Brackets(items.into()), at))
        }
        Some(level) if level.opener == Opener::Prefix => {
            Err(Error::new("nothing follows the quote").at(level.at))
        }
        Some(level) => {
            Err(Error::new(format!("`{c}` does not close what was opened at {}", level.at)).at(at))
        }
        None => Err(Error::new(format!("`{c}` closes nothing")).at(at)),
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Datum, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.form().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}
