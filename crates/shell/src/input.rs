//! The standard input of a shell command, as far as the text tells: a here-document, a here-string,
//! a file, or the output of the command before it in a pipeline.

use rable::Node;
use rable::NodeKind;

use crate::variables::Names;
use crate::words;
use crate::words::Word;

/// The standard input of a command, as far as the text tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Input {
    #[default]
    Unknown,
    Text(String),
    /// Lines of one word each: a name, or a pattern for all names that match.
    Words(Vec<Word>),
    /// The content of a file, compressed or not.
    File(String),
    /// An archive with these members.
    Packed(Vec<Word>),
    /// The output of `git diff` for this range and these paths.
    Patch {
        range: Vec<String>,
        paths: Vec<String>,
    },
}

impl Input {
    /// Returns the input as text: the text of a script.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the words of the input, as `xargs` splits it.
    pub(crate) fn words(&self) -> Option<Vec<Word>> {
        match self {
            Self::Words(words) => Some(words.clone()),
            Self::Text(text) => {
                let is_between = |c: char| c == '\0' || c.is_whitespace() && !text.contains('\0');
                let words = text.split(is_between).filter(|word| !word.is_empty());
                Some(words.map(|word| Word::Text(word.into())).collect())
            }
            _ => None,
        }
    }

    /// Returns the lines of the input, as `while read` splits it.
    pub(crate) fn lines(&self) -> Option<Vec<Word>> {
        match self {
            Self::Words(words) => Some(words.clone()),
            Self::Text(text) => {
                let lines = text.split(['\n', '\0']).filter(|line| !line.is_empty());
                Some(lines.map(|line| Word::Text(line.trim().into())).collect())
            }
            _ => None,
        }
    }

    /// Returns the input as one word in quotes.
    pub(crate) fn word(&self) -> Option<Word> {
        match self {
            Self::Text(text) => Some(Word::Text(text.trim_end_matches('\n').to_owned())),
            Self::Words(words) => match words.as_slice() {
                [word] => Some(word.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Names<'_> {
    /// Returns the input that the redirections of a command give it.
    pub(crate) fn input_of(&self, redirects: &[Node]) -> Option<Input> {
        redirects.iter().rev().find_map(|node| match &node.kind {
            NodeKind::HereDoc { content, quoted, .. } => {
                let is_told = !content.is_empty() && (*quoted || !content.contains(['$', '`']));
                Some(if is_told { Input::Text(content.clone()) } else { Input::Unknown })
            }
            NodeKind::Redirect { op, target, .. } if op == "<<<" => {
                Some(match words::fields(target, self).as_slice() {
                    [Word::Text(text)] => Input::Text(text.clone()),
                    [word @ Word::Glob(_)] => Input::Words(vec![word.clone()]),
                    _ => Input::Unknown,
                })
            }
            NodeKind::Redirect { op, target, .. } if op == "<" => match words::substituted(target) {
                Some(command) => Some(self.output(command, &Input::Unknown)),
                None => Some(match words::fields(target, self).as_slice() {
                    [Word::Text(path)] => self.file(path).map_or(Input::File(path.clone()), Input::Text),
                    _ => Input::Unknown,
                }),
            },
            _ => None,
        })
    }
}
