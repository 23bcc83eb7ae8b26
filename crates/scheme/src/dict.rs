//! The record type that Scheme programs make themselves: `(dict :name "a" :size 3)`.

use std::sync::Arc;

use crate::value::Records;
use crate::value::Value;

/// Most fields that are searched one by one; more are found by binary search.
const FEW: usize = 8;

/// A record with keys and values, in the order in which they were given.
pub struct Dict {
    fields: Vec<(Arc<str>, Value)>,
    /// The indexes of the fields sorted by name, if they are many.
    sorted: Vec<u32>,
    depth: usize,
}

impl Dict {
    /// Makes a record; of fields with the same name, the last one counts.
    pub fn new(fields: Vec<(Arc<str>, Value)>) -> Self {
        let mut order: Vec<u32> = (0..fields.len() as u32).collect();
        order.sort_by(|&one, &two| fields[one as usize].0.cmp(&fields[two as usize].0));
        let is_double = order.windows(2).any(|pair| fields[pair[0] as usize].0 == fields[pair[1] as usize].0);
        if is_double {
            let mut last = vec![true; fields.len()];
            for pair in order.windows(2) {
                last[pair[0] as usize] = fields[pair[0] as usize].0 != fields[pair[1] as usize].0;
            }
            let mut last = last.iter();
            let mut fields = fields;
            fields.retain(|_| last.next().copied().unwrap_or(true));
            return Self::new(fields);
        }
        if fields.len() <= FEW {
            order.clear();
        }
        let deepest = fields.iter().map(|(_, value)| value.depth()).max().unwrap_or(0);
        Self { fields, sorted: order, depth: deepest.saturating_add(1) }
    }
}

impl Records for Dict {
    fn kind(&self) -> &str {
        "dict"
    }

    fn has_values(&self) -> bool {
        true
    }

    fn get(&self, _: u32, field: &str) -> Value {
        let found = if self.sorted.is_empty() {
            self.fields.iter().find(|(name, _)| **name == *field)
        } else {
            self.sorted
                .binary_search_by(|&index| (*self.fields[index as usize].0).cmp(field))
                .ok()
                .map(|found| &self.fields[self.sorted[found] as usize])
        };
        found.map_or(Value::Nil, |(_, value)| value.clone())
    }

    fn fields(&self, _: u32) -> Vec<(Arc<str>, Value)> {
        self.fields.clone()
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn held(&self) -> &[(Arc<str>, Value)] {
        &self.fields
    }
}
