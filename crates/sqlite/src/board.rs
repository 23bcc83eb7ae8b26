//! What everyone here is about, in one file: at every prompt a session is
//! compared with all others, and a file for each would be most of the cost.
//!
//! Each session has a slot of fixed size and writes over its own. It finds its
//! slot by looking, and takes a free one if it has none; two that take the same
//! one at the same moment sort it out at their next prompt. **Nothing here is
//! ever needed to be right.**

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use consort_core::convergence::Glance;
use consort_core::convergence::Trail;
use consort_core::presence::SessionId;

use crate::held::escaped;
use crate::held::plain;
use crate::pulses::no_waiting;

pub(crate) const FILE: &str = "board";

const SLOT: usize = 2_048;

/// What a slot begins with that is nobody's: no name can.
const FREE: u8 = b'\n';

/// Between the prompts of a session.
const STEP: char = '\u{1e}';

fn words(step: &str) -> Vec<&str> {
    step.split(' ').filter(|word| !word.is_empty()).collect()
}

pub(crate) struct Board {
    file: File,
    slots: Vec<u8>,
}

impl Board {
    /// The board in a directory as it is now.
    pub(crate) fn read(dir: &Path) -> std::io::Result<Self> {
        let mut options = no_waiting();
        let mut file =
            options.create(true).truncate(false).read(true).write(true).mode(0o600).open(dir.join(FILE))?;
        let mut slots = Vec::new();
        file.read_to_end(&mut slots)?;
        Ok(Self { file, slots })
    }

    /// Looks at all sessions of a project, or at those that say any of these
    /// words, which are sorted.
    pub(crate) fn each(&self, project: &str, interests: Option<&[&str]>, look: &mut dyn FnMut(&Glance<'_>)) {
        for slot in self.slots.chunks(SLOT) {
            let Ok(text) = std::str::from_utf8(slot) else { continue };
            let Some((session, rest)) = text.split_once('\t') else { continue };
            let Some((of, rest)) = rest.split_once('\t') else { continue };
            if plain(of) != project {
                continue;
            }
            let (steps, _) = rest.split_once('\n').unwrap_or((rest, ""));
            let says = |words: &[&str]| {
                steps.split([' ', STEP]).any(|word| !word.is_empty() && words.binary_search(&word).is_ok())
            };
            if !interests.is_none_or(says) {
                continue;
            }
            look(&Glance { session: plain(session), steps: steps.split(STEP).map(words).collect() });
        }
    }

    /// Puts up what a session is about.
    pub(crate) fn put(&self, trail: &Trail) -> std::io::Result<()> {
        let project = trail.project.as_ref().map_or("", |project| project.as_str());
        let head = format!("{}\t{}\t", escaped(trail.session.as_str()), escaped(project));
        if head.len() > SLOT / 2 {
            // Names of that length are nobody's.
            return Ok(());
        }
        // What is oldest gives way where it is too much.
        let mut steps: Vec<String> = trail.steps.iter().map(|step| step.topics.join(" ")).collect();
        while !steps.is_empty() && head.len() + steps.iter().map(|step| step.len() + 1).sum::<usize>() > SLOT
        {
            steps.remove(0);
        }
        let mut slot = (head + &steps.join(&STEP.to_string()) + "\n").into_bytes();
        slot.resize(SLOT, b' ');
        let place = self.place(&trail.session).or_else(|| self.free_place());
        self.file.write_all_at(&slot, place.unwrap_or(self.slots.len().div_ceil(SLOT)) as u64 * SLOT as u64)
    }

    /// Takes down what a session was about.
    pub(crate) fn clear(&self, session: &SessionId) -> std::io::Result<()> {
        match self.place(session) {
            Some(place) => self.file.write_all_at(&[FREE; SLOT], place as u64 * SLOT as u64),
            None => Ok(()),
        }
    }

    fn place(&self, session: &SessionId) -> Option<usize> {
        let begins = escaped(session.as_str()) + "\t";
        self.slots.chunks(SLOT).position(|slot| slot.starts_with(begins.as_bytes()))
    }

    fn free_place(&self) -> Option<usize> {
        self.slots.chunks(SLOT).position(|slot| slot.first() == Some(&FREE))
    }
}
