//! Expands patterns of the shell to the names that are on the disk.

use crate::variables::Names;
use crate::words::Word;

/// Most names that a pattern is expanded to.
const MOST_NAMES: usize = 128;

impl Names<'_> {
    /// Returns the paths that a pattern matches, as the shell would write them; `None` if the
    /// directory cannot be listed, or if too many paths match, or none.
    pub(crate) fn expanded(&self, pattern: &str) -> Option<Vec<String>> {
        // `**` comes from this crate: a shell expands it only if an option is set.
        let entries = self.here.entries.filter(|_| !pattern.contains("**"))?;
        let (is_absolute, wants_directory) = (pattern.starts_with('/'), pattern.ends_with('/'));
        let mut paths = vec![if is_absolute { "/".to_owned() } else { String::new() }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let mut longer = Vec::new();
            for path in &paths {
                if !is_pattern(part) {
                    longer.push(join(path, &unescaped(part)));
                    continue;
                }
                let directory = self.place.path(if path.is_empty() { "." } else { path })?;
                let mut names = entries(&directory).unwrap_or_default();
                names.retain(|name| (part.starts_with('.') || !name.starts_with('.')) && matches(part, name));
                names.sort();
                longer.extend(names.iter().map(|name| join(path, name)));
                if longer.len() > MOST_NAMES {
                    return None;
                }
            }
            paths = longer;
        }
        let is_there = |path: &String| {
            let (directory, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or((".", path));
            let directory = if directory.is_empty() { "/" } else { directory };
            let found = self.place.path(directory).and_then(|directory| entries(&directory));
            found.is_some_and(|names| names.iter().any(|one| one == name))
        };
        let is_dir = |path: &String| {
            !wants_directory
                || self.place.path(path).is_some_and(|path| self.here.is_dir.is_some_and(|is| is(&path)))
        };
        paths.retain(|path| is_there(path) && is_dir(path));
        if wants_directory {
            paths.iter_mut().for_each(|path| path.push('/'));
        }
        (!paths.is_empty()).then_some(paths)
    }

    /// Expands the patterns among the words, as far as possible.
    pub(crate) fn all_expanded(&self, words: Vec<Word>) -> Vec<Word> {
        let expand = |word: Word| match &word {
            Word::Glob(pattern) => match self.expanded(pattern) {
                Some(paths) => paths.into_iter().map(Word::Text).collect(),
                None => vec![word],
            },
            _ => vec![word],
        };
        words.into_iter().flat_map(expand).collect()
    }
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        _ if directory.ends_with('/') => format!("{directory}{name}"),
        _ => format!("{directory}/{name}"),
    }
}

fn is_pattern(part: &str) -> bool {
    part.replace("\\*", "").replace("\\?", "").replace("\\[", "").contains(['*', '?', '['])
}

fn unescaped(part: &str) -> String {
    let mut text = String::new();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text
}

/// Whether a name matches a pattern of the shell.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // The last star, and the end of its match in the name: on a mismatch it takes one more character.
    let (mut at, mut seen, mut star) = (0, 0, None);
    while seen < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, seen));
            at += 1;
            continue;
        }
        match one(&pattern, at, name[seen]) {
            Some(next) => (at, seen) = (next, seen + 1),
            None => match star {
                Some((from, taken)) => {
                    star = Some((from, taken + 1));
                    (at, seen) = (from + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

/// Matches one character; returns the position at which the pattern goes on.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&c)).then_some(at + 2),
        '[' => {
            let first = at + 1 + usize::from(matches!(pattern.get(at + 1), Some('!' | '^')));
            let close = (first + 1..pattern.len()).find(|end| pattern[*end] == ']')?;
            let set = &pattern[first..close];
            let mut is_in = set.contains(&c);
            for range in set.windows(3).filter(|range| range[1] == '-') {
                is_in |= range[0] <= c && c <= range[2];
            }
            // Classes such as `[:alpha:]` are read as plain characters.
            (is_in == (first == at + 1)).then_some(close + 1)
        }
        plain => (*plain == c).then_some(at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_the_shell() {
        for (pattern, name, expected) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rsx", false),
            ("a*b*c", "aXbYbc", true),
            ("l?gin", "login", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("app.yam[l]", "app.yaml", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
