//! Finds the files that a patch would write, by the names in it (`patch`, `git apply`).

use crate::Extent;
use crate::globs;
use crate::input::Input;
use crate::walk::Walk;
use crate::words::Word;

/// Writes the files that a patch names, without the first `strip` parts of their paths; without
/// `strip`, by the last part alone, as `patch` does.
pub(super) fn write(walk: &mut Walk<'_>, text: &str, strip: Option<usize>, by: &str) {
    write_some(walk, text, strip, by, &[], &[]);
}

/// Writes the files like `write`, but only those that match one of `with`, if
/// there are any, and none of `without`.
pub(super) fn write_some(
    walk: &mut Walk<'_>,
    text: &str,
    strip: Option<usize>,
    by: &str,
    with: &[String],
    without: &[String],
) {
    let mut is_any = false;
    for path in files(text) {
        let path = match strip {
            Some(count) => path.splitn(count + 1, '/').nth(count).unwrap_or(path),
            None => path.rsplit('/').next().unwrap_or(path),
        };
        is_any = true;
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| globs::matches(pattern, path));
        if !with.is_empty() && !fits(with) || fits(without) {
            continue;
        }
        walk.write(&Word::Text(path.to_owned()), Extent::File, by);
    }
    if !is_any {
        walk.note_unknown_write();
    }
}

/// Whether a patch does not fit the files that it names: then git changes none of them.
pub(super) fn fails(walk: &Walk<'_>, text: &str, strip: usize, is_reverse: bool) -> bool {
    let (kept, other) = if is_reverse { ('+', '-') } else { ('-', '+') };
    let path_of = |line: &str| {
        let path = line[4..].split('\t').next().unwrap_or_default().trim();
        path.splitn(strip + 1, '/').nth(strip).unwrap_or(path).to_owned()
    };
    let lines: Vec<&str> = text.lines().collect();
    let (mut file, mut hunk): (Option<String>, Option<String>) = (None, None);
    let lacks = |file: &Option<String>, hunk: &Option<String>| match (file, hunk) {
        (Some(file), Some(hunk)) => !file.contains(hunk.as_str()),
        _ => false,
    };
    for (at, line) in lines.iter().enumerate() {
        let is_header =
            line.starts_with("--- ") && lines.get(at + 1).is_some_and(|next| next.starts_with("+++ "));
        let ends = is_header || line.starts_with("@@ ") || line.starts_with("diff --git ");
        if ends && lacks(&file, &hunk) {
            return true;
        }
        if is_header {
            let path = path_of(if is_reverse { lines[at + 1] } else { line });
            (file, hunk) = (walk.names().unchanged_file(&path), None);
        } else if ends {
            hunk = line.starts_with("@@ ").then(String::new);
        } else if let Some(hunk) = &mut hunk
            && !line.starts_with([other, '\\'])
            && !line.starts_with("+++ ")
        {
            hunk.push_str(line.strip_prefix([kept, ' ']).unwrap_or(line));
            hunk.push('\n');
        }
    }
    lacks(&file, &hunk)
}

fn files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let path = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "))?;
        let path = path.split('\t').next()?.trim().trim_matches('"');
        (path != "/dev/null" && !path.is_empty()).then_some(path)
    })
}

/// Writes the files of a patch if the input is the output of git; returns whether it is.
pub(super) fn from_git(walk: &mut Walk<'_>, by: &str) -> bool {
    let Input::Patch { range, paths } = walk.input.clone() else { return false };
    if paths.is_empty() {
        walk.write_commits(&range.iter().map(String::as_str).collect::<Vec<_>>(), by);
    }
    paths.into_iter().for_each(|path| walk.write(&Word::Text(path), Extent::Tree, by));
    walk.note_unknown_write();
    true
}
