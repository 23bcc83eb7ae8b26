//! Reads the paths of `git` commands (pathspecs), and tells paths from branches.

use crate::Extent;
use crate::walk::Walk;
use crate::words::Word;

/// Writes a path as git reads it: with patterns and magic of its own, which match more than the shell's.
pub(super) fn pathspec(walk: &mut Walk<'_>, path: &Word, by: &str) {
    match path.text() {
        Some(":/" | ":") => walk.write_here(Extent::Changes, by),
        Some(text) if text.starts_with(":!") || text.starts_with(":^") || text.starts_with(":(exclude") => {
            walk.note_unknown_write()
        }
        Some(text) => {
            let text = text.strip_prefix(":(glob)").or_else(|| text.strip_prefix(":(top)")).unwrap_or(text);
            match text.contains(['*', '?', '[']) {
                _ if text.starts_with(':') => walk.note_unknown_write(),
                false => walk.write(path, Extent::Tree, by),
                // In git's patterns, `*` also matches `/`.
                true => {
                    let (directory, name) = text.rsplit_once('/').unwrap_or(("", text));
                    let directory =
                        if directory.is_empty() { String::new() } else { format!("{directory}/") };
                    walk.write(&Word::Glob(format!("{directory}**/{name}")), Extent::File, by);
                }
            }
        }
        _ => walk.write(path, Extent::Tree, by),
    }
}

/// Writes files that come from a revision, or from the index: only those that differ are written.
pub(super) fn write_from_revision(walk: &mut Walk<'_>, path: &Word, revision: Option<&str>, by: &str) {
    let known = walk.count_writes();
    pathspec(walk, path, by);
    match revision {
        Some("") => walk.note_unknown_write(),
        Some(revision) if !revision.starts_with('-') => {
            let revision = walk.refs.get(revision).cloned().unwrap_or_else(|| revision.to_owned());
            walk.set_range(known, &revision);
        }
        // The index may have changed by then.
        _ => walk.note_unknown_write(),
    }
}

/// Returns the paths that a file or the standard input lists.
pub(super) fn listed(walk: &mut Walk<'_>, file: &Word) -> Vec<Word> {
    let lines = match file.text() {
        Some("-") => walk.input.lines(),
        Some(path) => {
            walk.file(path).map(|text| text.lines().map(|line| Word::Text(line.to_owned())).collect())
        }
        None => None,
    };
    lines.unwrap_or_else(|| {
        walk.note_unknown_write();
        Vec::new()
    })
}

/// Endings that files have and branches do not.
const ENDINGS: &[&str] = &[
    "c", "cc", "cfg", "cjs", "cpp", "cs", "css", "go", "h", "hpp", "html", "ini", "java", "js", "json",
    "jsx", "kt", "lock", "md", "mjs", "php", "proto", "py", "rb", "rs", "scss", "sh", "sql", "svelte",
    "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
];

/// Whether a word is a path, because it can hardly be the name of a branch.
pub(super) fn is_path(word: &Word) -> bool {
    match word {
        Word::Text(text) => {
            matches!(text.as_str(), "." | "..")
                || text.starts_with(['/', '.', ':'])
                || text.ends_with('/')
                || text.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
        }
        Word::Glob(_) => true,
        Word::Unknown => false,
    }
}

/// Whether a text is a revision, because it can hardly be the name of a file.
pub(super) fn is_revision(text: &str) -> bool {
    matches!(text, "HEAD" | "@" | "main" | "master" | "ORIG_HEAD" | "MERGE_HEAD" | "FETCH_HEAD")
        || text.contains(['~', '^'])
        || text.contains("@{")
        || text.starts_with("origin/")
        || (text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
