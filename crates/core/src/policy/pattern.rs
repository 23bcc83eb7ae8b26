//! Matches the pattern of a rule against one program and its arguments.

use super::ProgramCall;

/// The way in which a pattern matches a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    /// A word that the text does not tell might complete the match, or an operand might belong to
    /// an option before it.
    Perhaps,
    Yes,
}

/// Options that many programs have under a short and a long name.
const SAME: &[(char, &str)] = &[('f', "--force"), ('r', "--recursive"), ('R', "--recursive")];

/// Options before the verb that take a word as their value.
const WITH_WORD: &[(&str, &str)] = &[
    ("git", "-C"),
    ("git", "-c"),
    ("git", "--git-dir"),
    ("git", "--work-tree"),
    ("git", "--namespace"),
    ("npm", "--prefix"),
    ("pnpm", "-C"),
    ("pnpm", "--dir"),
    ("yarn", "--cwd"),
    ("make", "-C"),
    ("cargo", "--manifest-path"),
];

/// Options that change only what a program prints.
const QUIET: &[(&str, &str)] = &[("git", "--no-pager"), ("cargo", "-q"), ("cargo", "--quiet")];

/// Tells whether a rule that allows is about `call`: word for word, as it is spelt, with the
/// program given by its name or from one of the system's directories. An option that the rule does
/// not name may come only after all words that it does name, and may not lead elsewhere.
pub(super) fn allows(pattern: &str, call: &ProgramCall) -> bool {
    let pattern = CallPattern::read(pattern);
    let Some(Some(program)) = call.words.first() else { return false };
    let name = match program.rsplit_once('/') {
        Some(("/bin" | "/usr/bin" | "/usr/local/bin", name)) => name,
        _ => program,
    };
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    let is_toolchain = |word: &str| name == "cargo" && word.strip_prefix('+').is_some_and(is_name);
    let is_quiet = |word: &str| QUIET.contains(&(name, word)) || is_toolchain(word);
    let mut given = [Some(name)]
        .into_iter()
        .chain(call.words[1..].iter().map(Option::as_deref))
        .enumerate()
        .filter(|(_, word)| !word.is_some_and(is_quiet));
    let mut named = Vec::new();
    let fits = pattern.words.iter().enumerate().all(|(place, wanted)| {
        given.next().is_some_and(|(at, word)| {
            if !wanted.contains('*') {
                named.push(at);
            }
            let is_path = wanted.contains('/') && wanted.contains('*');
            let strays = |word: &str| call.outside.contains(&at) || word.split('/').any(|part| part == "..");
            word.is_some_and(|word| is_word(wanted, word, place == 0) && !(is_path && strays(word)))
        })
    });
    let leads_away = call.detours.iter().any(|at| !named.contains(at));
    fits && !leads_away && (pattern.is_open || given.next().is_none())
}

/// Tells whether a word is as the pattern of an allowing rule says. A name that ends in `*` matches
/// only that name: `diff*` is not `difftool`, nor `ls*` `lsof`; but `python*` is `python3`, and
/// `test*` is `test:all`.
fn is_word(wanted: &str, word: &str, is_program: bool) -> bool {
    let Some(stem) = wanted.strip_suffix('*').filter(|stem| !stem.contains(['*', '/'])) else {
        return glob(wanted, word);
    };
    let Some(rest) = word.strip_prefix(stem) else { return false };
    let is_version = is_program && rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    let ends_name = |c: char| !(c.is_alphanumeric() || "-_./?*[".contains(c));
    is_version
        || !stem.ends_with(char::is_alphanumeric)
        || !is_program && rest.starts_with(ends_name)
        || rest.is_empty()
}

/// Tells whether a pattern names a file by a path that is relative to the current directory.
pub(super) fn names_file(pattern: &str) -> bool {
    let words = CallPattern::read(pattern).words;
    let is_path = |word: &&str| !word.starts_with(['/', '-']) && word.contains('/');
    words.iter().any(is_path) || words.iter().skip(1).any(|word| !word.starts_with('-') && word.contains('.'))
}

/// Tells whether a rule that asks or refuses is about `call`, however that is spelt: the program
/// from anywhere, options in any order and under either name.
pub(super) fn concerns(pattern: &str, call: &ProgramCall) -> Match {
    let Some((program, words)) = call.words.split_first() else { return Match::No };
    let pattern = CallPattern::read(pattern);
    let Some((wanted, rest)) = pattern.words.split_first() else { return Match::Yes };
    let Some(program) = program.as_deref() else { return Match::Perhaps };
    let name = program.rsplit('/').next().unwrap_or(program);
    if !glob(wanted, program) && !glob(wanted, name) {
        return Match::No;
    }
    Arguments::read(name, words).compare(rest, pattern.is_open)
}

struct CallPattern<'a> {
    words: Vec<&'a str>,
    /// Whether more words may follow.
    is_open: bool,
}

