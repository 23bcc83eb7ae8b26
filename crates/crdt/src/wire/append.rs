//! Adds the entries of one writer to the bytes of a Yjs update, without the document.
//!
//! A new entry of a root map says its root, its key and its value, and nothing
//! of its own clock: those of one writer can follow the ones before. **The result
//! is the bytes that the document itself would have written.**

use std::ops::Range;

use super::reader::Reader;
use super::reader::write_uint;
use super::survey::Section;
use crate::error::CrdtError;

/// `state` with the runs of `added` at the end of their writer's. `sections` are those
/// of `state`, by descending writer as Yjs has them; `new` is the only one of `added`.
pub(crate) fn append(
    state: &[u8],
    sections: &[Section],
    added: &[u8],
    new: &Section,
) -> Result<Vec<u8>, CrdtError> {
    let mut reader = Reader::new(state);
    let writers = reader.count()?;
    let first = reader.at();
    let end = sections.last().map_or(first, |last| last.runs.end);
    let known = sections.iter().find(|section| section.writer == new.writer);
    let mut bytes = Vec::with_capacity(state.len() + added.len());
    write_uint(&mut bytes, (writers + usize::from(known.is_none())) as u64);
    let runs = &added[new.runs.clone()];
    match known {
        Some(known) => {
            bytes.extend_from_slice(&state[first..known.at]);
            write_uint(&mut bytes, (known.count + new.count) as u64);
            write_uint(&mut bytes, known.writer);
            write_uint(&mut bytes, known.start.into());
            bytes.extend_from_slice(&state[known.runs.clone()]);
            bytes.extend_from_slice(runs);
            bytes.extend_from_slice(&state[known.runs.end..]);
        }
        None => {
            let before = sections.iter().find(|section| section.writer < new.writer);
            let at = before.map_or(end, |section| section.at);
            bytes.extend_from_slice(&state[first..at]);
            let section: Range<usize> = new.at..new.runs.end;
            bytes.extend_from_slice(&added[section]);
            bytes.extend_from_slice(&state[at..]);
        }
    }
    Ok(bytes)
}
