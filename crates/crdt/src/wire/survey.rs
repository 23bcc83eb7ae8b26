//! Validates a Yjs update from end to end, and lists its contents, before yrs sees it.
//!
//! **An update that passes has only entries of root maps, one value each, and
//! removals.** The checks that look arbitrary each keep out something on which yrs
//! 0.28 would panic or abort, by its sources: empty sections (`unwrap`), runs of
//! length 0 (division by zero while searching a block, which was also seen), clocks
//! near 2^31 (they are subtracted as `i32`), numbers of more than 64 bits (shift
//! overflow), deep nesting (recursion), ids of more than 53 bits (an assertion).

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Range;

use super::Limits;
use super::reader::Reader;
use crate::error::CrdtError;

const RUN_GONE: u8 = 0;
const RUN_SKIPPED: u8 = 10;
const CONTENT: u8 = 0b0001_1111;
const CONTENT_REMOVED: u8 = 1;
const CONTENT_ANY: u8 = 8;
const HAS_KEY: u8 = 0b0010_0000;
const HAS_RIGHT: u8 = 0b0100_0000;
const HAS_LEFT: u8 = 0b1000_0000;

/// The contents of an update.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    /// The roots that the update names; an entry that replaces an older one names none.
    pub(crate) roots: BTreeSet<&'a str>,
    /// The offsets of the values that contain an object of several fields.
    pub(crate) objects: Vec<usize>,
    /// The writers of the removals, each with the bytes of its removals.
    pub(crate) removals: Vec<(u64, Range<usize>)>,
    /// The clocks that the update brings, by writer.
    brings: BTreeMap<u64, Range<u32>>,
    /// The clocks that the receiver must have already: the greatest end of a skipped run, by writer.
    skips: BTreeMap<u64, u32>,
    /// The clock up to which each writer must be known for the update to make sense.
    needs: BTreeMap<u64, u32>,
}

impl Survey<'_> {
    /// Checks that all edits the update builds on are in `vector` or in the update itself.
    pub(crate) fn follows(&self, vector: &BTreeMap<u64, u32>) -> Result<(), CrdtError> {
        let known = |writer: &u64| vector.get(writer).copied().unwrap_or_default();
        let starts = self.brings.iter().map(|(writer, clocks)| (writer, clocks.start));
        let skips = self.skips.iter().map(|(writer, clock)| (writer, *clock));
        for (writer, clock) in starts.chain(skips) {
            if clock > known(writer) {
                return Err(CrdtError::Gap { writer: *writer, clock });
            }
        }
        for (writer, clock) in &self.needs {
            let brought = self.brings.get(writer).map_or(0, |clocks| clocks.end);
            if *clock > known(writer).max(brought) {
                return Err(CrdtError::Gap { writer: *writer, clock: *clock });
            }
        }
        Ok(())
    }

    fn need(&mut self, writer: u64, clock: u32) {
        let need = self.needs.entry(writer).or_default();
        *need = clock.max(*need);
    }
}

pub(crate) fn survey<'a>(update: &'a [u8], limits: &Limits) -> Result<Survey<'a>, CrdtError> {
    if update.len() > limits.bytes {
        return Err(CrdtError::TooMuch { what: "bytes", limit: limits.bytes });
    }
    let mut walk = Surveyor {
        reader: Reader::new(update),
        limits,
        items: 0,
        last_root: None,
        removed_of: BTreeSet::new(),
        survey: Survey::default(),
    };
    for _ in 0..walk.reader.count()? {
        walk.section()?;
    }
    for _ in 0..walk.reader.count()? {
        walk.removals()?;
    }
    if !walk.reader.is_done() {
        return Err(walk.reader.fail("more than an update"));
    }
    Ok(walk.survey)
}

struct Surveyor<'a, 'l> {
    reader: Reader<'a>,
    limits: &'l Limits,
    items: usize,
    /// The root of the last entry; entries of one entity are mostly consecutive.
    last_root: Option<&'a str>,
    removed_of: BTreeSet<u64>,
    survey: Survey<'a>,
}

impl Surveyor<'_, '_> {
    fn foreign(&self, what: &'static str) -> CrdtError {
        CrdtError::Foreign { at: self.reader.at(), what }
    }

    fn item(&mut self) -> Result<(), CrdtError> {
        self.items += 1;
        let limit = self.limits.items;
        if self.items > limit { Err(CrdtError::TooMuch { what: "items", limit }) } else { Ok(()) }
    }

