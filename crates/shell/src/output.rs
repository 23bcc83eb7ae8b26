//! Computes the output of a shell command, as far as its text tells: for the next command in a
//! pipeline, for `$(…)`, and for `<(…)`.

use rable::Node;
use rable::NodeKind;

use crate::input::Input;
use crate::programs;
use crate::variables::Names;
use crate::words;
use crate::words::Word;

/// The output of `uname` on this machine.
const SYSTEM: Option<&str> = if cfg!(target_os = "linux") {
    Some("Linux")
} else if cfg!(target_os = "macos") {
    Some("Darwin")
} else {
    None
};

impl Names<'_> {
    /// Returns the output of `node` if it reads `input`.
    pub(crate) fn output(&self, node: &Node, input: &Input) -> Input {
        match &node.kind {
            NodeKind::Command { redirects, .. } if redirects.iter().any(takes_output) => Input::Unknown,
            NodeKind::Command { .. } => self.printed(node, input),
            NodeKind::Pipeline { commands, .. } => {
                commands.iter().fold(input.clone(), |input, command| self.output(command, &input))
            }
            NodeKind::Subshell { body, .. } | NodeKind::BraceGroup { body, .. } => self.output(body, input),
            NodeKind::List { items } => match items.as_slice() {
                // `$(cd "$(dirname "$0")/.." && pwd)`
                [cd, rest] if let Some(place) = self.entered(&cd.command) => {
                    Names { place: &place, ..*self }.output(&rest.command, input)
                }
                _ => {
                    let printed = items.iter().map(|item| match self.output(&item.command, input) {
                        Input::Text(text) => Some(format!("{}\n", text.trim_end_matches('\n'))),
                        _ => None,
                    });
                    printed.collect::<Option<String>>().map_or(Input::Unknown, Input::Text)
                }
            },
            _ => Input::Unknown,
        }
    }

    /// Returns the directory that a `cd` changes to; `None` for other commands.
    fn entered(&self, node: &Node) -> Option<crate::place::Place> {
        let NodeKind::Command { words, .. } = &node.kind else { return None };
        let words: Vec<Word> = words.iter().flat_map(|word| words::fields(word, self)).collect();
        match words.as_slice() {
            [Word::Text(program), Word::Text(directory)] if program == "cd" => {
                Some(self.place.enter(directory))
            }
            _ => None,
        }
    }

    /// Returns the output of one command, whatever its redirections do with it.
    pub(crate) fn printed(&self, node: &Node, input: &Input) -> Input {
        let NodeKind::Command { words, redirects, .. } = &node.kind else { return Input::Unknown };
        let words: Vec<Word> = words.iter().flat_map(|word| words::fields(word, self)).collect();
        let Some((Word::Text(program), rest)) = words.split_first() else { return Input::Unknown };
        let given = self.input_of(redirects);
        let input = given.as_ref().unwrap_or(input);
        match program.as_str() {
            "cat" if rest.is_empty() => return input.clone(),
            "sort" | "uniq" if rest.iter().all(is_option) => return input.clone(),
            "ls" => return ls(rest),
            "echo"
                if rest.iter().any(|word| matches!(word, Word::Glob(_)))
                    && rest.iter().all(|word| word.shape().is_some()) =>
            {
                return Input::Words(rest.to_vec());
            }
            "printf"
                if let [Word::Text(format), values @ ..] = rest
                    && matches!(format.as_str(), "%s\\n" | "%s\\0" | "%s " | "%q\\n")
                    && values.iter().any(|word| matches!(word, Word::Glob(_))) =>
            {
                return Input::Words(values.to_vec());
            }
            "find" => return programs::found(rest).map_or(Input::Unknown, Input::Words),
            _ => {}
        }
        let Some(rest) = rest.iter().map(Word::text).collect::<Option<Vec<&str>>>() else {
            return Input::Unknown;
        };
        match (program.as_str(), rest.as_slice()) {
            ("git", ["archive", rest @ ..]) => archive(rest),
            ("git", rest) => self.git(rest),
            ("cat" | "zcat" | "gzcat" | "bzcat" | "xzcat" | "zstdcat", [path])
                if self.file(path).is_none() =>
            {
                Input::File((*path).to_owned())
            }
            (
                "gunzip" | "gzip" | "bunzip2" | "bzip2" | "unxz" | "xz" | "zstd",
                ["-c" | "-dc" | "-cd", path],
            ) => Input::File((*path).to_owned()),
            ("cat" | "gunzip" | "gzip" | "zstd" | "xz", []) | (_, ["-d" | "-dc"])
                if matches!(input, Input::File(_)) =>
            {
                input.clone()
            }
            ("tar", [letters, rest @ ..]) if letters.contains('c') => {
                let rest = rest.iter().filter(|word| !word.starts_with('-'));
                Input::Packed(rest.map(|word| Word::Text((*word).to_owned())).collect())
            }
            ("grep", [pattern]) => grep(pattern, input),
            (program, rest) => self.text(program, rest).map_or(Input::Unknown, Input::Text),
        }
    }

    /// Returns the output of a command that does not list files.
    fn text(&self, program: &str, rest: &[&str]) -> Option<String> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        match (program, rest) {
            ("echo", ["-n", rest @ ..]) => Some(rest.join(" ")),
            ("echo", ["-e", rest @ ..]) => unescape(&rest.join(" ")),
            ("echo", rest) if !rest.iter().any(|text| text.starts_with('-')) => Some(rest.join(" ")),
            ("printf", rest) => printf(rest),
            ("cat", paths) => paths.iter().map(|path| self.file(path)).collect(),
            ("uname", [] | ["-s"]) => Some(SYSTEM?.to_owned()),
            ("pwd", [] | ["-P" | "-L"]) => self.cwd(),
            ("dirname", [path]) => Some(path.rsplit_once('/').map_or(".", |(dir, _)| dir).to_owned()),
            ("basename", [path]) => Some(name(path)),
            ("basename", [path, suffix]) => {
                let name = name(path);
                Some(name.strip_suffix(suffix).unwrap_or(&name).to_owned())
            }
            _ => None,
        }
    }

    fn git(&self, words: &[&str]) -> Input {
        match words {
            ["rev-parse", "--show-toplevel"] => {
                self.here.worktree.map_or(Input::Unknown, |worktree| Input::Text(worktree.to_owned()))
            }
            ["ls-files", rest @ ..] => {
                let is_plain = |option: &&str| matches!(*option, "-z" | "-c" | "--cached" | "--");
                let paths: Vec<&str> = rest.iter().filter(|word| !is_plain(word)).copied().collect();
                if paths.iter().any(|path| path.starts_with('-')) {
                    return Input::Unknown;
                }
                Input::Words(ls_files(&paths))
            }
            // Without a revision, or with a path, only git itself can tell.
            ["diff", rest @ ..] if rest.iter().any(|word| looks_like_path(word)) => Input::Unknown,
            ["diff", rest @ ..] => differing(rest, |range| range.to_vec()),
            ["show", rest @ ..] => differing(rest, |of| match of {
                [commit] => vec![format!("{commit}^"), commit.clone()],
                _ => Vec::new(),
            }),
            ["format-patch", rest @ ..] if rest.contains(&"--stdout") => differing(rest, |of| match of {
                [commit] if rest.contains(&"-1") => vec![format!("{commit}^"), commit.clone()],
                [range] if range.contains("..") => vec![range.replacen("..", "...", 1)],
                _ => Vec::new(),
            }),
            _ => Input::Unknown,
        }
    }
}

