//! Path patterns of reservations (file, directory, glob): which paths one matches, and
//! whether two overlap.
//!
//! A pattern is a directory (`src/auth/`, everything below it), a file
//! (`config.yaml`) or a glob (`src/**/*.rs`), relative to the worktree's root.
//! A pattern matches a path if it overlaps the pattern that means that path alone, so **overlaps
//! and matches can never disagree**. No library decides whether two globs can overlap, and
//! compiling hundreds of them for one check would cost more than the whole hook; hence this
//! implementation.

use serde::Deserialize;
use serde::Serialize;
use thiserror::Error;

/// Longest pattern, in characters: more than anyone types. Longer ones are refused, so that
/// deciding stays cheap.
const LONGEST: usize = 1_024;
const MOST_PARTS: usize = 64;
const MOST_ALTERNATIVES: usize = 64;

/// Characters that do not stand for themselves.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// A pattern in its one spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

/// The reason a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternError {
    #[error("a pattern is empty")]
    Empty,
    #[error("the pattern is {length} characters long; {LONGEST} is the limit")]
    TooLong { length: usize },
    #[error("the pattern `{pattern}` has a `..` after a glob")]
    Upwards { pattern: String },
    #[error("the pattern `{pattern}` stands for too many alternatives; {MOST_ALTERNATIVES} is the limit")]
    TooMany { pattern: String },
    #[error("the pattern `{pattern}` has a `[` without its `]`")]
    Unclosed { pattern: String },
}

/// Tells whether a `[` begins no set of characters; a `\\` before it takes its meaning away.
fn has_open_bracket(text: &str) -> bool {
    let mut left = text.chars();
    while let Some(c) = left.next() {
        match c {
            '\\' => drop(left.next()),
            '[' if !left.as_str().split('/').next().unwrap_or_default().contains(']') => return true,
            _ => {}
        }
    }
    false
}

impl Pattern {
    /// Parses a pattern that is relative to the root already.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        let length = text.chars().count();
        let parts = text.split('/').count();
        if length > LONGEST || parts > MOST_PARTS {
            return Err(PatternError::TooLong { length });
        }
        if !is_glob(text) {
            return Ok(Self(escape(&unescape(text))));
        }
        if has_open_bracket(text) {
            return Err(PatternError::Unclosed { pattern: text.to_owned() });
        }
        if alternatives(text).is_none() {
            return Err(PatternError::TooMany { pattern: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }

    /// Makes the pattern of one file, whatever characters are in its name.
    pub fn file(path: &str) -> Self {
        Self(escape(path.trim_end_matches('/')))
    }

    /// Makes the pattern of a directory and everything below it; an empty path is the root.
    pub fn tree(path: &str) -> Self {
        Self(if path.is_empty() { "**".to_owned() } else { escape(path.trim_end_matches('/')) + "/" })
    }

    /// Returns the pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Formats the pattern as people write it: without backslashes, if it is no glob.
    pub fn shown(&self) -> String {
        match self.0.as_str() {
            "**" => "./".to_owned(),
            text if is_glob(text) => text.to_owned(),
            text => unescape(text),
        }
    }

    /// Returns the path, if the pattern means one file.
    pub fn literal(&self) -> Option<String> {
        (!is_glob(&self.0) && !self.0.ends_with('/')).then(|| unescape(&self.0))
    }

    /// Returns the directory, if the pattern means one with everything below it.
    pub fn directory(&self) -> Option<String> {
        let directory = self.0.strip_suffix("**").unwrap_or(&self.0);
        let is_whole = directory.is_empty() || directory.ends_with('/');
        (is_whole && !is_glob(directory)).then(|| unescape(directory.trim_end_matches('/')))
    }

    /// Returns the path that its published line is found by: the one file or directory that it
    /// means, else the directory above all that it means.
    pub fn published_path(&self) -> String {
        self.literal().unwrap_or_else(|| self.stem())
    }

    /// Returns how many levels below its stem a match can be; `None` (any number) for
    /// directories, `**` and braces.
    pub fn depth(&self) -> Option<usize> {
        let parts = self.0.split('/').count();
        let stem = self.0.split('/').take(parts - 1).take_while(|part| !is_glob(part)).count();
        let is_endless =
            self.0.ends_with('/') || self.0.split('/').any(|part| part == "**" || part.contains('{'));
        (!is_endless).then(|| parts - stem)
    }

    /// Returns the directory above all that the pattern means.
    pub fn stem(&self) -> String {
        let parts: Vec<&str> = self.0.split('/').collect();
        let plain = parts.iter().take(parts.len() - 1).take_while(|part| !is_glob(part));
        plain.map(|part| unescape(part)).collect::<Vec<_>>().join("/")
    }

    /// Tells whether a pattern with this spelling may overlap: a quick check that may wrongly say
    /// yes, never wrongly no.
    pub fn may_overlap(&self, other: &str, case: Case) -> bool {
        case == Case::Ignored || begin_alike(&self.0, other)
    }

    /// Lists where overlapping patterns are found among thousands: the spellings of directories
    /// above all that this one means, and the beginnings of all other overlapping patterns. Only
    /// where case matters.
    pub fn overlap_lookup_keys(&self) -> (Vec<String>, Vec<String>) {
        let beginning = plain_beginning(&self.0).trim_end_matches('/');
        let (mut above, mut beginnings) = (Vec::new(), vec![beginning.to_owned()]);
        for (at, character) in beginning.char_indices() {
            beginnings.extend(SPECIAL.map(|special| format!("{}{special}", &beginning[..at])));
            if character == '/' {
                above.push(beginning[..=at].to_owned());
            }
        }
        (above, beginnings)
    }

    /// Tells whether this pattern means everything that the other means. Says no where that is
    /// hard to tell.
    pub fn covers(&self, other: &Self, case: Case) -> bool {
        let (one, two) = (self.folded(case), other.folded(case));
        if one == two || one == "**" || other.literal().is_some() {
            return self.overlaps(other, case);
        }
        !is_glob(&one) && one.ends_with('/') && two.starts_with(one.as_ref())
    }

    /// Tells whether both patterns mean a common path.
    pub fn overlaps(&self, other: &Self, case: Case) -> bool {
        let (one, two) = (self.folded(case), other.folded(case));
        if !begin_alike(&one, &two) {
            return false;
        }
        if !is_glob(&one) && !is_glob(&two) {
            return plainly_overlap(&one, &two);
        }
        let (one, two) = (compile(&one), compile(&two));
        one.iter().any(|one| two.iter().any(|two| parts_meet(one, two)))
    }

    fn folded(&self, case: Case) -> std::borrow::Cow<'_, str> {
        match case {
            Case::Matters => self.0.as_str().into(),
            Case::Ignored => self.0.to_lowercase().into(),
        }
    }
}

/// Whether two spellings that differ in case only are one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Matters,
    Ignored,
}

