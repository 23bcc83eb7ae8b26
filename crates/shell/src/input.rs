//! What a command is given to read: by a here-document, a here-string, or the command
//! before it in a pipeline.

use rable::Node;
use rable::NodeKind;

use crate::walk::Walk;
use crate::words::Word;

/// What a command reads, as far as the text tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Input {
    #[default]
    Unknown,
    Text(String),
    /// One in each line: names, or patterns that stand for what they match.
    Words(Vec<Word>),
}

impl Input {
    /// The text of a script.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Unknown | Self::Words(_) => None,
        }
    }

    /// Its words, as `xargs` takes them.
    pub(crate) fn words(&self) -> Option<Vec<Word>> {
        match self {
            Self::Words(words) => Some(words.clone()),
            Self::Text(text) => Some(text.split_whitespace().map(|word| Word::Text(word.into())).collect()),
            Self::Unknown => None,
        }
    }
}

impl Walk<'_> {
    /// What the redirections of a command give it to read.
    pub(crate) fn input_of(&self, redirects: &[Node]) -> Option<Input> {
        redirects.iter().rev().find_map(|node| match &node.kind {
            NodeKind::HereDoc { content, quoted, .. } => {
                let is_told = !content.is_empty() && (*quoted || !content.contains(['$', '`']));
                Some(if is_told { Input::Text(content.clone()) } else { Input::Unknown })
            }
            NodeKind::Redirect { op, target, .. } if op == "<<<" => match self.fields(target).as_slice() {
                [Word::Text(text)] => Some(Input::Text(text.clone())),
                _ => Some(Input::Unknown),
            },
            NodeKind::Redirect { op, target, .. } if op == "<" => match self.fields(target).as_slice() {
                [Word::Text(path)] => Some(self.file(path).map_or(Input::Unknown, Input::Text)),
                _ => Some(Input::Unknown),
            },
            _ => None,
        })
    }

    /// What a command writes to the next one.
    pub(crate) fn output_of(&self, node: &Node) -> Input {
        let NodeKind::Command { words, redirects, .. } = &node.kind else { return Input::Unknown };
        if redirects
            .iter()
            .any(|node| matches!(&node.kind, NodeKind::Redirect { fd: 1, op, .. } if op != "<"))
        {
            return Input::Unknown;
        }
        let words: Vec<Word> = words.iter().flat_map(|word| self.fields(word)).collect();
        let Some((Word::Text(program), rest)) = words.split_first() else { return Input::Unknown };
        let texts = || rest.iter().map(Word::text).collect::<Option<Vec<&str>>>();
        match program.as_str() {
            "echo" => match texts() {
                Some(texts) if !texts.iter().any(|text| text.starts_with('-')) => {
                    Input::Text(texts.join(" "))
                }
                _ => Input::Unknown,
            },
            "printf" => texts().and_then(|texts| printf(&texts)).map_or(Input::Unknown, Input::Text),
            "cat" if !rest.is_empty() => {
                let texts = rest.iter().map(|word| word.text().and_then(|path| self.file(path)));
                texts
                    .collect::<Option<Vec<String>>>()
                    .map_or(Input::Unknown, |texts| Input::Text(texts.concat()))
            }
            "cat" if rest.is_empty() => self.input_of(redirects).unwrap_or_else(|| self.input.clone()),
            "sort" | "uniq"
                if rest.iter().all(|word| word.shape().is_some_and(|word| word.starts_with('-'))) =>
            {
                self.input.clone()
            }
            "ls" => ls(rest),
            "find" => crate::programs::found(rest).map_or(Input::Unknown, Input::Words),
            "git" => match texts().as_deref() {
                Some(["ls-files"]) => Input::Words(vec![Word::Glob("**".into())]),
                Some(["ls-files", paths @ ..]) if !paths.iter().any(|path| path.starts_with('-')) => {
                    if paths.iter().any(|path| path.contains('*')) {
                        let any = |path: &&str| {
                            Word::Glob(format!("**/{}", path.rsplit('/').next().unwrap_or(path)))
                        };
                        return Input::Words(paths.iter().map(any).collect());
                    }
                    let below = |path: &&str| Word::Glob(format!("{}/**", path.trim_end_matches('/')));
                    let itself = |path: &&str| Word::Text((*path).to_owned());
                    Input::Words(paths.iter().map(itself).chain(paths.iter().map(below)).collect())
                }
                _ => Input::Unknown,
            },
            _ => Input::Unknown,
        }
    }
}

/// `printf` with a format that only puts words in lines.
fn printf(words: &[&str]) -> Option<String> {
    let (format, values) = words.split_first()?;
    let format = format.replace("\\n", "\n").replace("\\t", "\t").replace("%%", "%");
    let count = format.matches("%s").count();
    if format.contains('%') && count != format.matches('%').count() || format.contains('\\') {
        return None;
    }
    if count == 0 {
        return Some(format);
    }
    let filled = values.chunks(count).map(|some| {
        let filled = some.iter().fold(format.clone(), |text, value| text.replacen("%s", value, 1));
        filled.replace("%s", "")
    });
    Some(filled.collect())
}

/// `ls` names files as it was given them; what is in a directory it names otherwise.
fn ls(words: &[Word]) -> Input {
    let is_option = |word: &&Word| word.shape().is_some_and(|word| word.starts_with('-'));
    let names_itself =
        words.iter().filter(is_option).any(|word| word.shape().is_some_and(|o| o.contains('d')));
    let files: Vec<Word> = words.iter().filter(|word| !is_option(word)).cloned().collect();
    let is_file = |word: &Word| match word {
        Word::Glob(pattern) => {
            names_itself || pattern.rsplit('/').next().is_some_and(|name| name.contains('.'))
        }
        Word::Text(path) => names_itself || path.rsplit('/').next().is_some_and(|name| name.contains('.')),
        Word::Unknown => false,
    };
    if files.is_empty() || !files.iter().all(is_file) { Input::Unknown } else { Input::Words(files) }
}
