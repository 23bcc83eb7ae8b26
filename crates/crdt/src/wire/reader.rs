//! Decodes the primitives of Yjs's binary encoding (lib0): numbers, strings, blobs.
//!
//! **Nothing is read that yrs would read otherwise:** where yrs wraps a number
//! that is too long, this refuses it.

use crate::error::CrdtError;
use crate::key::MAX_WRITER;

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(crate) fn fail(&self, what: &'static str) -> CrdtError {
        CrdtError::Malformed { at: self.at, what }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, CrdtError> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.fail("cut off"))?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], CrdtError> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.fail("cut off"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Reads a number of at most 53 bits.
    pub(crate) fn uint(&mut self) -> Result<u64, CrdtError> {
        let mut number = 0;
        for shift in (0..56).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return if number <= MAX_WRITER { Ok(number) } else { Err(self.fail("more than 53 bits")) };
            }
        }
        Err(self.fail("an endless number"))
    }

    /// Reads a clock or a length: at most 31 bits, because yrs subtracts them as signed 32 bits.
    pub(crate) fn clock(&mut self) -> Result<u32, CrdtError> {
        let number = self.uint()?;
        i32::try_from(number).map(i32::cast_unsigned).map_err(|_| self.fail("a clock of more than 31 bits"))
    }

    /// Reads a number of items that follow, each of which takes at least one byte.
    pub(crate) fn count(&mut self) -> Result<usize, CrdtError> {
        let count = usize::try_from(self.uint()?).unwrap_or(usize::MAX);
        if count > self.bytes.len() - self.at {
            return Err(self.fail("more than there are bytes"));
        }
        Ok(count)
    }

    pub(crate) fn blob(&mut self) -> Result<&'a [u8], CrdtError> {
        let count = self.count()?;
        self.take(count)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, CrdtError> {
        let at = self.at;
        std::str::from_utf8(self.blob()?)
            .map_err(|_| CrdtError::Malformed { at, what: "text that is not UTF-8" })
    }

    /// Skips a signed number of at most 55 bits.
    pub(crate) fn skip_int(&mut self) -> Result<(), CrdtError> {
        for _ in 0..8 {
            if self.byte()? < 0x80 {
                return Ok(());
            }
        }
        Err(self.fail("an endless number"))
    }
}

pub(crate) fn write_uint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn write_blob(out: &mut Vec<u8>, blob: &[u8]) {
    write_uint(out, blob.len() as u64);
    out.extend_from_slice(blob);
}
