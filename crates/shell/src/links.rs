//! Follows links that a shell text makes: a write to a link is a write to its target.

use crate::walk::Walk;

impl Walk<'_> {
    /// Resolves the links that the text has made in a path; `None` if a target is not known.
    pub(crate) fn behind_links(&self, path: String, is_entry: bool) -> Option<String> {
        let mut path = path;
        for _ in 0..=self.links.len() {
            let below = |link: &str| path.strip_prefix(link).filter(|rest| rest.starts_with('/'));
            let found = self.links.iter().rev().find_map(|(link, to)| match below(link) {
                Some(rest) => Some((rest, to)),
                None if path == *link && !is_entry => Some(("", to)),
                None => None,
            });
            match found {
                Some((rest, to)) => path = format!("{}{rest}", to.as_deref()?),
                None => return Some(path),
            }
        }
        None
    }
}
