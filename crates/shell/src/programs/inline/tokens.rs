//! Splits a program in Python, JavaScript, Perl, Ruby or PHP into tokens, as far as these languages
//! have them in common.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    /// A text without its quotes; the name of an inserted value is between [`OPEN`] and [`CLOSE`].
    Text(String),
    Sign(char),
}

/// Marks around the name of a value that is inserted into a text.
pub(super) const OPEN: char = '\u{1}';
pub(super) const CLOSE: char = '\u{2}';

/// A program longer than this is not read.
const LONGEST: usize = 16 << 10;

pub(super) fn tokens(code: &str, by: &str) -> Vec<Token> {
    if code.len() > LONGEST {
        return Vec::new();
    }
    let runs = matches!(by, "perl" | "ruby" | "php");
    let has_slashes = matches!(by, "node" | "nodejs" | "bun" | "deno" | "php");
    let mut tokens = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                let text = text(&mut chars, c, fills(by, c));
                // Text in backticks is run as a command.
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
            '#' if !has_slashes => while chars.next_if(|c| *c != '\n').is_some() {},
            '/' if has_slashes && chars.peek() == Some(&'/') => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            '$' | '@' | '%' if runs => {}
            c if c.is_alphanumeric() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                let is_prefix = by.starts_with("python")
                    && name.len() <= 2
                    && name.to_lowercase().chars().all(|c| "rbfu".contains(c));
                match chars.peek().copied().filter(|c| is_prefix && matches!(c, '\'' | '"')) {
                    Some(quote) => {
                        chars.next();
                        let fills = name.to_lowercase().contains('f').then_some('{');
                        tokens.push(Token::Text(text(&mut chars, quote, fills)));
                    }
                    None => tokens.push(Token::Name(name)),
                }
            }
            c if c.is_whitespace() => {}
            c => tokens.push(Token::Sign(c)),
        }
    }
    tokens
}

/// Returns the sign that begins an inserted value in a text with that quote: `{x}`, `${x}`, `$x`, `#{x}`.
fn fills(by: &str, quote: char) -> Option<char> {
    match (by, quote) {
        ("node" | "nodejs" | "bun" | "deno", '`') | ("perl" | "php", '"') => Some('$'),
        ("ruby", '"') => Some('#'),
        _ => None,
    }
}

fn text(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char, fills: Option<char>) -> String {
    let mut text = String::new();
    let is_long = is_triple(chars, quote);
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c) => text.push(c),
                None => {}
            },
            _ if c == quote && !is_long => break,
            _ if c == quote && is_triple(chars, quote) => break,
            _ if Some(c) == fills => {
                let has_brace = c == '{' || chars.next_if_eq(&'{').is_some();
                let mut name = String::new();
                let is_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '[' | ']' | '.');
                while let Some(c) =
                    chars.next_if(|c| if has_brace { *c != '}' && *c != quote } else { is_name(c) })
                {
                    name.push(c);
                }
                if has_brace {
                    chars.next_if_eq(&'}');
                }
                text.extend([OPEN].into_iter().chain(name.chars()).chain([CLOSE]));
            }
            c => text.push(c),
        }
    }
    text
}

/// Skips two more of these quotes, if they follow; returns whether they did.
fn is_triple(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> bool {
    let mut ahead = chars.clone();
    let is_triple = ahead.next() == Some(quote) && ahead.next() == Some(quote);
    if is_triple {
        *chars = ahead;
    }
    is_triple
}
