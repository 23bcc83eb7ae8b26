//! Visits the runs of entries in a Yjs update, one after the other, without the document.

use std::collections::BTreeMap;
use std::ops::Range;

use super::MAX_DEPTH;
use super::reader::Reader;
use crate::error::CrdtError;

pub(super) const RUN_GONE: u8 = 0;
pub(super) const RUN_SKIPPED: u8 = 10;
pub(super) const CONTENT: u8 = 0b0001_1111;
pub(super) const CONTENT_REMOVED: u8 = 1;
const HAS_LEFT: u8 = 0b1000_0000;

/// One entry, or several consecutive entries that are removed.
pub(super) struct Run<'a> {
    pub(super) writer: u64,
    pub(super) clock: u32,
    pub(super) length: u32,
    pub(super) info: u8,
    /// The entry that this one replaces.
    pub(super) origin: Option<(u64, u32)>,
    /// The root and the key, if the entry replaces none; they may not be UTF-8.
    pub(super) place: Option<(&'a [u8], &'a [u8])>,
    pub(super) span: Range<usize>,
}

/// A set of clocks, by writer. It stores ranges, as a run may be longer than memory.
#[derive(Default)]
pub(super) struct Clocks(BTreeMap<(u64, u32), u32>);

impl Clocks {
    pub(super) fn insert(&mut self, run: &Run<'_>) {
        self.0.insert((run.writer, run.clock), run.clock.saturating_add(run.length));
    }

    pub(super) fn contain(&self, writer: u64, clock: u32) -> bool {
        let before = self.0.range(..=(writer, clock)).next_back();
        before.is_some_and(|((of, _), end)| *of == writer && clock < *end)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Visits all runs; returns the offset at which the removals begin.
pub(super) fn walk<'a>(update: &'a [u8], visit: &mut dyn FnMut(&Run<'a>)) -> Result<usize, CrdtError> {
    let mut reader = Reader::new(update);
    for _ in 0..reader.count()? {
        let (count, writer, mut clock) = (reader.count()?, reader.uint()?, reader.clock()?);
        for _ in 0..count {
            let start = reader.at();
            let info = reader.byte()?;
            let (mut origin, mut place) = (None, None);
            let length = if matches!(info, RUN_GONE | RUN_SKIPPED) {
                reader.clock()?
            } else {
                if info & HAS_LEFT != 0 {
                    origin = Some((reader.uint()?, reader.clock()?));
                } else {
                    reader.uint()?;
                    place = Some((reader.blob()?, reader.blob()?));
                }
                if info & CONTENT == CONTENT_REMOVED {
                    reader.clock()?
                } else {
                    reader.uint()?;
                    skip_value(&mut reader, MAX_DEPTH)?;
                    1
                }
            };
            visit(&Run { writer, clock, length, info, origin, place, span: start..reader.at() });
            clock = clock.saturating_add(length);
        }
    }
    Ok(reader.at())
}

fn skip_value(reader: &mut Reader<'_>, depth: usize) -> Result<(), CrdtError> {
    let inner = || depth.checked_sub(1).ok_or(CrdtError::TooMuch { what: "levels", limit: MAX_DEPTH });
    match reader.byte()? {
        122 | 123 => drop(reader.take(8)?),
        124 => drop(reader.take(4)?),
        125 => reader.skip_int()?,
        116 | 119 => drop(reader.blob()?),
        118 => {
            let inner = inner()?;
            for _ in 0..reader.count()? {
                reader.blob()?;
                skip_value(reader, inner)?;
            }
        }
        117 => {
            let inner = inner()?;
            for _ in 0..reader.count()? {
                skip_value(reader, inner)?;
            }
        }
        _ => {}
    }
    Ok(())
}
