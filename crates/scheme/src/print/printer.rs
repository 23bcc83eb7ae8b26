//! The output buffer with a size limit that Scheme values are printed into. A value that does not
//! fit is taken back and shortened.

use crate::print::Format;
use crate::print::LEAST;
use crate::print::atoms;
use crate::print::columns;
use crate::print::more;
use crate::print::shape;
use crate::print::shape::Sequence;
use crate::print::shape::Shape;
use crate::value::Value;

/// Deepest nesting that is shown. Values of a program never nest so deep; records of a host might.
const DEEPEST: usize = 150;
/// Longest list whose values share the room fairly; the values of a longer list are shown in order
/// until there is no room.
const FAIR: usize = 32;

pub(super) struct Printer {
    pub(super) text: String,
    /// Most bytes of text.
    pub(super) limit: usize,
    pub(super) format: Format,
    depth: usize,
}

/// The error that a text did not fit.
pub(super) struct Full;

pub(super) type Written = Result<(), Full>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// Inside a row of a table: strings that look like names need no quotes.
    Row,
    /// Inside a record: lists have brackets.
    Field,
    Json,
}

impl Printer {
    pub(super) fn new(format: Format, limit: usize) -> Self {
        Self { text: String::new(), limit, format, depth: 0 }
    }

    pub(super) fn put(&mut self, text: &str) -> Written {
        if text.len() > self.left() {
            return Err(Full);
        }
        self.text.push_str(text);
        Ok(())
    }

    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.text.len())
    }

    /// Prints the whole value; if it does not fit, some beginning of it and [`Full`].
    pub(super) fn whole(&mut self, value: &Value, style: Style) -> Written {
        if self.depth >= DEEPEST {
            return Err(Full);
        }
        self.depth += 1;
        let written = match shape::of(value, style, self) {
            Shape::Atom(text) => self.put(&text),
            Shape::Text(text) => atoms::quoted(text, style, self),
            Shape::Sequence(sequence) => self.whole_sequence(&sequence),
            Shape::Table(kind, list) => columns::whole(kind, list, self),
        };
        self.depth -= 1;
        written
    }

    /// Prints the value in at most `budget` bytes, shortened if necessary; returns whether it was shortened.
    pub(super) fn fit(&mut self, value: &Value, budget: usize, style: Style) -> bool {
        let (start, limit) = (self.text.len(), self.limit);
        self.limit = limit.min(start + budget);
        let is_whole = self.whole(value, style).is_ok();
        if !is_whole {
            self.text.truncate(start);
            if self.depth >= DEEPEST || self.short(value, style).is_err() {
                self.text.truncate(start);
                let stub = if style == Style::Json { "\"…\"" } else { "…" };
                // If not even the stub fits, nothing is printed.
                self.put(stub).unwrap_or(());
            }
        }
        self.limit = limit;
        !is_whole
    }

    /// Returns the length of the printed value, if it is at most `most`.
    fn measure(&mut self, value: &Value, most: usize, style: Style) -> Option<usize> {
        let (start, limit) = (self.text.len(), self.limit);
        self.limit = limit.min(start + most);
        let length = self.whole(value, style).is_ok().then(|| self.text.len() - start);
        self.text.truncate(start);
        self.limit = limit;
        length
    }

    /// Returns the room for each value that needs more than an equal share, if the others take only
    /// as much as they need.
    pub(super) fn big_share(&mut self, values: &[&Value], budget: usize, style: Style) -> usize {
        if values.len() <= 1 {
            return budget;
        }
        let fair = budget / values.len();
        let (mut small, mut big) = (0, 0);
        for value in values {
            match self.measure(value, fair, style) {
                Some(length) => small += length,
                None => big += 1,
            }
        }
        budget.saturating_sub(small).checked_div(big).unwrap_or(budget)
    }

    fn short(&mut self, value: &Value, style: Style) -> Written {
        self.depth += 1;
        let written = match shape::of(value, style, self) {
            Shape::Atom(_) => Err(Full),
            Shape::Text(text) => atoms::shortened(text, style, self),
            Shape::Sequence(sequence) => self.short_sequence(&sequence, style),
            Shape::Table(kind, list) => columns::short(kind, list, self),
        };
        self.depth -= 1;
        written
    }

    fn whole_sequence(&mut self, sequence: &Sequence<'_>) -> Written {
        self.put(&sequence.open)?;
        for (index, (prefix, value)) in sequence.items().enumerate() {
            self.put(if index == 0 { sequence.lead } else { sequence.separator })?;
            self.put(prefix)?;
            self.whole(value, sequence.style)?;
        }
        self.put(sequence.close)
    }

    fn short_sequence(&mut self, sequence: &Sequence<'_>, style: Style) -> Written {
        let budget = self.left();
        if budget < LEAST {
            return Err(Full);
        }
        self.put(&sequence.open)?;
        // Room for the mark of omitted items, and for the end.
        const REST: usize = 56;
        let total = sequence.len();
        let room = self.left().saturating_sub(REST);
        let share = if total <= FAIR {
            let parts: Vec<&Value> = sequence.items().map(|(_, value)| value).collect();
            let prefixes: usize = sequence.items().map(|(prefix, _)| prefix.len() + 2).sum();
            self.big_share(&parts, room.saturating_sub(prefixes), sequence.style).max(LEAST / 2)
        } else {
            (room / total).max(budget / 16).max(LEAST)
        };
        let mut written = 0;
        for (prefix, value) in sequence.items() {
            let start = self.text.len();
            let before = if written == 0 { sequence.lead } else { sequence.separator };
            let left = self.left().saturating_sub(REST + before.len() + prefix.len());
            if left == 0 {
                break;
            }
            self.put(before)?;
            self.put(prefix)?;
            let is_short = self.fit(value, share.min(left), sequence.style);
            // Omitting the value is better than a stump at the end.
            if is_short && left < share && written > 0 {
                self.text.truncate(start);
                break;
            }
            written += 1;
        }
        if written < total {
            self.put(if written == 0 { sequence.lead } else { sequence.separator })?;
            if !sequence.rest_prefix.is_empty() {
                self.put(sequence.rest_prefix)?;
            }
            self.put(&more(total - written, total, style))?;
        }
        self.put(sequence.close)
    }
}
