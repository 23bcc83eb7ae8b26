//! The block of instructions that `init --primer` puts into the Markdown file that a
//! CLI's agents read.

use std::ops::Range;

use consort_core::primer;

use crate::InsertionState;
use crate::appended_lines;

/// The lines around our block. Each is matched without its line ending, because editors change those.
const BEGIN: &str = "<!-- consort: written by `consort init --primer` -->";
const END: &str = "<!-- consort: end -->";

fn ours() -> String {
    format!("{BEGIN}\n{}{END}\n", primer::for_shells())
}

pub(crate) fn connection(found: &str) -> InsertionState {
    match place(found) {
        None => InsertionState::Absent,
        Some(place) if found[place.clone()].lines().eq(ours().lines()) => InsertionState::Current,
        Some(_) => InsertionState::Outdated,
    }
}

pub(crate) fn connect(found: Option<&str>) -> String {
    let found = found.unwrap_or_default();
    match place(found) {
        Some(place) if connection(found) != InsertionState::Current => {
            let ours = appended_lines::with_line_endings(&ours(), found);
            format!("{}{ours}{}", &found[..place.start], &found[place.end..])
        }
        Some(_) => found.to_owned(),
        None => appended_lines::append(found, &ours()),
    }
}

pub(crate) fn disconnect(found: &str) -> String {
    place(found).map_or_else(|| found.to_owned(), |place| appended_lines::cut(found, place))
}

fn place(found: &str) -> Option<Range<usize>> {
    let from = found.find(BEGIN)?;
    let end = from + found[from..].find(END)?;
    let rest = &found[end + END.len()..];
    let ending = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    Some(from..end + END.len() + ending)
}
