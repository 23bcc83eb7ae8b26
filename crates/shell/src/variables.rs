//! The values of shell variables and arguments, as far as the text sets them.

use std::collections::BTreeMap;

use crate::Extent;
use crate::ShellContext;
use crate::Write;
use crate::place::Place;
use crate::words::Word;

/// Longest value that is stored.
const LONGEST: usize = 4_096;

/// The variables of a shell, and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variables {
    known: BTreeMap<String, Word>,
    /// The arrays whose words are known.
    lists: BTreeMap<String, Vec<Word>>,
    /// The arguments `$1`, `$2`, …; `None` if they are not known.
    arguments: Option<Vec<Word>>,
    /// Variables that stand for others (`declare -n`).
    references: BTreeMap<String, String>,
}

impl Variables {
    /// The variables of a command that was given no arguments.
    pub(crate) fn without_arguments() -> Self {
        Self { arguments: Some(Vec::new()), ..Self::default() }
    }

    /// Sets a variable. A long value becomes unknown: it is no path, and `x=$x$x`
    /// in a loop would grow without end.
    pub(crate) fn set(&mut self, name: &str, value: Word) {
        let is_long = value.shape().is_some_and(|text| text.len() > LONGEST);
        self.known.insert(name.to_owned(), if is_long { Word::Unknown } else { value });
    }

    /// Makes a variable stand for another from now on.
    pub(crate) fn refer(&mut self, name: &str, to: &str) {
        self.references.insert(name.to_owned(), to.to_owned());
    }

    /// Drops the first `count` arguments, as `shift` does.
    pub(crate) fn shift(&mut self, count: usize) {
        if let Some(arguments) = &mut self.arguments {
            arguments.drain(..count.min(arguments.len()));
        }
    }

    /// Whether the text gave the variable a value.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// Gives a name the value that it had before.
    pub(crate) fn restore(&mut self, name: &str, before: &Self) {
        match before.known.get(name) {
            Some(value) => self.known.insert(name.to_owned(), value.clone()),
            None => self.known.remove(name),
        };
    }

    pub(crate) fn set_list(&mut self, name: &str, words: Vec<Word>) {
        self.lists.insert(name.to_owned(), words);
    }

    /// Returns the words of an array.
    pub(crate) fn list(&self, name: &str) -> Option<&[Word]> {
        self.lists.get(name).map(Vec::as_slice)
    }

    /// Makes all values unknown, because the text does not tell which of them have changed.
    pub(crate) fn forget(&mut self) {
        self.known.values_mut().for_each(|value| *value = Word::Unknown);
        self.lists.clear();
        self.arguments = None;
    }

    /// Sets the arguments of a function or a script; returns those before.
    pub(crate) fn enter(&mut self, arguments: Vec<Word>) -> Option<Vec<Word>> {
        self.arguments.replace(arguments)
    }

    pub(crate) fn leave(&mut self, outer: Option<Vec<Word>>) {
        self.arguments = outer;
    }

    /// Keeps only the values that two branches of the text agree on; all others become unknown.
    pub(crate) fn keep_common(&mut self, other: &Self) {
        for (name, value) in &other.known {
            if self.known.get(name) != Some(value) {
                self.known.insert(name.clone(), Word::Unknown);
            }
        }
        for (name, value) in &mut self.known {
            if other.known.get(name) != Some(value) {
                *value = Word::Unknown;
            }
        }
        self.lists.retain(|name, words| other.lists.get(name) == Some(words));
    }

    /// Returns all arguments, if they are known.
    pub(crate) fn arguments(&self) -> Option<&[Word]> {
        self.arguments.as_deref()
    }
}

/// Everything that is needed to expand the names in a word.
pub(crate) struct Names<'a> {
    pub(crate) here: ShellContext<'a>,
    pub(crate) place: &'a Place,
    pub(crate) variables: &'a Variables,
    /// The files that the text has made so far, with their text if it is known.
    pub(crate) made: &'a [(String, Option<String>)],
    /// The directory before the last `cd`.
    pub(crate) before: Option<&'a Place>,
    /// The writes of the text so far; `is_certain` tells whether these are all.
    pub(crate) writes: &'a [Write],
    pub(crate) is_certain: bool,
}