impl<'a> CallPattern<'a> {
    /// Reads a pattern. `cargo test*`, `cargo test *` and `cargo test:*` are open.
    fn read(text: &'a str) -> Self {
        let text = text.trim();
        let is_open = text.ends_with('*');
        let text = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")).unwrap_or(text);
        Self { words: text.split_whitespace().filter(|word| *word != "*").collect(), is_open }
    }
}

struct Arguments<'a> {
    options: Vec<&'a str>,
    operands: Vec<&'a str>,
    /// For each operand, whether it may be the value of the option before it.
    after_option: Vec<bool>,
    /// Number of operands before the first word that the text does not tell; `None` if it tells
    /// all.
    known: Option<usize>,
}

impl<'a> Arguments<'a> {
    fn read(program: &str, words: &'a [Option<String>]) -> Self {
        let mut read =
            Self { options: Vec::new(), operands: Vec::new(), after_option: Vec::new(), known: None };
        let mut words = words.iter().map(Option::as_deref);
        let (mut has_dashes, mut was_option) = (false, false);
        while let Some(word) = words.next() {
            let is_after = std::mem::replace(&mut was_option, false);
            match word {
                None => read.known = read.known.or(Some(read.operands.len())),
                Some("--") if !has_dashes => has_dashes = true,
                Some(option) if !has_dashes && option.starts_with('-') && option.len() > 1 => {
                    if read.operands.is_empty() && WITH_WORD.contains(&(program, option)) {
                        words.next();
                    } else {
                        read.options.push(option);
                        was_option = !option.contains('=');
                    }
                }
                Some(operand) => {
                    read.operands.push(operand);
                    read.after_option.push(is_after);
                }
            }
        }
        read
    }

    /// Compares with the words of a pattern: options may come anywhere, in any order; operands only
    /// in theirs.
    fn compare(&self, pattern: &[&str], is_open: bool) -> Match {
        let (options, operands): (Vec<&str>, Vec<&str>) =
            pattern.iter().partition(|word| word.starts_with('-') && word.len() > 1);
        let has_options = options.iter().all(|wanted| self.has(wanted));
        if !has_options && self.known.is_none() {
            return Match::No;
        }
        let known = self.known.unwrap_or(self.operands.len());
        let is_prefix = operands.len() <= known
            && operands.iter().zip(&self.operands).all(|(wanted, given)| glob(wanted, given));
        let is_all = operands.len() == self.operands.len() && self.known.is_none();
        if has_options && is_prefix && (is_open || is_all) {
            return Match::Yes;
        }
        let may_follow = self.known.is_some() && is_open | (operands.len() >= self.operands.len());
        let is_within = is_open && self.has_within(&operands);
        let known_fit =
            operands.iter().zip(&self.operands[..known]).all(|(wanted, given)| glob(wanted, given));
        if is_within && has_options || may_follow && known_fit { Match::Perhaps } else { Match::No }
    }

    /// Tells whether these are the operands, if some of the given ones belong to the options before
    /// them.
    fn has_within(&self, wanted: &[&str]) -> bool {
        let mut given = self.operands.iter().zip(&self.after_option);
        wanted.iter().all(|wanted| {
            let is_it = |operand: &str| glob(wanted, operand);
            given
                .find(|(operand, after)| is_it(operand) || !**after)
                .is_some_and(|(operand, _)| is_it(operand))
        })
    }

    fn has(&self, wanted: &str) -> bool {
        if wanted.starts_with("--") {
            return self.options.iter().any(|given| is_long(wanted, given));
        }
        // `-rf`: each letter, in whichever option it is.
        wanted[1..].trim_end_matches('*').chars().all(|letter| self.has_letter(letter))
    }

    fn has_letter(&self, letter: char) -> bool {
        let long = long_of(letter);
        self.options.iter().any(|given| match given.strip_prefix("--") {
            Some(_) => long.is_some_and(|long| is_long(long, given)),
            None => given[1..].chars().any(|one| one == letter || long.is_some() && long_of(one) == long),
        })
    }
}

/// Returns the long name of a short option.
fn long_of(letter: char) -> Option<&'static str> {
    SAME.iter().find(|(short, _)| *short == letter).map(|(_, long)| *long)
}

/// Tells whether an option of a call is the long one that a pattern names.
fn is_long(wanted: &str, given: &str) -> bool {
    let name = given.split('=').next().unwrap_or(given);
    let plain = wanted.trim_end_matches('*');
    let is_letter = |(short, long): &(char, &str)| *long == plain && given[1..].contains(*short);
    glob(wanted, given)
        || glob(wanted, name)
        // Programs accept the beginning of a long option in its place.
        || name.len() > 3 && plain.starts_with(name)
        || !given.starts_with("--") && SAME.iter().any(is_letter)
}

/// Tells whether a word is as the pattern says; `*` stands for anything.
pub(super) fn glob(pattern: &str, word: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = word.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}
