//! Sorts the bytes of a Yjs update into one order, so that equal documents are equal
//! bytes.
//!
//! yrs keeps objects in a map with random order, and removals by ascending writer where Yjs has
//! them descending. Both are put into the order in which Yjs itself writes them, so that **the same
//! document is the same bytes**, here and from JavaScript. Sorting does not change the length.

use super::Limits;
use super::reader::Reader;
use super::survey::survey;
use crate::error::CrdtError;

/// Sorts one of our own updates; an update that cannot be parsed stays as it is.
pub(crate) fn canonical(mut update: Vec<u8>) -> Vec<u8> {
    let limits = Limits { bytes: usize::MAX, items: usize::MAX, ..Limits::default() };
    let Ok(found) = survey(&update, &limits) else { return update };
    let objects = found.objects;
    let mut removals = found.removals;
    if let (Some((_, first)), Some((_, last))) = (removals.first(), removals.last()) {
        let whole = first.start..last.end;
        removals.sort_by_key(|(writer, _)| std::cmp::Reverse(*writer));
        let sorted: Vec<u8> = removals.into_iter().flat_map(|(_, span)| &update[span]).copied().collect();
        update[whole].copy_from_slice(&sorted);
    }
    for at in objects {
        // The survey has just read this value, so reading it again cannot fail.
        let _ = sort_objects(&mut update[at..]);
    }
    update
}

/// Sorts every object in the value at the beginning of `bytes`; returns the value's length.
fn sort_objects(bytes: &mut [u8]) -> Result<usize, CrdtError> {
    let mut reader = Reader::new(bytes);
    match reader.byte()? {
        117 => {
            let count = reader.count()?;
            let mut at = reader.at();
            for _ in 0..count {
                at += sort_objects(&mut bytes[at..])?;
            }
            Ok(at)
        }
        118 => {
            let count = reader.count()?;
            let first = reader.at();
            let mut at = first;
            let mut fields = Vec::new();
            for _ in 0..count {
                let mut reader = Reader::new(&bytes[at..]);
                let order = rank(reader.text()?);
                let value = at + reader.at();
                let end = value + sort_objects(&mut bytes[value..])?;
                fields.push((order, at..end));
                at = end;
            }
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            let sorted: Vec<u8> = fields.into_iter().flat_map(|(_, span)| &bytes[span]).copied().collect();
            bytes[first..at].copy_from_slice(&sorted);
            Ok(at)
        }
        kind => {
            match kind {
                122 | 123 => drop(reader.take(8)?),
                124 => drop(reader.take(4)?),
                125 => reader.skip_int()?,
                116 | 119 => drop(reader.blob()?),
                _ => {}
            }
            Ok(reader.at())
        }
    }
}

/// Returns the sort key of a field: JavaScript lists array indexes first, by number.
fn rank(name: &str) -> (u32, String) {
    match name.parse::<u32>() {
        Ok(index) if index != u32::MAX && index.to_string() == name => (index, String::new()),
        _ => (u32::MAX, name.to_owned()),
    }
}
