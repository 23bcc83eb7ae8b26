//! The identity of a project: the repository, not the folder.
//!
//! **All worktrees of one repository are one project, and so are its clones.**
//! The identity is the origin's address where there is one, else the first commit, else the path.
//! It is recorded when a repository is first seen, so a project keeps its identity when it gains
//! a remote or a commit.

use std::path::Path;

use serde::Deserialize;
use serde::Serialize;

use crate::id::id;

id! {
    /// The identity of a project: `github.com/owner/repo`, `commit:<sha>` or `path:/dir`.
    ProjectId
}

impl ProjectId {
    /// Shortens the id to a few letters: the repository's name, or the start of the commit.
    pub fn short(&self) -> &str {
        match self.as_str().strip_prefix("commit:") {
            Some(commit) => commit.get(..7).unwrap_or(commit),
            None => self.as_str().rsplit('/').next().unwrap_or_default(),
        }
    }

    /// Says how the repository is known: by its address, its first commit or its place.
    pub fn in_words(&self) -> String {
        match self.as_str().split_once(':') {
            Some(("commit", _)) => format!("known by its first commit, {}", self.short()),
            Some(("path", path)) => format!("known by its place, {path}"),
            _ => self.as_str().to_owned(),
        }
    }
}

/// A repository as this machine knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    /// The name that people use: the last part of the address or path.
    pub name: String,
}

impl Project {
    /// Decides the identity of a repository that was never seen before.
    pub fn identify(origin: Option<&str>, root_commit: Option<&str>, path: &Path) -> Project {
        let folder = || {
            path.file_name().map_or_else(
                || path.to_string_lossy().into_owned(),
                |name| name.to_string_lossy().into_owned(),
            )
        };
        if let Some(address) = origin.and_then(normalise_origin) {
            let name = address.rsplit('/').next().unwrap_or(&address).to_owned();
            return Project { id: address.into(), name };
        }
        if let Some(commit) = root_commit {
            return Project { id: format!("commit:{commit}").into(), name: folder() };
        }
        Project { id: format!("path:{}", path.display()).into(), name: folder() }
    }
}

/// Reduces an origin's address to one spelling: `git@host:a/b.git`, `ssh://git@host:22/a/b` and
/// `https://user:pw@HOST/a/b/` are `host/a/b`. `None` for local paths: they differ per machine.
pub(crate) fn normalise_origin(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = if let Some((scheme, rest)) = url.split_once("://") {
        if scheme == "file" {
            return None;
        }
        rest.split_once('/')?
    } else if url.starts_with(['/', '.', '~']) {
        return None;
    } else {
        let (host, path) = url.split_once(':')?;
        // `C:\repo` is a path, and so is `dir/with:colon`.
        if host.len() < 2 || host.contains('/') {
            return None;
        }
        (host, path)
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host).to_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_address() {
        for url in [
            "git@github.com:acme/Shop.git",
            "https://github.com/acme/Shop",
            "https://user:secret@GitHub.com/acme/Shop.git/",
            "ssh://git@github.com:22/acme/Shop.git",
        ] {
            assert_eq!(normalise_origin(url).as_deref(), Some("github.com/acme/Shop"), "{url}");
        }
        for url in ["/srv/git/shop.git", "../shop", "file:///srv/shop", r"C:\shop", "", "host:"] {
            assert_eq!(normalise_origin(url), None, "{url}");
        }
    }

    #[test]
    fn without_an_address_the_first_commit_decides_then_the_path() {
        let path = Path::new("/home/me/shop");
        let id = |origin, commit| Project::identify(origin, commit, path).id.to_string();
        assert_eq!(id(Some("../up"), Some("abc")), "commit:abc");
        assert_eq!(id(None, None), "path:/home/me/shop");
        assert_eq!(Project::identify(None, None, path).name, "shop");
    }

    #[test]
    fn an_id_can_be_read() {
        for (id, words) in [
            ("commit:0123456789ab", "known by its first commit, 0123456"),
            ("path:/home/you/a:b", "known by its place, /home/you/a:b"),
            ("github.com/acme/shop", "github.com/acme/shop"),
        ] {
            assert_eq!(ProjectId::from(id).in_words(), words);
        }
    }
}
