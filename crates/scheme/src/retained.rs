//! Measures the memory that the definitions of a session keep.
//!
//! Shared parts are counted once. The count is in cells, like [`crate::Limits::cells`], but of the
//! memory that is still held: a session may compute for hours and keep little.

use std::collections::HashSet;
use std::sync::Arc;

use crate::bytecode::Code;
use crate::function::Kind;
use crate::meter::Global;
use crate::meter::TEXT;
use crate::value::Value;

/// Cells that an allocation costs besides its content.
const BOX: usize = 4;

/// Counts the cells that the definitions keep; stops counting above `most`.
pub(crate) fn cells(globals: &[Global], most: usize) -> usize {
    let mut walk = Walk { seen: HashSet::new(), left: Vec::new(), cells: 0 };
    for global in globals {
        walk.cells += BOX + global.name.len() / TEXT;
        walk.left.extend(&global.value);
        while walk.cells <= most
            && let Some(value) = walk.left.pop()
        {
            walk.visit(value, most);
        }
    }
    walk.cells
}

struct Walk<'a> {
    /// The allocations that were counted already.
    seen: HashSet<*const ()>,
    left: Vec<&'a Value>,
    cells: usize,
}

impl<'a> Walk<'a> {
    fn is_new<T: ?Sized>(&mut self, shared: &Arc<T>) -> bool {
        self.seen.insert(Arc::as_ptr(shared).cast())
    }

    fn visit(&mut self, value: &'a Value, most: usize) {
        match value {
            Value::String(text) | Value::Symbol(text) | Value::Keyword(text) => {
                if self.is_new(text) {
                    self.cells += 1 + text.len() / TEXT;
                }
            }
            Value::List(list) => {
                for (shared, values) in list.segments() {
                    // After a run that was counted, the rest of the list was counted as well.
                    if self.cells > most || !self.seen.insert(shared) {
                        break;
                    }
                    self.cells += BOX + values.len();
                    self.left.extend(values);
                }
            }
            Value::Record(records, _) => {
                if self.is_new(records) {
                    let held = records.held();
                    self.cells += BOX + 2 * held.len() + records.bytes() / TEXT;
                    self.left.extend(held.iter().map(|(_, value)| value));
                }
            }
            Value::Function(function) => {
                let Kind::Closure(closures, _) = &function.0 else { return };
                if self.is_new(closures) {
                    self.cells += BOX + closures.captured.len();
                    self.left.extend(&closures.captured);
                    closures.codes.iter().for_each(|code| self.code(code));
                }
            }
            Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
        }
    }

    /// Counts the code of a function. Functions nest only as deep as source does, so this may recurse.
    fn code(&mut self, code: &'a Arc<Code>) {
        if self.is_new(code) {
            self.cells += BOX + code.ops.len() + code.spots.len() + code.constants.len();
            self.left.extend(&code.constants);
            code.groups.iter().flat_map(|group| group.codes.iter()).for_each(|code| self.code(code));
        }
    }
}
