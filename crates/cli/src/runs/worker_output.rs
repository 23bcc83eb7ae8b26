//! Takes in the output of a worker, however much that is: some of it is kept, and all of it is read, so that
//! the worker does not wait for us.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use std::time::Instant;

use consort_host::WorkerProcessEvent;

/// Most bytes of a worker's standard error that are kept.
pub(super) const COMPLAINTS: usize = 64 << 10;

/// Most parts of its output that wait for us; then the worker waits. A part may be long.
pub(super) const MOST_WAITING_PARTS: usize = 8;

/// Most bytes of its output that are kept while it is being ended.
const LATE: usize = 16 << 20;

/// Longest time that is spent reading at a time while it is being ended.
const A_MOMENT: Duration = Duration::from_millis(20);

/// The last part of a worker's standard error.
#[derive(Default)]
pub(super) struct Complaints {
    kept: String,
    /// The text since the last end of a line.
    half_line: String,
    /// The number of bytes that are not kept.
    cut: usize,
    is_written: bool,
}

impl Complaints {
    /// Takes in a part, and returns the whole lines that it ends.
    pub(super) fn hear(&mut self, part: &str) -> Vec<String> {
        self.kept.push_str(part);
        let cut = self.kept.len().saturating_sub(COMPLAINTS);
        let cut = (cut..).find(|at| self.kept.is_char_boundary(*at)).unwrap_or(0);
        self.kept.drain(..cut);
        self.cut += cut;
        self.is_written = false;
        self.half_line.push_str(part);
        let Some(end) = self.half_line.rfind('\n') else {
            // No CLI that we know writes so long a line.
            if self.half_line.len() > COMPLAINTS {
                self.half_line.clear();
            }
            return Vec::new();
        };
        let rest = self.half_line.split_off(end + 1);
        let whole = std::mem::replace(&mut self.half_line, rest);
        whole.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    pub(super) fn text(&self) -> &str {
        &self.kept
    }

    /// Writes the kept text, if there is more than was written, and how much is missing before it.
    pub(super) fn write(&mut self, file: &Path) {
        if self.is_written || self.kept.is_empty() {
            return;
        }
        self.is_written = true;
        let _ = match self.cut {
            0 => fs::write(file, &self.kept),
            cut => fs::write(file, format!("({cut} bytes before this are not kept)\n{}", self.kept)),
        };
    }
}

/// The output of a worker while it is being ended.
#[derive(Default)]
pub(super) struct FinalOutput {
    heard: RefCell<Vec<WorkerProcessEvent>>,
    bytes: RefCell<usize>,
}

impl FinalOutput {
    /// Takes the output that is there; drops it beyond the bound.
    pub(super) fn take(&self, from: &Receiver<WorkerProcessEvent>) {
        let end = Instant::now() + A_MOMENT;
        while let Ok(heard) = from.try_recv() {
            let mut bytes = self.bytes.borrow_mut();
            *bytes += match &heard {
                WorkerProcessEvent::Line(text) | WorkerProcessEvent::Complaint(text) => text.len(),
                WorkerProcessEvent::Silence | WorkerProcessEvent::Ended => 0,
            };
            if *bytes <= LATE || matches!(heard, WorkerProcessEvent::Silence | WorkerProcessEvent::Ended) {
                self.heard.borrow_mut().push(heard);
            }
            if Instant::now() >= end {
                return;
            }
        }
    }

    pub(super) fn into_heard(self) -> Vec<WorkerProcessEvent> {
        self.heard.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_kept_and_the_rest_is_counted() {
        let mut complaints = Complaints::default();
        assert_eq!(complaints.hear("one\ntw"), ["one"]);
        assert_eq!(complaints.hear("o\n\nthree \r\nfo"), ["two", "", "three"]);
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("stderr");
        complaints.write(&file);
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo\n\nthree \r\nfo");
        for _ in 0..100 {
            complaints.hear(&"ü".repeat(COMPLAINTS / 4));
        }
        assert!(complaints.text().len() <= COMPLAINTS && complaints.half_line.len() <= COMPLAINTS);
        complaints.hear("\nlast\n");
        complaints.write(&file);
        let written = fs::read_to_string(&file).unwrap();
        assert!(written.ends_with("\nlast\n") && written.len() < COMPLAINTS + 100);
        let cut: usize = written[1..].split(' ').next().unwrap().parse().unwrap();
        assert_eq!(cut + complaints.text().len(), 19 + 100 * (COMPLAINTS / 2) + 6);
    }

    #[test]
    fn what_is_late_is_taken_and_bounded() {
        let (sender, heard) = std::sync::mpsc::sync_channel(MOST_WAITING_PARTS);
        let late = FinalOutput::default();
        for _ in 0..20 {
            sender.send(WorkerProcessEvent::Line("x".repeat(1 << 20))).unwrap();
            late.take(&heard);
        }
        sender.send(WorkerProcessEvent::Silence).unwrap();
        late.take(&heard);
        let heard = late.into_heard();
        assert_eq!(heard.len(), 17);
        assert!(matches!(heard.last(), Some(WorkerProcessEvent::Silence)));
    }
}
