//! Matches the pattern of a rule against one program and its arguments.

use super::Call;
use super::Effect;

/// How a pattern and a call go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    /// What the text does not tell might make it one, or an option might stand between.
    Perhaps,
    Yes,
}

/// Options that many programs have under two names.
const SAME: &[(&str, &str)] =
    &[("-f", "--force"), ("-r", "--recursive"), ("-R", "--recursive"), ("-n", "--dry-run")];

/// Options of programs that come before the verb, and whether they take a word.
/// None of them changes which program runs.
const BEFORE_VERB: &[(&str, &str, bool)] = &[
    ("git", "-C", true),
    ("git", "--no-pager", false),
    ("git", "--no-optional-locks", false),
    ("npm", "--prefix", true),
    ("pnpm", "-C", true),
    ("pnpm", "--dir", true),
    ("yarn", "--cwd", true),
    ("make", "-C", true),
    ("cargo", "-q", false),
    ("cargo", "--quiet", false),
    ("cargo", "--manifest-path", true),
];

/// Whether `pattern` is about `call`. A rule that allows takes a program by its name or
/// from a directory of programs; one that refuses takes it from anywhere.
pub(super) fn matches(pattern: &str, call: &Call, effect: Effect) -> Match {
    let Some((program, words)) = call.words.split_first() else { return Match::No };
    let pattern = Pattern::read(pattern);
    let Some((wanted, rest)) = pattern.words.split_first() else { return Match::Yes };
    let Some(program) = program.as_deref() else { return Match::Perhaps };
    let is_program = match program.rsplit_once('/') {
        None => glob(wanted, program),
        Some((directory, name)) => {
            let is_installed = directory.starts_with('/') && directory.ends_with("/bin");
            glob(wanted, program) || (is_installed || effect != Effect::Allow) && glob(wanted, name)
        }
    };
    if !is_program {
        return Match::No;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    Arguments::read(name, words).compare(rest, pattern.is_open)
}

struct Pattern<'a> {
    words: Vec<&'a str>,
    /// Whether more words may follow.
    is_open: bool,
}

impl<'a> Pattern<'a> {
    /// `cargo test*`, `cargo test *` and `cargo test:*` are open.
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
    /// How many operands come before the first word that the text does not tell.
    known: Option<usize>,
}

impl<'a> Arguments<'a> {
    fn read(program: &str, words: &'a [Option<String>]) -> Self {
        let mut read = Self { options: Vec::new(), operands: Vec::new(), known: None };
        let mut words = words.iter().map(Option::as_deref);
        let mut has_dashes = false;
        while let Some(word) = words.next() {
            match word {
                None => read.known = read.known.or(Some(read.operands.len())),
                Some("--") if !has_dashes => has_dashes = true,
                Some(option) if !has_dashes && option.starts_with('-') && option.len() > 1 => {
                    match BEFORE_VERB.iter().find(|(name, one, _)| *name == program && *one == option) {
                        Some((_, _, true)) if read.operands.is_empty() => drop(words.next()),
                        Some(_) if read.operands.is_empty() => {}
                        _ => read.options.push(option),
                    }
                }
                Some(toolchain) if program == "cargo" && toolchain.starts_with('+') => {}
                Some(operand) => read.operands.push(operand),
            }
        }
        read
    }

    /// Options may stand anywhere, in any order; operands in theirs.
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
        let is_all = operands.len() == self.operands.len()
            && self.known.is_none()
            && self.options.iter().all(|given| options.iter().any(|wanted| is_same(wanted, given)));
        if has_options && is_prefix && (is_open || is_all) {
            return Match::Yes;
        }
        let may_follow = self.known.is_some() && is_open | (operands.len() >= self.operands.len());
        let is_within = is_subsequence(&operands, &self.operands) && is_open;
        let known_fit =
            operands.iter().zip(&self.operands[..known]).all(|(wanted, given)| glob(wanted, given));
        if is_within && has_options || may_follow && known_fit { Match::Perhaps } else { Match::No }
    }

    fn has(&self, wanted: &str) -> bool {
        let long = wanted.starts_with("--");
        match long {
            true => self.options.iter().any(|given| is_same(wanted, given)),
            // `-rf`: each letter, wherever it stands.
            false => wanted[1..].trim_end_matches('*').chars().all(|letter| {
                let wanted = format!("-{letter}");
                self.options.iter().any(|given| is_same(&wanted, given))
            }),
        }
    }
}

/// Whether an option of a call is the one that a pattern names.
fn is_same(wanted: &str, given: &str) -> bool {
    let name = given.split('=').next().unwrap_or(given);
    let is_short = |text: &str| text.starts_with('-') && !text.starts_with("--");
    if is_short(wanted) && is_short(given) {
        let letters = &wanted[1..];
        return glob(wanted, given) || letters.chars().all(|letter| given[1..].contains(letter));
    }
    let is_other_name = |one: &str, two: &str| {
        SAME.iter().any(|(short, long)| {
            *long == two && is_short(one) && one[1..].contains(&short[1..]) && one.len() == 2
                || *long == two && is_short(one) && one.contains(&short[1..])
        })
    };
    glob(wanted, given)
        || glob(wanted, name)
        // Programs take the beginning of a long option for it.
        || name.len() > 3 && wanted.trim_end_matches('*').starts_with(name)
        || is_other_name(given, wanted.trim_end_matches('*'))
        || is_other_name(wanted, name)
}

/// Whether these words are all among those, in their order.
fn is_subsequence(wanted: &[&str], given: &[&str]) -> bool {
    let mut given = given.iter();
    wanted.iter().all(|wanted| given.any(|given| wanted.trim_end_matches('*') == *given))
}

/// Whether a word is as the pattern says; `*` stands for anything.
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
