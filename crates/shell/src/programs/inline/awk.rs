//! Finds the files that an `awk` program writes and the commands it runs, where their names are in its text.

use super::tokens::Token;
use super::tokens::tokens;
use crate::Extent;
use crate::walk::Walk;
use crate::words::Word;

/// Records the files that an awk program writes, and follows the commands it runs, where it names them.
pub(in crate::programs) fn awk(walk: &mut Walk<'_>, by: &str, code: &str, set: &[(&str, &str)]) {
    let tokens = tokens(&super::running(walk, code, by), by);
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
