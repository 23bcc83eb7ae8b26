//! The arguments of a program, and questions about them.

/// The arguments as the shell reader tells them; `None` is one that the text does not tell.
#[derive(Clone, Copy)]
pub(super) struct Args<'a>(pub(super) &'a [Option<String>]);

impl<'a> Args<'a> {
    pub(super) fn words(self) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(Option::as_deref)
    }

    pub(super) fn first(self) -> Option<&'a str> {
        self.0.first().and_then(Option::as_deref)
    }

    /// Returns the arguments without the first `count`.
    pub(super) fn after(self, count: usize) -> Self {
        Self(self.0.get(count..).unwrap_or_default())
    }

    /// Tells whether one of these options is given, by itself or with a value (`--output=x`).
    pub(super) fn has(self, options: &[&str]) -> bool {
        let is_one = |word: &str| options.contains(&word.split_once('=').map_or(word, |(name, _)| name));
        self.words().any(is_one)
    }

    /// Tells whether a letter is among the short options, also among several in one (`-rf`).
    pub(super) fn has_short(self, letter: char) -> bool {
        let is_short = |word: &&str| word.starts_with('-') && !word.starts_with("--");
        self.words().filter(is_short).any(|word| word.contains(letter))
    }

    /// Returns the arguments that are no options.
    pub(super) fn operands(self) -> impl Iterator<Item = &'a str> {
        self.words().filter(|word| !word.starts_with('-'))
    }

    /// Tells whether there is an argument that the text does not tell.
    pub(super) fn has_unknown(self) -> bool {
        self.0.iter().any(Option::is_none)
    }
}
