//! A Scheme program that grows: what one run defines, the next one finds.

use std::sync::Arc;

use crate::compile;
use crate::error::Error;
use crate::error::Position;
use crate::host_functions::HostFunctions;
use crate::machine;
use crate::meter::Global;
use crate::meter::Limits;
use crate::meter::Meter;
use crate::read::Reader;
use crate::retained;
use crate::value::Value;

/// Longer programs are not read.
const LONGEST: usize = 256 * 1024;
/// Names that may stand at top level, used or defined.
const MOST_GLOBALS: usize = 20_000;

/// Definitions that stay from one run to the next. **What was defined before
/// something failed stays defined**, unless the definitions of a run would keep more
/// than they may: then all of them are taken back.
///
/// Functions of a session belong to it: another one does not know the names
/// they use.
#[derive(Default)]
pub struct Session {
    globals: Vec<Global>,
    steps: u64,
    cells: usize,
}

impl Session {
    /// A session in which nothing is defined.
    pub fn new() -> Self {
        Self::default()
    }

    /// One result for each form at top level, up to the first that fails.
    pub fn run(
        &mut self,
        source: &str,
        world: &mut dyn HostFunctions,
        limits: &Limits,
    ) -> Vec<Result<Value, Error>> {
        let mut meter = Meter::new(limits);
        meter.globals = self.globals.clone();
        let mut results = run(source, world, &mut meter);
        (self.steps, self.cells) = (meter.steps_used(), meter.cells_used());
        let is_new = meter.has_defined || meter.globals.len() > self.globals.len();
        if is_new && retained::cells(&meter.globals, limits.kept) > limits.kept {
            results.push(Err(too_much(limits.kept)));
        } else {
            self.globals = meter.globals;
        }
        results
    }

    /// How many steps the last run took.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many cells the last run took, kept or not.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The names that have been defined, in the order of their first mention.
    pub fn defined(&self) -> impl Iterator<Item = &Arc<str>> {
        self.globals.iter().filter(|global| global.value.is_some()).map(|global| &global.name)
    }
}

fn too_much(kept: usize) -> Error {
    Error::new(format!("nothing was defined: definitions may keep {kept} cells of memory in all"))
        .hint("define less, or define what is no longer needed as nil")
}

fn run(source: &str, world: &mut dyn HostFunctions, meter: &mut Meter) -> Vec<Result<Value, Error>> {
    if source.len() > LONGEST {
        return vec![Err(Error::new(format!("a program is at most {LONGEST} bytes long")))];
    }
    let mut results = Vec::new();
    if let Err(error) = meter.glance(source.len()) {
        return vec![Err(error)];
    }
    for datum in Reader::new(source, meter.nesting()) {
        let result = datum.and_then(|datum| {
            let at: Position = datum.at;
            let code = compile::compile(&datum, world, meter).map_err(|error| error.at(at))?;
            if meter.globals.len() > MOST_GLOBALS {
                return Err(Error::new(format!("more than {MOST_GLOBALS} names at top level")).at(at));
            }
            machine::run(Arc::new(code), world, meter).map_err(|error| error.at(at))
        });
        let is_over = result.is_err();
        results.push(result);
        if is_over {
            break;
        }
    }
    results
}
