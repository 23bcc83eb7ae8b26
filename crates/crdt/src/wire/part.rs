//! Cuts the entries of some entities out of the bytes of a document, and puts them
//! back after they have been edited.
//!
//! The part has runs of removed entries in place of everything else, so that every clock stays the
//! same. The time to load it depends on the size of those entities, not of the document. **The
//! result is the same bytes that the whole document would have written.**

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Range;

use super::reader::Reader;
use super::reader::write_uint;
use super::walk::CONTENT;
use super::walk::CONTENT_REMOVED;
use super::walk::Clocks;
use super::walk::RUN_GONE;
use super::walk::RUN_SKIPPED;
use super::walk::Run;
use super::walk::walk;
use crate::error::CrdtError;

/// The entries of some entities, cut out of a document's state.
pub(crate) struct Part<'a> {
    state: &'a [u8],
    /// The runs that are left out, by writer and first clock.
    left_out: BTreeMap<(u64, u32), Stretch>,
    /// The offset at which the removals begin in `state`.
    removals: usize,
    /// The part, encoded as an update.
    pub(crate) update: Vec<u8>,
}

/// Consecutive runs of one writer that are left out of a part.
struct Stretch {
    clock: u32,
    length: u32,
    count: usize,
    span: Range<usize>,
}

/// All runs of one writer in an update.
struct Section<B> {
    writer: u64,
    start: u32,
    count: usize,
    runs: Vec<B>,
}

impl<B> Section<B> {
    fn starting_with(run: &Run<'_>) -> Self {
        Self { writer: run.writer, start: run.clock, count: 0, runs: Vec::new() }
    }
}

impl<'a> Part<'a> {
    /// Cuts the entries of `roots` out of `state`, which must be complete. Returns `None` if
    /// somebody replaced an entry of another writer, against the layout.
    pub(crate) fn cut(state: &'a [u8], roots: &BTreeSet<&'a str>) -> Result<Option<Self>, CrdtError> {
        let mut cut = Cut {
            roots: roots.iter().map(|root| root.as_bytes()).collect(),
            last_root: None,
            sections: Vec::new(),
            meant: Clocks::default(),
            stretch: None,
            left_out: BTreeMap::new(),
            is_tangled: false,
        };
        let removals = walk(state, &mut |run| cut.take(state, run))?;
        cut.leave_out();
        if cut.is_tangled {
            return Ok(None);
        }
        let mut update = Vec::new();
        write_sections(&mut update, cut.sections.iter().map(|section| (section, [section.runs.as_slice()])));
        write_uint(&mut update, 0);
        Ok(Some(Self { state, left_out: cut.left_out, removals, update }))
    }

