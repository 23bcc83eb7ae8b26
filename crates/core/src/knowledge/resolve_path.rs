//! Finds the file of the project that a written path means.
//!
//! Agents write absolute paths by habit, people write what they see from their directory. **Each
//! file has one name: relative to its worktree, without symbolic links.**

use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use crate::host::Host;

/// The worktree and the directory by which a caller's paths are resolved.
pub(super) struct PathBase<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) worktree: &'a Path,
    pub(super) cwd: &'a Path,
}

impl PathBase<'_> {
    /// Returns the file's name in the project, or why it has none.
    pub(super) fn place(&self, written: &str) -> Result<String, String> {
        let path = self.meant(Path::new(written.strip_prefix("file://").unwrap_or(written)));
        let (real, root) = (self.host.real_path(&path), self.host.real_path(self.worktree));
        let inside = clean(&real).strip_prefix(&root).ok().map(Path::to_owned);
        let name = match inside {
            Some(inside) => inside.to_string_lossy().into_owned(),
            // Another worktree has the same files.
            None => {
                let located = self.host.locate(&path);
                let ours = self.host.locate(self.worktree).repository;
                if located.repository.is_none() || located.repository != ours {
                    return Err(format!("is outside the project, which is {}", root.display()));
                }
                located.path
            }
        };
        if name.is_empty() { Err("is the project's directory, not a file".to_owned()) } else { Ok(name) }
    }

    /// Resolves `src/a.rs:12` if its file is in the project. A file that exists elsewhere is
    /// refused, and so is one above the project; any other text stays as it is written.
    pub(super) fn location(&self, written: &str) -> Result<String, String> {
        let (path, line) = split_line(written);
        if path.contains("://") || path.contains(char::is_whitespace) {
            return Ok(written.to_owned());
        }
        match self.place(path) {
            Ok(name) => Ok(format!("{name}{line}")),
            Err(_)
                if !Path::new(path).starts_with("..")
                    && !self.host.locate(&self.meant(Path::new(path))).exists =>
            {
                Ok(written.to_owned())
            }
            Err(why) => Err(format!("`{path}` {why}")),
        }
    }

    /// Resolves a path from the caller's directory, if it begins with `.` or `..` or the file
    /// exists there; else from the worktree.
    fn meant(&self, written: &Path) -> PathBuf {
        let first = written.components().next();
        let is_said = matches!(first, Some(Component::CurDir | Component::ParentDir));
        let here = self.cwd.join(written);
        let is_here = self.cwd != self.worktree && self.host.locate(&here).exists;
        if is_said || is_here { here } else { self.worktree.join(written) }
    }
}

/// Splits a path from `:15` or `:15-20` after it.
pub(super) fn split_line(place: &str) -> (&str, &str) {
    let is_line =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match place.split_once(':') {
        Some((path, lines)) if lines.split(':').all(is_line) => place.split_at(path.len()),
        _ => (place, ""),
    }
}

/// Removes `.` and `..` from a path by its text, for parts that do not exist.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}