    /// Reads all runs of one writer.
    fn section(&mut self) -> Result<(), CrdtError> {
        let count = self.reader.count()?;
        let writer = self.reader.uint()?;
        let start = self.reader.clock()?;
        if count == 0 {
            return Err(self.reader.fail("a writer of nothing"));
        }
        let mut clock = start;
        for _ in 0..count {
            self.item()?;
            let length = self.run(writer, clock)?;
            let end = clock.checked_add(length).filter(|end| i32::try_from(*end).is_ok() && length > 0);
            clock = end.ok_or_else(|| self.reader.fail("a run of impossible length"))?;
        }
        if self.survey.brings.insert(writer, start..clock).is_some() {
            return Err(self.reader.fail("the same writer twice"));
        }
        Ok(())
    }

    /// Reads an entry, or a run of removed entries; returns how many clocks it takes.
    fn run(&mut self, writer: u64, clock: u32) -> Result<u32, CrdtError> {
        let info = self.reader.byte()?;
        match info {
            RUN_GONE => return self.reader.clock(),
            RUN_SKIPPED => {
                let length = self.reader.clock()?;
                let end = self.survey.skips.entry(writer).or_default();
                *end = clock.saturating_add(length).max(*end);
                return Ok(length);
            }
            _ => {}
        }
        if info & HAS_RIGHT != 0 {
            return Err(self.foreign("an element of a list"));
        }
        if info & HAS_LEFT != 0 {
            let (before, at) = (self.reader.uint()?, self.reader.clock()?);
            if before == writer && at >= clock {
                return Err(self.reader.fail("an entry that follows itself"));
            }
            self.survey.need(before, at.saturating_add(1));
        } else {
            self.place(info)?;
        }
        match info & CONTENT {
            CONTENT_REMOVED => self.reader.clock(),
            CONTENT_ANY => {
                if self.reader.uint()? != 1 {
                    return Err(self.foreign("several values in one entry"));
                }
                let at = self.reader.at();
                if self.value(self.limits.depth)? {
                    self.survey.objects.push(at);
                }
                Ok(1)
            }
            _ => Err(self.foreign("not a plain value")),
        }
    }

    /// Reads the root and the key of an entry.
    fn place(&mut self, info: u8) -> Result<(), CrdtError> {
        if self.reader.uint()? != 1 {
            return Err(self.foreign("something nested"));
        }
        let root = self.reader.text()?;
        if self.last_root != Some(root) {
            self.last_root = Some(root);
            self.survey.roots.insert(root);
        }
        if info & HAS_KEY == 0 {
            return Err(self.foreign("an entry without a key"));
        }
        self.reader.text().map(drop)
    }

    /// Reads a value; returns whether it contains an object of several fields.
    fn value(&mut self, depth: usize) -> Result<bool, CrdtError> {
        let kind = self.reader.byte()?;
        let inner =
            || depth.checked_sub(1).ok_or(CrdtError::TooMuch { what: "levels", limit: self.limits.depth });
        let mut found = false;
        match kind {
            120 | 121 | 126 | 127 => {}
            122 | 123 => drop(self.reader.take(8)?),
            124 => drop(self.reader.take(4)?),
            125 => self.reader.skip_int()?,
            119 => drop(self.reader.text()?),
            116 => drop(self.reader.blob()?),
            118 => {
                let inner = inner()?;
                let count = self.reader.count()?;
                found = count > 1;
                for _ in 0..count {
                    self.reader.text()?;
                    found |= self.value(inner)?;
                }
            }
            117 => {
                let inner = inner()?;
                for _ in 0..self.reader.count()? {
                    found |= self.value(inner)?;
                }
            }
            _ => return Err(self.reader.fail("an unknown kind of value")),
        }
        Ok(found)
    }

    /// Reads the removals of one writer.
    fn removals(&mut self) -> Result<(), CrdtError> {
        let start = self.reader.at();
        let writer = self.reader.uint()?;
        let count = self.reader.count()?;
        if count == 0 || !self.removed_of.insert(writer) {
            return Err(self.reader.fail("a writer of nothing, or twice"));
        }
        let mut end = 0;
        for _ in 0..count {
            self.item()?;
            let (clock, length) = (self.reader.clock()?, self.reader.clock()?);
            if length == 0 || clock < end {
                return Err(self.reader.fail("removals out of order"));
            }
            end = clock.saturating_add(length);
        }
        self.survey.need(writer, end);
        self.survey.removals.push((writer, start..self.reader.at()));
        Ok(())
    }
}