    /// Returns the document's state with the edited part in it; `None` if the part no longer
    /// consists of the same pieces.
    pub(crate) fn put_back(&self, part: &[u8]) -> Result<Option<Vec<u8>>, CrdtError> {
        let mut sections: Vec<Section<&[u8]>> = Vec::new();
        let mut removed = self.removed()?;
        let mut found = Some(0);
        walk(part, &mut |run| {
            if sections.last().is_none_or(|section| section.writer != run.writer) {
                sections.push(Section::starting_with(run));
            }
            let Some(section) = sections.last_mut() else { return };
            if run.info == RUN_GONE {
                let stretch = self.left_out.get(&(run.writer, run.clock));
                match stretch.filter(|stretch| stretch.length == run.length) {
                    Some(stretch) => {
                        section.runs.push(&self.state[stretch.span.clone()]);
                        section.count += stretch.count;
                        found = found.map(|found| found + 1);
                    }
                    None => found = None,
                }
                return;
            }
            section.runs.push(&part[run.span.clone()]);
            section.count += 1;
            if run.info & CONTENT == CONTENT_REMOVED {
                removed.entry(run.writer).or_default().push(run.clock..run.clock.saturating_add(run.length));
            }
        })?;
        if found != Some(self.left_out.len()) {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(self.state.len() + part.len());
        write_sections(&mut bytes, sections.iter().map(|section| (section, section.runs.iter().copied())));
        write_removed(&mut bytes, removed);
        Ok(Some(bytes))
    }

    /// Reads the clocks that are removed in the whole document, by writer.
    fn removed(&self) -> Result<BTreeMap<u64, Vec<Range<u32>>>, CrdtError> {
        let mut reader = Reader::new(&self.state[self.removals..]);
        let mut removed: BTreeMap<u64, Vec<Range<u32>>> = BTreeMap::new();
        for _ in 0..reader.count()? {
            let clocks = removed.entry(reader.uint()?).or_default();
            for _ in 0..reader.count()? {
                let (clock, length) = (reader.clock()?, reader.clock()?);
                clocks.push(clock..clock.saturating_add(length));
            }
        }
        Ok(removed)
    }
}

/// The state while a part is being cut.
struct Cut<'a> {
    roots: BTreeSet<&'a [u8]>,
    /// The root of the last run and whether it is wanted; entries of one entity are mostly consecutive.
    last_root: Option<(&'a [u8], bool)>,
    sections: Vec<Section<u8>>,
    /// The clocks of the entries that belong to the wanted roots.
    meant: Clocks,
    /// The consecutive runs that are currently being left out.
    stretch: Option<Stretch>,
    left_out: BTreeMap<(u64, u32), Stretch>,
    is_tangled: bool,
}

impl<'a> Cut<'a> {
    fn take(&mut self, state: &[u8], run: &Run<'a>) {
        if self.sections.last().is_none_or(|section| section.writer != run.writer) {
            self.leave_out();
            self.sections.push(Section::starting_with(run));
        }
        let replaces_anothers = run.origin.is_some_and(|(writer, _)| writer != run.writer);
        self.is_tangled |= replaces_anothers || run.info == RUN_SKIPPED;
        let is_meant = match (run.place, run.origin) {
            (Some((root, _)), _) => match self.last_root {
                Some((last, is_meant)) if last == root => is_meant,
                _ => {
                    let is_meant = self.roots.contains(root);
                    self.last_root = Some((root, is_meant));
                    is_meant
                }
            },
            (None, Some((writer, clock))) => self.meant.contain(writer, clock),
            (None, None) => false,
        };
        if is_meant {
            self.leave_out();
            self.meant.insert(run);
            if let Some(section) = self.sections.last_mut() {
                section.runs.extend_from_slice(&state[run.span.clone()]);
                section.count += 1;
            }
        } else if let Some(stretch) = &mut self.stretch {
            stretch.length = stretch.length.saturating_add(run.length);
            stretch.count += 1;
            stretch.span.end = run.span.end;
        } else {
            let (clock, length) = (run.clock, run.length);
            self.stretch = Some(Stretch { clock, length, count: 1, span: run.span.clone() });
        }
    }

    /// Ends the stretch that is currently being left out.
    fn leave_out(&mut self) {
        if let (Some(stretch), Some(section)) = (self.stretch.take(), self.sections.last_mut()) {
            section.runs.push(RUN_GONE);
            write_uint(&mut section.runs, stretch.length.into());
            section.count += 1;
            self.left_out.insert((section.writer, stretch.clock), stretch);
        }
    }
}

fn write_sections<'b, 's, B: 's>(
    bytes: &mut Vec<u8>,
    sections: impl ExactSizeIterator<Item = (&'s Section<B>, impl IntoIterator<Item = &'b [u8]>)>,
) {
    write_uint(bytes, sections.len() as u64);
    for (section, runs) in sections {
        write_uint(bytes, section.count as u64);
        write_uint(bytes, section.writer);
        write_uint(bytes, section.start.into());
        runs.into_iter().for_each(|runs| bytes.extend_from_slice(runs));
    }
}

/// Writes the removals, the greatest writer first, as Yjs does; adjacent ranges become one.
fn write_removed(bytes: &mut Vec<u8>, mut removed: BTreeMap<u64, Vec<Range<u32>>>) {
    write_uint(bytes, removed.len() as u64);
    for (writer, clocks) in removed.iter_mut().rev() {
        clocks.sort_by_key(|clocks| clocks.start);
        clocks.dedup_by(|later, earlier| {
            let touches = later.start <= earlier.end;
            if touches {
                earlier.end = earlier.end.max(later.end);
            }
            touches
        });
        write_uint(bytes, *writer);
        write_uint(bytes, clocks.len() as u64);
        for clocks in clocks {
            write_uint(bytes, clocks.start.into());
            write_uint(bytes, (clocks.end - clocks.start).into());
        }
    }
}