/// Returns the members of the archive that `git archive` prints.
pub(crate) fn archive(words: &[&str]) -> Input {
    let prefix = words.iter().find_map(|word| word.strip_prefix("--prefix=")).unwrap_or_default();
    let operands: Vec<&&str> = words.iter().filter(|word| !word.starts_with('-')).collect();
    Input::Packed(match operands.as_slice() {
        [] => return Input::Unknown,
        [_] => vec![Word::Glob(format!("{}**", words::escape(prefix)))],
        [_, paths @ ..] => paths.iter().map(|path| Word::Text(format!("{prefix}{path}"))).collect(),
    })
}

/// Returns the patch that a git command prints which compares commits.
fn differing(words: &[&str], range: impl Fn(&[String]) -> Vec<String>) -> Input {
    let (revisions, paths) = match words.iter().position(|word| *word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    let is_telling = |word: &&&str| word.starts_with("--name") || word.starts_with("--stat");
    let revisions: Vec<String> = revisions
        .iter()
        .filter(|word| !word.starts_with('-') || is_telling(word))
        .map(|word| (*word).to_owned())
        .collect();
    let range = range(&revisions);
    if range.is_empty() || range.iter().any(|word| word.starts_with('-')) {
        return Input::Unknown;
    }
    Input::Patch { range, paths: paths.iter().map(|path| (*path).to_owned()).collect() }
}

/// Whether a word looks like a path (`src/a.rs`), and not like a branch.
fn looks_like_path(word: &str) -> bool {
    !word.starts_with('-')
        && !word.contains("..")
        && word.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

fn ls_files(paths: &[&str]) -> Vec<Word> {
    if paths.is_empty() {
        return vec![Word::Glob("**".into())];
    }
    let names = paths.iter().flat_map(|path| match path.contains('*') {
        true => {
            let (directory, name) = path.rsplit_once('/').map_or(("", *path), |(above, name)| (above, name));
            let directory = if directory.is_empty() { String::new() } else { format!("{directory}/") };
            vec![Word::Glob(format!("{directory}**/{name}"))]
        }
        false => vec![
            Word::Text((*path).to_owned()),
            Word::Glob(format!("{}/**", words::escape(path.trim_end_matches('/')))),
        ],
    });
    names.collect()
}

/// Returns the lines that contain a plain text; regular expressions are not evaluated.
fn grep(pattern: &str, input: &Input) -> Input {
    let is_plain = !pattern.starts_with('-') && !pattern.contains(['.', '*', '[', '^', '$', '\\']);
    match input {
        Input::Text(text) if is_plain => {
            let lines = text.lines().filter(|line| line.contains(pattern));
            Input::Text(lines.collect::<Vec<_>>().join("\n"))
        }
        _ => Input::Unknown,
    }
}

fn is_option(word: &Word) -> bool {
    word.shape().is_some_and(|shape| shape.starts_with('-'))
}

/// Whether a redirection sends the output of a command elsewhere.
fn takes_output(redirect: &Node) -> bool {
    matches!(&redirect.kind, NodeKind::Redirect { fd: 1, op, .. } if op != "<")
}

/// Evaluates `printf` with a format that only puts words in lines.
pub(crate) fn printf(words: &[&str]) -> Option<String> {
    let (format, values) = words.split_first()?;
    let format = unescape(&format.replace("%%", "\u{0}"))?;
    let count = format.matches("%s").count();
    if count != format.matches('%').count() {
        return None;
    }
    let filled = match count {
        0 => format,
        _ => {
            let fill = |some: &[&str]| {
                let filled = some.iter().fold(format.clone(), |text, value| text.replacen("%s", value, 1));
                filled.replace("%s", "")
            };
            values.chunks(count).map(fill).collect()
        }
    };
    Some(filled.replace('\u{0}', "%"))
}

/// Replaces the escapes `\n`, `\t` and `\0`; `None` if there are others.
fn unescape(text: &str) -> Option<String> {
    let plain = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\n");
    (!plain.contains('\\')).then_some(plain)
}

/// Evaluates `ls`, which prints files as they were given; the entries of a directory are not known.
fn ls(words: &[Word]) -> Input {
    let names_itself = words
        .iter()
        .filter(|word| is_option(word))
        .any(|word| word.shape().is_some_and(|option| !option.starts_with("--") && option.contains('d')));
    let files: Vec<Word> = words.iter().filter(|word| !is_option(word)).cloned().collect();
    let is_file = |word: &Word| {
        let name = word.shape().and_then(|path| path.rsplit('/').next());
        names_itself && name.is_some() || name.is_some_and(|name| name.contains('.'))
    };
    if files.is_empty() || !files.iter().all(is_file) { Input::Unknown } else { Input::Words(files) }
}
