//! Memory for the encoded records that a knowledge query reads: large pages, written once.
//!
//! A query may look at megabytes of records and be over a few milliseconds later; with pages of 4
//! KiB, half of that time goes into asking the kernel for pages.

use memmap2::MmapMut;

/// Largest arena, in bytes, for which the size of its pages does not matter.
const FEW: usize = 256 << 10;
/// Size of a large arena, in bytes: enough for whole large pages, wherever its mapping begins.
const MANY: usize = 4 << 20;

pub(crate) enum Arena {
    Few(Vec<u8>),
    Many { bytes: MmapMut, used: usize },
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// Makes an arena with room for at least so many bytes, and for further rows.
    pub(crate) fn large(least: usize) -> Self {
        if least <= MANY
            && let Ok(bytes) = MmapMut::map_anon(MANY)
        {
            // The arena works as well without large pages.
            #[cfg(target_os = "linux")]
            let _ = bytes.advise(memmap2::Advice::HugePage);
            return Self::Many { bytes, used: 0 };
        }
        Self::Few(Vec::with_capacity(least.max(MANY)))
    }

    pub(crate) fn has_room(&self, length: usize) -> bool {
        match self {
            Self::Few(bytes) => bytes.is_empty() || bytes.len() + length <= FEW.max(bytes.capacity()),
            Self::Many { bytes, used } => used + length <= bytes.len(),
        }
    }

    /// Appends a row, if there is room for it.
    pub(crate) fn push(&mut self, row: &[u8]) {
        match self {
            Self::Few(bytes) => bytes.extend_from_slice(row),
            Self::Many { bytes, used } => {
                if let Some(place) = bytes.get_mut(*used..*used + row.len()) {
                    place.copy_from_slice(row);
                    *used += row.len();
                }
            }
        }
    }

    /// Returns the memory that the arena takes, in bytes; large pages count whole.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Few(bytes) => bytes.capacity(),
            Self::Many { used, .. } => used.next_multiple_of(MANY / 2),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Few(bytes) => bytes,
            Self::Many { bytes, used } => &bytes[..*used],
        }
    }
}
