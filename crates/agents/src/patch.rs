//! Finds the files that a model's `apply_patch` text changes.

use std::path::PathBuf;

/// What stands before a path, on a line of its own.
const MARKS: [&str; 3] = ["*** Add File:", "*** Update File:", "*** Delete File:"];

/// The same where a file gets another name; this one is never indented.
const MOVE: &str = "*** Move to:";

/// Whether a command for the shell is a patch: `apply_patch <<'EOF' …`.
pub(crate) fn is_piped(command: &str) -> bool {
    let command = command.trim_start();
    ["apply_patch", "applypatch"].iter().any(|name| command.starts_with(name))
        && command.contains("*** Begin Patch")
}

/// Every file that a patch names, each once. Its own lines begin with `+`, `-`
/// or a space, so none of them can name one.
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
    fn every_file_is_named_once_and_no_line_of_a_file_is_one() {
        let patch = "*** Begin Patch\n  *** Add File: a b.rs\n+*** Delete File: not.rs\n\
                     *** Update File: src/old.rs\n*** Move to: src/new.rs\n@@\n-x\n+y\n\
                     *** Update File: src/old.rs\n*** Delete File: gone.rs\r\n*** End Patch\n";
        let paths: Vec<String> = paths(patch).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(paths, ["a b.rs", "src/old.rs", "src/new.rs", "gone.rs"]);
    }
}