impl Names<'_> {
    /// Returns the value of `$name`; `None` if the text does not tell.
    pub(crate) fn value(&self, name: &str) -> Option<Word> {
        if let ("0" | "BASH_SOURCE" | "BASH_SOURCE[0]", Some(name)) = (name, self.variables.known.get("0")) {
            return Some(name.clone());
        }
        if let Ok(position) = name.parse::<usize>() {
            return self.variables.arguments()?.get(position.checked_sub(1)?).cloned();
        }
        if name == "#" {
            return Some(Word::Text(self.variables.arguments()?.len().to_string()));
        }
        let name = self.variables.references.get(name).map_or(name, String::as_str);
        if let Some((list, index)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            let words = self.variables.list(list)?;
            return match index.parse::<isize>().ok()? {
                index @ 0.. => words.get(index.unsigned_abs()).cloned(),
                index => words.get(words.len().checked_sub(index.unsigned_abs())?).cloned(),
            };
        }
        let known = self.variables.known.get(name).filter(|word| **word != Word::Unknown);
        known.cloned().or_else(|| match name {
            _ if self.variables.known.contains_key(name) => None,
            "HOME" => Some(Word::Text(self.here.home?.to_owned())),
            "PWD" => self.cwd().map(Word::Text),
            "OLDPWD" => self.absolute(self.before?).map(Word::Text),
            _ => self.here.variable?(name).map(Word::Text),
        })
    }

    /// Expands `${name<op><arg>}`, if `op` and `arg` are simple enough.
    pub(crate) fn expand(&self, name: &str, op: Option<&str>, arg: Option<&str>) -> Option<Word> {
        let value = self.value(name);
        let Some(op) = op else { return value };
        let arg = arg.or(Some(""));
        let plain = arg.filter(|arg| !arg.contains(['$', '`', '\'', '"', '\\']));
        match (op, value) {
            // A variable that the text does not set is most likely not set.
            (":-" | "-" | ":=" | "=", None) if !self.variables.known.contains_key(name) => {
                Some(Word::Text(plain.map_or_else(|| self.argument(arg), |arg| Some(arg.to_owned()))?))
            }
            (":-" | ":=", Some(Word::Text(text))) if text.is_empty() => Some(Word::Text(plain?.to_owned())),
            (":-" | "-" | ":=" | "=" | ":?" | "?", value) => value,
            (":+" | "+", Some(_)) => Some(Word::Text(plain?.to_owned())),
            (":+" | "+", None) if !self.variables.known.contains_key(name) => Some(Word::Text(String::new())),
            (",,", Some(Word::Text(text))) => Some(Word::Text(text.to_lowercase())),
            ("^^", Some(Word::Text(text))) => Some(Word::Text(text.to_uppercase())),
            ("%" | "%%" | "#" | "##", Some(Word::Text(text))) => strip(&text, op, plain?).map(Word::Text),
            ("/" | "//", Some(Word::Text(text))) => {
                let (from, to) = plain?.split_once('/').unwrap_or((plain?, ""));
                let is_plain = !from.contains(['*', '?', '[']) && !from.is_empty();
                let times = if op == "/" { 1 } else { usize::MAX };
                is_plain.then(|| Word::Text(text.replacen(from, to, times)))
            }
            _ => None,
        }
    }

    /// Expands the default value in `${x:-"$y/z"}`.
    fn argument(&self, arg: Option<&str>) -> Option<String> {
        // Nested expansions would be parsed again at each level.
        let arg = arg.filter(|arg| !arg.contains("${") && !arg.contains("$(") && !arg.contains('`'))?;
        let nodes = rable::parse(&format!("x {arg}"), false).ok()?;
        let [rable::Node { kind: rable::NodeKind::Command { words, .. }, .. }] = nodes.as_slice() else {
            return None;
        };
        match words[1..]
            .iter()
            .flat_map(|word| crate::words::fields(word, self))
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => Some(String::new()),
            [Word::Text(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns the text of a file that the command would read.
    pub(crate) fn file(&self, path: &str) -> Option<String> {
        let path = self.place.path(path)?;
        match self.made.iter().rev().find(|(made, _)| *made == path) {
            Some((_, text)) => text.clone(),
            None => self.here.read?(&path),
        }
    }

    /// Returns the text of a file that nothing in the text has changed so far.
    pub(crate) fn unchanged_file(&self, path: &str) -> Option<String> {
        let place = self.place.path(path)?;
        let is_written = |write: &Write| write.extent != Extent::File || write.path == place;
        if self.is_certain && !self.writes.iter().any(is_written) { self.file(path) } else { None }
    }

    pub(crate) fn cwd(&self) -> Option<String> {
        self.absolute(self.place)
    }

    /// Returns the absolute path of a place.
    fn absolute(&self, place: &Place) -> Option<String> {
        let place = place.path(".")?;
        match (place.starts_with('/'), self.here.cwd) {
            (true, _) => Some(place),
            (false, Some(cwd)) => Some(format!("{cwd}/{place}")),
            (false, None) => None,
        }
    }
}

/// Removes a pattern with at most one star from an end of a text: `${x%…}`, `${x#…}`.
fn strip(text: &str, op: &str, pattern: &str) -> Option<String> {
    if pattern.contains(['?', '[']) || pattern.matches('*').count() > 1 {
        return None;
    }
    let stripped = match (op, pattern.split_once('*')) {
        ("%" | "%%", None) => text.strip_suffix(pattern),
        ("#" | "##", None) => text.strip_prefix(pattern),
        ("%", Some((start, ""))) => text.rfind(start).map(|at| &text[..at]),
        ("%%", Some((start, ""))) => text.find(start).map(|at| &text[..at]),
        ("#", Some(("", end))) => text.find(end).map(|at| &text[at + end.len()..]),
        ("##", Some(("", end))) => text.rfind(end).map(|at| &text[at + end.len()..]),
        _ => return None,
    };
    Some(stripped.unwrap_or(text).to_owned())
}
