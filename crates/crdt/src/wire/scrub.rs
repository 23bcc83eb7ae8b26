//! Removes what entities say from the bytes of a Yjs update, and keeps its entries: their
//! clocks are what later updates build on.

use std::collections::BTreeSet;

use super::Limits;
use super::reader::Reader;
use super::reader::write_blob;
use super::reader::write_uint;
use super::survey;
use crate::error::CrdtError;

const RUN_GONE: u8 = 0;
const RUN_SKIPPED: u8 = 10;
const CONTENT: u8 = 0b0001_1111;
const CONTENT_REMOVED: u8 = 1;
const HAS_LEFT: u8 = 0b1000_0000;

/// Rounds in which entries are followed that replace others; what we write needs one.
const MOST_ROUNDS: usize = 8;

/// An entry in the bytes of an update.
struct Item<'a> {
    writer: u64,
    clock: u32,
    length: u32,
    info: u8,
    origin: Option<(u64, u32)>,
    place: Option<(&'a str, &'a str)>,
}

/// The update, in which the entries of these roots have no value and no member's name.
pub(crate) fn scrub(update: &[u8], roots: &BTreeSet<&str>) -> Result<Vec<u8>, CrdtError> {
    survey(update, &Limits::default())?;
    let mut gone: BTreeSet<(u64, u32)> = BTreeSet::new();
    for _ in 0..MOST_ROUNDS {
        let before = gone.len();
        walk(update, &mut |item, _| {
            let is_meant = match (item.place, item.origin) {
                (Some((root, _)), _) => roots.contains(root),
                (None, Some(origin)) => gone.contains(&origin),
                (None, None) => false,
            };
            if is_meant {
                gone.extend(
                    (item.clock..item.clock.saturating_add(item.length)).map(|clock| (item.writer, clock)),
                );
            }
            Ok(())
        })?;
        if gone.len() == before {
            break;
        }
    }
    let mut out = Vec::with_capacity(update.len());
    let mut copied = 0;
    walk(update, &mut |item, span| {
        if gone.contains(&(item.writer, item.clock)) {
            out.extend_from_slice(&update[copied..span.start]);
            write_emptied(&mut out, item);
            copied = span.end;
        }
        Ok(())
    })?;
    out.extend_from_slice(&update[copied..]);
    Ok(out)
}

fn write_emptied(out: &mut Vec<u8>, item: &Item<'_>) {
    out.push(item.info & !CONTENT | CONTENT_REMOVED);
    match (item.origin, item.place) {
        (Some((writer, clock)), _) => {
            write_uint(out, writer);
            write_uint(out, clock.into());
        }
        (None, Some((root, key))) => {
            write_uint(out, 1);
            write_blob(out, root.as_bytes());
            // The name of a field says nothing; that of a member is what was said.
            let key = match (key.split_once('/'), key.rsplit_once('@')) {
                (Some((set, _)), Some((_, writer))) => format!("{set}/forgotten-{}@{writer}", item.clock),
                _ => key.to_owned(),
            };
            write_blob(out, key.as_bytes());
        }
        (None, None) => {}
    }
    write_uint(out, item.length.into());
}

type Visit<'v, 'a> = dyn FnMut(&Item<'a>, std::ops::Range<usize>) -> Result<(), CrdtError> + 'v;

/// Visits all entries of an update that was surveyed.
fn walk<'a>(update: &'a [u8], visit: &mut Visit<'_, 'a>) -> Result<(), CrdtError> {
    let mut reader = Reader::new(update);
    for _ in 0..reader.count()? {
        let (count, writer, mut clock) = (reader.count()?, reader.uint()?, reader.clock()?);
        for _ in 0..count {
            let start = reader.at();
            let info = reader.byte()?;
            if matches!(info, RUN_GONE | RUN_SKIPPED) {
                clock = clock.saturating_add(reader.clock()?);
                continue;
            }
            let (mut origin, mut place) = (None, None);
            if info & HAS_LEFT != 0 {
                origin = Some((reader.uint()?, reader.clock()?));
            } else {
                reader.uint()?;
                place = Some((reader.text()?, reader.text()?));
            }
            let length = match info & CONTENT {
                CONTENT_REMOVED => reader.clock()?,
                _ => {
                    reader.uint()?;
                    skip_value(&mut reader)?;
                    1
                }
            };
            visit(&Item { writer, clock, length, info, origin, place }, start..reader.at())?;
            clock = clock.saturating_add(length);
        }
    }
    Ok(())
}

fn skip_value(reader: &mut Reader<'_>) -> Result<(), CrdtError> {
    match reader.byte()? {
        122 | 123 => drop(reader.take(8)?),
        124 => drop(reader.take(4)?),
        125 => reader.skip_int()?,
        116 | 119 => drop(reader.blob()?),
        118 => {
            for _ in 0..reader.count()? {
                reader.blob()?;
                skip_value(reader)?;
            }
        }
        117 => {
            for _ in 0..reader.count()? {
                skip_value(reader)?;
            }
        }
        _ => {}
    }
    Ok(())
}
