//! Limits the cost of a Scheme run (steps, memory, nesting, time), and counts how much is used.
//!
//! **Everything is charged before it is spent**: a builtin that is about to make a
//! list of a million asks first, and is refused before anything is allocated.
//! Steps and cells are counts, so the same program is stopped at the same point on
//! any machine; only the deadline depends on the clock.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use crate::error::Error;
use crate::list::List;
use crate::value::Value;

/// Most steps between two looks at the clock.
const SLICE: u64 = 2048;
/// Bytes of text per step and per cell.
pub(crate) const TEXT: usize = 16;
/// Deepest nesting, whatever the limits say: compiling, comparing, printing and
/// dropping recurse this deep. In a debug build 200 `lambda`s inside each other
/// need the 2 MB of stack that a thread has.
const MOST_NESTING: usize = 128;
/// Deepest nesting of builtins and host functions that call functions. These do use the stack of the thread.
const MOST_REENTRIES: usize = 64;

/// The limits on the cost of a run.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Operations, with a surcharge for builtins by the length of their work.
    pub steps: u64,
    /// Everything allocated in a run, freed or not: a cell is a value in a list
    /// or 16 bytes of text.
    pub cells: usize,
    /// Calls that wait for another call to return. Tail calls do not wait.
    pub depth: usize,
    /// Deepest nesting of source and of values; never more than 128.
    pub nesting: usize,
    pub deadline: Duration,
    /// Most cells that the definitions of a session may keep from one run to the next.
    pub kept: usize,
    /// Setting it stops the run.
    pub is_cancelled: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 20_000_000,
            cells: 2_000_000,
            depth: 10_000,
            nesting: 100,
            deadline: Duration::from_secs(5),
            kept: 500_000,
            is_cancelled: Arc::default(),
        }
    }
}

/// Counts down the rest of the [`Limits`] of a run.
pub struct Meter {
    limits: Limits,
    /// Steps left beyond the slice.
    steps: u64,
    /// Steps left before the clock is looked at.
    slice: u64,
    cells: usize,
    started: Instant,
    pub(crate) depth: usize,
    reentries: usize,
    /// The definitions of the session that is running; they are here because every caller of a
    /// function has a meter.
    pub(crate) globals: Vec<Global>,
    /// Whether a definition was made or replaced.
    pub(crate) has_defined: bool,
    /// Whether a sort is calling its order function: then comparisons put nil last.
    pub(crate) is_sorting: bool,
}

/// A name at top level. It has a slot as soon as it is mentioned.
#[derive(Clone)]
pub(crate) struct Global {
    pub(crate) name: Arc<str>,
    pub(crate) value: Option<Value>,
}

impl Meter {
    /// Makes a meter that has counted nothing yet.
    pub fn new(limits: &Limits) -> Self {
        let limits = Limits { nesting: limits.nesting.min(MOST_NESTING), ..limits.clone() };
        Self {
            steps: limits.steps,
            slice: 0,
            cells: limits.cells,
            started: Instant::now(),
            depth: 0,
            reentries: 0,
            globals: Vec::new(),
            has_defined: false,
            is_sorting: false,
            limits,
        }
    }

    /// Charges `count` steps.
    pub fn charge_steps(&mut self, count: u64) -> Result<(), Error> {
        if count <= self.slice {
            self.slice -= count;
            return Ok(());
        }
        let count = count - self.slice;
        self.slice = 0;
        if count > self.steps {
            self.steps = 0;
            return Err(Error::new(format!("stopped after {} steps", self.limits.steps))
                .hint("ask for less, or see whether a loop ends"));
        }
        self.steps -= count;
        self.slice = self.steps.min(SLICE);
        self.steps -= self.slice;
        self.clock()
    }

    /// Charges `count` cells, and the steps to fill them.
    pub fn charge_cells(&mut self, count: usize) -> Result<(), Error> {
        if count > self.cells {
            self.cells = 0;
            return Err(Error::new(format!("stopped: more than {} cells of memory", self.limits.cells))
                .hint("take or filter before building lists and texts"));
        }
        self.cells -= count;
        self.charge_steps(count as u64)
    }

    /// Charges for making a text of `bytes`.
    pub fn charge_text(&mut self, bytes: usize) -> Result<(), Error> {
        self.charge_cells(1 + bytes / TEXT)
    }

    /// Charges for reading a text of `bytes`.
    pub fn charge_reading(&mut self, bytes: usize) -> Result<(), Error> {
        self.charge_steps(1 + (bytes / TEXT) as u64)
    }

    /// Returns the field of a record, and charges for a field that is made on request.
    #[inline]
    pub(crate) fn field(&mut self, record: &Value, name: &str) -> Result<Value, Error> {
        let value = record.field(name);
        let is_made = || !matches!(record, Value::Record(records, _) if records.has_values());
        match &value {
            Value::String(text) if is_made() => self.charge_reading(text.len())?,
            Value::List(all) if is_made() => {
                let length = |one: &Value| TEXT + one.as_str().map_or(0, str::len);
                self.charge_reading(all.iter().map(length).sum())?;
            }
            _ => {}
        }
        Ok(value)
    }

    /// Returns the number of steps taken.
    pub fn steps_used(&self) -> u64 {
        self.limits.steps - self.steps - self.slice
    }

    /// Returns the memory taken, in cells.
    pub fn cells_used(&self) -> usize {
        self.limits.cells - self.cells
    }

    pub(crate) fn nesting(&self) -> usize {
        self.limits.nesting
    }

    /// Charges one operation.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), Error> {
        if self.slice == 0 {
            return self.charge_steps(1);
        }
        self.slice -= 1;
        Ok(())
    }

    /// Makes a list of values that have been charged for.
    pub(crate) fn list(&self, values: Vec<Value>) -> Result<Value, Error> {
        self.check_nesting(Value::List(List::from(values)))
    }

    /// Returns `value`, or an error if it nests too deep.
    pub(crate) fn check_nesting(&self, value: Value) -> Result<Value, Error> {
        if value.depth() <= self.limits.nesting {
            return Ok(value);
        }
        // The value dropped here is only one level deeper than is allowed.
        Err(too_nested(self.limits.nesting))
    }

    /// Counts one more call that waits for another.
    pub(crate) fn deepen(&mut self) -> Result<(), Error> {
        if self.depth >= self.limits.depth {
            return Err(Error::new(format!("more than {} calls inside each other", self.limits.depth))
                .hint("see whether the recursion ends, or use fold or a named let with an accumulator"));
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn enter(&mut self) -> Result<(), Error> {
        if self.reentries >= MOST_REENTRIES {
            return Err(Error::new(format!(
                "more than {MOST_REENTRIES} functions like map and sort inside each other"
            ))
            .hint("see whether the recursion ends"));
        }
        self.reentries += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.reentries -= 1;
    }

    fn clock(&self) -> Result<(), Error> {
        if self.limits.is_cancelled.load(Ordering::Relaxed) {
            return Err(Error::new("cancelled"));
        }
        if self.started.elapsed() < self.limits.deadline {
            return Ok(());
        }
        Err(Error::new(format!("stopped after {} ms", self.limits.deadline.as_millis()))
            .hint("ask for less, or see whether a loop ends"))
    }
}

pub(crate) fn too_nested(nesting: usize) -> Error {
    Error::new(format!("nested deeper than {nesting}"))
}
