//! A Scheme session: definitions of one run are known in the next.

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

/// Longest program that is read, in bytes.
const LONGEST: usize = 256 * 1024;
/// Most names at top level, used or defined.
const MOST_GLOBALS: usize = 20_000;

/// Definitions that stay from one run to the next. **Definitions made before an error stay**,
/// unless the definitions of a run would keep more memory than allowed: then all definitions of
/// that run are taken back.
///
/// Functions of a session belong to it: another session does not know the names they use.
#[derive(Default)]
pub struct Session {
    globals: Vec<Global>,
    steps: u64,
    cells: usize,
}

impl Session {
    /// Makes a session in which nothing is defined.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a program; returns one result for each form at top level, up to the first that fails.
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

    /// Returns the number of steps that the last run took.
    pub fn last_run_steps(&self) -> u64 {
        self.steps
    }

    /// Returns the number of cells that the last run took, kept or not.
    pub fn last_run_cells(&self) -> usize {
        self.cells
    }

    /// Lists the names that have been defined, in the order of their first mention.
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
    if let Err(error) = meter.charge_reading(source.len()) {
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
