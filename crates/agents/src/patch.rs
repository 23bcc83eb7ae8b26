//! Finds the files that a model's `apply_patch` text changes.

use std::path::PathBuf;

/// The marks at the beginning of a line that names a file.
const MARKS: [&str; 3] = ["*** Add File:", "*** Update File:", "*** Delete File:"];

/// The mark before a file's new name; it is never indented.
const MOVE: &str = "*** Move to:";

/// Tells whether a shell command only applies a patch: `apply_patch <<'EOF' …`.
pub(crate) fn is_patch_command(command: &str) -> bool {
    let command = command.trim_start();
    let Some((before, rest)) = command.split_once("*** Begin Patch") else { return false };
    let program = before.split(['<', '\'', '"']).next().unwrap_or_default().trim_end();
    let is_named = ["apply_patch", "applypatch"].contains(&program);
    // Only the quotes or here-document marks of the patch may be around it: anything else would be run.
    let is_mark = |c: char| c.is_alphanumeric() || "_-'\"<".contains(c) || c.is_whitespace();
    let ends = match before.split_once("<<") {
        Some((_, mark)) => {
            let mark = mark.trim_matches(|c: char| "-'\"".contains(c) || c.is_whitespace());
            let mut after = rest.lines().skip_while(|line| line.trim() != mark).skip(1);
            after.all(|line| line.trim().is_empty())
        }
        None => rest
            .rsplit_once("*** End Patch")
            .is_some_and(|(_, after)| matches!(after.trim(), "" | "'" | "\"")),
    };
    is_named && before.chars().all(is_mark) && ends
}

/// Tells whether a patch deletes a file.
pub(crate) fn deletes(patch: &str) -> bool {
    patch.lines().any(|line| line.trim_start().starts_with(MARKS[2]))
}

/// Returns every file that a patch names, each once. Added and removed lines begin with `+` or `-`, so they
/// cannot name a file; an unchanged line that looks like a mark counts as one.
pub(crate) fn paths(patch: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for line in patch.lines() {
        let named = MARKS.iter().find_map(|mark| line.trim_start().strip_prefix(mark));
        if let Some(path) = named.or_else(|| line.strip_prefix(MOVE)) {
            let path = PathBuf::from(path.trim());
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_comes_by_the_shell_is_all_that_is_run() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        assert!(deletes(patch));
        for command in [
            format!("apply_patch <<'EOF'\n{patch}EOF"),
            format!("apply_patch '{patch}'"),
            format!(" applypatch <<\"E\"\n{patch}E\n"),
        ] {
            assert!(is_patch_command(&command), "{command}");
        }
        for command in [
            format!("apply_patch <<'EOF'\n{patch}EOF\nrm b"),
            format!("apply_patch <<'EOF'; rm b\n{patch}EOF"),
            format!("apply_patch '{patch}' && rm b"),
            format!("apply_patch x | sh # {patch}"),
            format!("apply_patch\nreboot <<'EOF'\n{patch}EOF"),
            "apply_patch # *** Begin Patch".to_owned(),
        ] {
            assert!(!is_patch_command(&command), "{command}");
        }
    }

    #[test]
    fn every_file_is_named_once_and_no_line_of_a_file_is_one() {
        let patch = "*** Begin Patch\n  *** Add File: a b.rs\n+*** Delete File: not.rs\n\
                     *** Update File: src/old.rs\n*** Move to: src/new.rs\n@@\n-x\n+y\n\
                     *** Update File: src/old.rs\n*** Delete File: gone.rs\r\n*** End Patch\n";
        let paths: Vec<String> = paths(patch).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(paths, ["a b.rs", "src/old.rs", "src/new.rs", "gone.rs"]);
    }
}
