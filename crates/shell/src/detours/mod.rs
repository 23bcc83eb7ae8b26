//! Finds detours: words that make a program do something else than it is named for. They make it
//! run another program, read its orders from a file of the caller's choice, or work elsewhere.
//!
//! A rule that allows `git *` or `make *` means what those programs do by
//! themselves. The tables here list the known ways around that; they keep rules
//! from allowing commands, and refuse nothing.

mod git;
mod offers;

use offers::DETOUR_WORDS;

use crate::words::Word;

/// A word of a call that makes the program do something else than it is named for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    /// The index of the word in the call.
    pub at: usize,
    /// The path that the word leads to, as it is written; `None` if the word does more than that.
    pub to: Option<String>,
}

/// Programs that run given commands in ways that are not followed.
pub(crate) const RUN_OTHERS: &[&str] = &[
    "at",
    "batch",
    "busybox",
    "caffeinate",
    "entr",
    "flock",
    "ltrace",
    "npx",
    "parallel",
    "runuser",
    "screen",
    "script",
    "ssh",
    "start-stop-daemon",
    "strace",
    "su",
    "systemd-run",
    "tmux",
    "unbuffer",
    "unshare",
    "watch",
];

/// Expressions of `find` that run commands or write files.
const FIND: &[&str] = &[
    "-delete",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-fls",
    "-files0-from",
];

/// Returns the detours in a call. `words` begin with the program.
pub(crate) fn of(words: &[Word]) -> Vec<Detour> {
    let Some((Some(program), args)) = words.split_first().map(|(program, args)| (program.shape(), args))
    else {
        return Vec::new();
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let found = match name {
        "git" => git::of(args),
        "find" => options(args, |text| FIND.contains(&text)),
        "sed" => sed(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk(args),
        _ => match DETOUR_WORDS.iter().find(|offers| offers.programs.contains(&name)) {
            Some(offers) => offers.find(args),
            None => return Vec::new(),
        },
    };
    // A pattern may expand to a file name that is one of those options.
    let is_any = |word: &Word| match word {
        Word::Glob(text) if name == "find" => text.starts_with(['*', '?', '[', '-']) && !text.contains('.'),
        Word::Glob(text) => text.starts_with(['*', '?', '[', '-']),
        Word::Text(_) | Word::Unknown => false,
    };
    // These verbs of git have no such options.
    let is_safe =
        |word: &Word| word.text().is_some_and(|verb| ["add", "rm", "restore", "checkout"].contains(&verb));
    let is_safe = name == "git" && args.first().is_some_and(is_safe);
    let globs = (0..).zip(args).filter(|(_, word)| is_any(word) && !is_safe).map(|(at, _)| wrong(at));
    found.into_iter().chain(globs).map(|detour| Detour { at: detour.at + 1, ..detour }).collect()
}

fn wrong(at: usize) -> Detour {
    Detour { at, to: None }
}

/// Marks paths of a call as wrong after a word has moved the program elsewhere, because they are
/// relative to another directory then: the values of options, and operands that are surely paths.
fn moved(args: &[Word], found: Vec<Detour>, by: Option<usize>) -> Vec<Detour> {
    let Some(first) = by else { return found };
    let is_option = |at: usize| args[at].shape().is_some_and(|text| text.starts_with('-'));
    let is_path = |to: &str| to.contains('/') || to.starts_with('.');
    let later = |detour: Detour| match &detour.to {
        Some(to) if detour.at != first && (is_option(detour.at) || is_path(to)) => wrong(detour.at),
        _ => detour,
    };
    found.into_iter().map(later).collect()
}

fn place(at: usize, to: &str) -> Detour {
    Detour { at, to: Some(to.to_owned()) }
}

/// Finds the arguments for which `is_one` holds, at any position; unknown arguments count, too.
fn options(args: &[Word], is_one: impl Fn(&str) -> bool) -> Vec<Detour> {
    let is_meant = |word: &Word| word.shape().is_none_or(&is_one);
    (0..).zip(args).filter(|(_, word)| is_meant(word)).map(|(at, _)| wrong(at)).collect()
}

/// Finds words of `sed` that make it run or write, or a script that is not known.
fn sed(args: &[Word]) -> Vec<Detour> {
    let mut found = Vec::new();
    let mut has_script = false;
    for (at, word) in args.iter().enumerate() {
        let text = word.shape().unwrap_or("w");
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let is_harmful = match text.strip_prefix("--") {
            Some(long) => ["in-place", "file", "expression"]
                .iter()
                .any(|one| one.starts_with(long.split('=').next().unwrap_or_default())),
            None => letters.is_some_and(|letters| letters.contains(['i', 'f', 'e', 'I'])),
        };
        // Only addresses and `p` are harmless: anything else may run or write.
        let is_plain = |script: &str| {
            let rest = script.trim_matches(|c: char| c.is_ascii_digit() || ",$ +~!;p".contains(c));
            let inner = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
            rest.is_empty() || inner.is_some_and(|inner| !inner.contains(['/', '\n']))
        };
        let is_script = !text.starts_with('-') && !std::mem::replace(&mut has_script, true);
        if is_harmful || is_script && !is_plain(text) {
            found.push(wrong(at));
        }
    }
    found
}

/// Finds words of `awk` that make it run or write, or a program that is not known.
fn awk(args: &[Word]) -> Vec<Detour> {
    const WORDS: &[&str] = &["system", "getline", "|", ">", "@"];
    let is_option = |text: &str| match text.strip_prefix("--") {
        Some(long) => !long.starts_with("field-separator") && !long.starts_with("assign"),
        None => text.len() > 1 && text.starts_with('-') && !text.starts_with("-F") && !text.starts_with("-v"),
    };
    options(args, |text| is_option(text) || WORDS.iter().any(|word| text.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints the index of each detour, and the path it leads to.
    fn told(text: &str) -> Vec<String> {
        let words: Vec<Word> = text.split(' ').map(|word| Word::Text(word.into())).collect();
        let told = |detour: &Detour| match &detour.to {
            Some(to) => format!("{} to {to}", detour.at),
            None => detour.at.to_string(),
        };
        of(&words).iter().map(told).collect()
    }

    #[test]
    fn a_second_place_is_seen_from_the_first() {
        for (text, expected) in [
            ("git -C a status", &["1 to a"][..]),
            ("git -C a -C b status", &["1 to a", "3"]),
            ("make -C a -C b", &["1 to a", "3"]),
            ("make -Ca --directory=b x", &["1 to a", "2"]),
            ("git status", &[]),
            ("git -c x=y status", &["1"]),
            ("tar xf a -C b", &["3 to b"]),
            ("npm --loglevel silent exec x", &["3", "2 to silent", "4 to x"]),
            ("cd a", &["1 to a"]),
            ("ls -la", &[]),
        ] {
            let (mut told, mut expected) = (told(text), expected.to_vec());
            told.sort();
            expected.sort();
            assert_eq!(told, expected, "{text}");
        }
    }
}