/// Tells whether the beginnings of both, before any special character, allow an overlap. This
/// rules out nearly all of hundreds without compiling any.
fn begin_alike(one: &str, two: &str) -> bool {
    let (one, two) = (plain_beginning(one), plain_beginning(two));
    let (one, two) = (one.trim_end_matches('/'), two.trim_end_matches('/'));
    one.starts_with(two) || two.starts_with(one)
}

fn plain_beginning(text: &str) -> &str {
    &text[..text.find(SPECIAL).unwrap_or(text.len())]
}

/// Tells whether two patterns overlap, neither of which is a glob.
fn plainly_overlap(one: &str, two: &str) -> bool {
    let holds = |dir: &str, path: &str| {
        let dir = dir.strip_suffix('/');
        dir.is_some_and(|dir| {
            path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    one == two || holds(one, two) || holds(two, one)
}

/// One part of a path: anything at all, or what its tokens say.
enum Segment {
    /// `**`: any number of parts, also none.
    Any,
    Some(Vec<GlobToken>),
}

enum GlobToken {
    /// `*`: any number of characters, also none.
    Star,
    /// One character of these ranges.
    One(Vec<(char, char)>),
}

/// Compiles a valid pattern: a list of parts for each alternative of its braces.
fn compile(pattern: &str) -> Vec<Vec<Segment>> {
    let compile_one = |text: String| {
        let is_dir = text.ends_with('/');
        let parts = text.trim_end_matches('/').split('/');
        let mut parts: Vec<Segment> =
            parts.map(|part| if part == "**" { Segment::Any } else { Segment::Some(tokens(part)) }).collect();
        if is_dir {
            parts.push(Segment::Any);
        }
        parts
    };
    alternatives(pattern).unwrap_or_default().into_iter().map(compile_one).collect()
}

fn tokens(part: &str) -> Vec<GlobToken> {
    let chars: Vec<char> = part.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '*' => tokens.push(GlobToken::Star),
            '?' => tokens.push(GlobToken::One(vec![('\0', char::MAX)])),
            '\\' if at + 1 < chars.len() => {
                at += 1;
                tokens.push(GlobToken::One(vec![(chars[at], chars[at])]));
            }
            '[' => match class(&chars[at + 1..]) {
                Some((ranges, length)) => {
                    at += length;
                    tokens.push(GlobToken::One(ranges));
                }
                None => tokens.push(GlobToken::One(vec![('[', '[')])),
            },
            other => tokens.push(GlobToken::One(vec![(other, other)])),
        }
        at += 1;
    }
    tokens
}

/// Parses a class of characters after its `[`, such as `a-z_]`: its ranges and its length. `None`
/// if it is not closed.
fn class(chars: &[char]) -> Option<(Vec<(char, char)>, usize)> {
    let is_negated = matches!(chars.first(), Some('!' | '^'));
    let mut at = usize::from(is_negated);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let mut low = *chars.get(at)?;
        if low == ']' && at > first {
            break;
        }
        if low == '\\' {
            at += 1;
            low = *chars.get(at)?;
        }
        let is_range = chars.get(at + 1) == Some(&'-') && chars.get(at + 2).is_some_and(|high| *high != ']');
        let high = if is_range { chars[at + 2] } else { low };
        at += if is_range { 3 } else { 1 };
        ranges.push((low.min(high), low.max(high)));
    }
    Some((if is_negated { complement(ranges) } else { ranges }, at + 1))
}

