//! Reads and writes Yjs state vectors: the clock up to which each writer's edits are known.

use std::collections::BTreeMap;

use super::reader::Reader;
use super::reader::write_uint;
use crate::error::CrdtError;

pub(crate) fn read_vector(bytes: &[u8]) -> Result<BTreeMap<u64, u32>, CrdtError> {
    let mut reader = Reader::new(bytes);
    let mut vector = BTreeMap::new();
    for _ in 0..reader.count()? {
        let writer = reader.uint()?;
        vector.insert(writer, reader.clock()?);
    }
    if reader.is_done() { Ok(vector) } else { Err(reader.fail("more than a vector")) }
}

/// Encodes a state vector, the greatest writer first, as Yjs does.
pub(crate) fn write_vector(vector: &BTreeMap<u64, u32>) -> Vec<u8> {
    let mut out = Vec::new();
    write_uint(&mut out, vector.len() as u64);
    for (writer, clock) in vector.iter().rev() {
        write_uint(&mut out, *writer);
        write_uint(&mut out, u64::from(*clock));
    }
    out
}
