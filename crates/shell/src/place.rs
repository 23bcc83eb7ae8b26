//! The directory that a shell command runs in after `cd`, by which relative paths are resolved.

use crate::words;

/// A directory, absolute or relative to the one the command starts in. Unknown after a `cd` whose
/// target the text does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(Option<String>);

impl Place {
    pub(crate) fn start() -> Self {
        Self(Some(String::new()))
    }

    pub(crate) fn unknown() -> Self {
        Self(None)
    }

    /// Returns the directory after `cd` from here.
    pub(crate) fn enter(&self, directory: &str) -> Self {
        Self(self.path(directory))
    }

    /// Resolves `path` relative to the directory the command starts in; `None` if this place is unknown.
    pub(crate) fn path(&self, path: &str) -> Option<String> {
        self.join(path, |here| here.to_owned())
    }

    /// Resolves `pattern` like [`Self::path`]. The name of the directory is escaped, as it is no pattern.
    pub(crate) fn glob(&self, pattern: &str) -> Option<String> {
        self.join(pattern, words::escape)
    }

    fn join(&self, path: &str, quote: impl Fn(&str) -> String) -> Option<String> {
        if path.starts_with('/') {
            return Some(normal(path));
        }
        let here = self.0.as_deref()?;
        if here.is_empty() { Some(normal(path)) } else { Some(normal(&format!("{}/{path}", quote(here)))) }
    }
}

/// Resolves `.`, `..` and doubled slashes in the text of a path alone.
fn normal(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&"..") => parts.push(".."),
                Some(_) => {
                    parts.pop();
                }
                None if is_absolute => {}
                None => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    match (is_absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".into(),
        (false, false) => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_as_text() {
        for (path, expected) in [
            ("a/./b//c/", "a/b/c"),
            ("a/../..", ".."),
            ("../../x", "../../x"),
            ("/../x", "/x"),
            ("./", "."),
            ("/", "/"),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
    }

    #[test]
    fn cd_is_followed_until_it_is_not_known() {
        let place = Place::start().enter("src").enter("../lib");
        assert_eq!(place.path("a.rs").as_deref(), Some("lib/a.rs"));
        assert_eq!(Place::unknown().path("a.rs"), None);
        assert_eq!(Place::unknown().path("/a.rs").as_deref(), Some("/a.rs"));
        assert_eq!(Place::start().enter("[x]").glob("*.rs").as_deref(), Some("\\[x\\]/*.rs"));
    }
}