fn complement(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut free = Vec::new();
    let mut next = Some('\0');
    for (low, high) in ranges {
        if let Some(start) = next.filter(|start| *start < low)
            && let Some(before) = (start..low).next_back()
        {
            free.push((start, before));
        }
        let after = (high..=char::MAX).nth(1);
        next = next.and_then(|next| after.map(|after| after.max(next)));
    }
    free.extend(next.map(|start| (start, char::MAX)));
    free
}

/// Tells whether some path is meant by both.
fn parts_meet(one: &[Segment], two: &[Segment]) -> bool {
    meet(
        one,
        two,
        |part| matches!(part, Segment::Any),
        |one, two| match (one, two) {
            (Segment::Some(one), Segment::Some(two)) => meet(
                one,
                two,
                |token| matches!(token, GlobToken::Star),
                |one, two| match (one, two) {
                    (GlobToken::One(one), GlobToken::One(two)) => {
                        one.iter().any(|a| two.iter().any(|b| a.0 <= b.1 && b.0 <= a.1))
                    }
                    _ => true,
                },
            ),
            _ => true,
        },
    )
}

/// Tells whether two sequences, in which some items stand for any number of items, can be the same.
fn meet<T>(one: &[T], two: &[T], is_any: impl Fn(&T) -> bool, same: impl Fn(&T, &T) -> bool) -> bool {
    // From the end backwards: whether the rests of both sequences can be the same.
    let mut below = vec![false; two.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut row = vec![false; two.len() + 1];
        for to in (0..=two.len()).rev() {
            let (a, b) = (one.get(at), two.get(to));
            row[to] = match (a, b) {
                (None, None) => true,
                (Some(a), _) if is_any(a) => below[to] || (to < two.len() && row[to + 1]),
                (_, Some(b)) if is_any(b) => row[to + 1] || (at < one.len() && below[to]),
                (Some(a), Some(b)) => below[to + 1] && same(a, b),
                _ => false,
            };
        }
        below = row;
    }
    below[0]
}

/// Expands the braces in a text; `None` for too many alternatives.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let mut open = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        match split_braces(&text) {
            None => done.push(text),
            Some((before, choices, after)) => {
                open.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if open.len() + done.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

/// Splits a text at its first `{a,b}`: the text before, the choices, the text after.
fn split_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut start, mut depth, mut cuts) = (0, 0, Vec::new());
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => {
                is_escaped = false;
                continue;
            }
            '\\' => is_escaped = true,
            '{' => {
                if depth == 0 {
                    start = at;
                    cuts = vec![at];
                }
                depth += 1;
            }
            ',' if depth == 1 => cuts.push(at),
            '}' if depth == 1 && cuts.len() > 1 => {
                cuts.push(at);
                let choices = cuts.windows(2).map(|cut| &text[cut[0] + 1..cut[1]]).collect();
                return Some((&text[..start], choices, &text[at + 1..]));
            }
            '}' if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Tells whether any character of a text stands for more than itself.
pub(super) fn is_glob(text: &str) -> bool {
    let mut is_escaped = false;
    text.chars().any(|character| {
        let counts = !is_escaped && matches!(character, '*' | '?' | '[' | '{');
        is_escaped = !is_escaped && character == '\\';
        counts
    })
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[' | '{' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(character) = chars.next() {
        plain.push(if character == '\\' { chars.next().unwrap_or(character) } else { character });
    }
    plain
}
