//! Our lines in a text that agents read: how to work with others.

use consort_core::PRIMER;

use crate::Connection;

/// Between these two.
const BEGIN: &str = "<!-- consort: written by `consort init --primer` -->\n";
const END: &str = "<!-- consort: end -->\n";

fn ours() -> String {
    format!("{BEGIN}{PRIMER}{END}")
}

pub(crate) fn connection(found: &str) -> Connection {
    match place(found) {
        None => Connection::Absent,
        Some((from, to)) if found[from..to] == ours() => Connection::Current,
        Some(_) => Connection::Outdated,
    }
}

pub(crate) fn connect(found: Option<&str>) -> String {
    let found = found.unwrap_or_default();
    if let Some((from, to)) = place(found) {
        return format!("{}{}{}", &found[..from], ours(), &found[to..]);
    }
    match found.trim_end() {
        "" => ours(),
        text => format!("{text}\n\n{}", ours()),
    }
}

pub(crate) fn disconnect(found: &str) -> String {
    let Some((from, to)) = place(found) else { return found.to_owned() };
    let (before, after) = (found[..from].trim_end(), &found[to..]);
    match (before, after) {
        ("", after) => after.to_owned(),
        (before, after) => format!("{before}\n{after}"),
    }
}

fn place(found: &str) -> Option<(usize, usize)> {
    let from = found.find(BEGIN)?;
    let end = found[from..].find(END)?;
    Some((from, from + end + END.len()))
}
