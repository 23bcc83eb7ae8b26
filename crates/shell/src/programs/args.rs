//! Splits the arguments of a shell program into options and operands, as `getopt` does.

use crate::words::Word;

/// The options of a program that take a value.
pub(crate) struct Options {
    /// Letters whose value is the rest of the word, or else the next word.
    pub(crate) values: &'static str,
    /// Letters whose value, if any, is the rest of the word.
    pub(crate) suffixes: &'static str,
    /// Long options whose value is the next word, unless it follows a `=`.
    pub(crate) long: &'static [&'static str],
}

impl Options {
    pub(crate) const NONE: Self = Self::with("", &[]);

    pub(crate) const fn with(values: &'static str, long: &'static [&'static str]) -> Self {
        Self { values, suffixes: "", long }
    }
}

pub(crate) struct Args<'a> {
    /// The options (`-r`, `--recursive`), each with its value if it has one.
    flags: Vec<(String, Option<Word>)>,
    pub(crate) operands: Vec<&'a Word>,
    /// Number of operands before `--`, if there is a `--`.
    pub(crate) dashes: Option<usize>,
}

impl<'a> Args<'a> {
    /// Splits words into options and operands, which may come in any order.
    pub(crate) fn read(words: &'a [Word], options: &Options) -> Self {
        let mut args = Self { flags: Vec::new(), operands: Vec::new(), dashes: None };
        let mut rest = words;
        loop {
            rest = args.take_flags(rest, options);
            let Some((word, after)) = rest.split_first() else { return args };
            if word.text() == Some("--") {
                args.dashes = Some(args.operands.len());
                args.operands.extend(after);
                return args;
            }
            args.operands.push(word);
            rest = after;
        }
    }

    /// Splits off the options before the first operand. The words after them are another command,
    /// if the program runs one.
    pub(crate) fn leading(words: &'a [Word], options: &Options) -> (Self, &'a [Word]) {
        let mut args = Self { flags: Vec::new(), operands: Vec::new(), dashes: None };
        let rest = args.take_flags(words, options);
        match rest.split_first() {
            Some((word, after)) if word.text() == Some("--") => (args, after),
            _ => (args, rest),
        }
    }

    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// Whether there is a long option that is neither one of `known` nor an abbreviation of one.
    pub(crate) fn has_other_than(&self, known: &[&str]) -> bool {
        let is_known = |name: &str| known.iter().any(|one| one.starts_with(name));
        self.flags.iter().any(|(name, _)| name.starts_with("--") && !is_known(name))
    }

    pub(crate) fn value(&self, names: &[&str]) -> Option<&Word> {
        self.values(names).last()
    }

    pub(crate) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Word> {
        let given = self.flags.iter().filter(move |(name, _)| names.contains(&name.as_str()));
        given.filter_map(|(_, value)| value.as_ref())
    }

    fn take_flags(&mut self, words: &'a [Word], options: &Options) -> &'a [Word] {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let Some(shape) = word.shape().filter(|shape| shape.len() > 1 && shape.starts_with('-')) else {
                break;
            };
            if shape == "--" {
                break;
            }
            rest = if shape.starts_with("--") {
                self.take_long(word, shape, after, options)
            } else {
                self.take_letters(word, &shape[1..], after, options)
            };
        }
        rest
    }

    fn take_long(&mut self, word: &Word, shape: &str, rest: &'a [Word], options: &Options) -> &'a [Word] {
        if let Some((name, value)) = shape.split_once('=') {
            self.flags.push((name.into(), Some(word.with(value))));
            return rest;
        }
        if options.long.contains(&shape) {
            return self.take_next(shape.into(), rest);
        }
        self.flags.push((shape.into(), None));
        rest
    }

    fn take_letters(
        &mut self,
        word: &Word,
        letters: &str,
        rest: &'a [Word],
        options: &Options,
    ) -> &'a [Word] {
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let after = &letters[at + letter.len_utf8()..];
            let takes_value = options.values.contains(letter);
            if takes_value && after.is_empty() {
                return self.take_next(name, rest);
            }
            if takes_value || (options.suffixes.contains(letter) && !after.is_empty()) {
                self.flags.push((name, Some(word.with(after))));
                return rest;
            }
            self.flags.push((name, None));
        }
        rest
    }

    fn take_next(&mut self, name: String, rest: &'a [Word]) -> &'a [Word] {
        let (value, after) = match rest.split_first() {
            Some((value, after)) => (Some(value.clone()), after),
            None => (None, rest),
        };
        self.flags.push((name, value));
        after
    }
}
