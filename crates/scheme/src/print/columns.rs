//! Prints lists of Scheme records of one kind as a table: `(principles (name confidence)` and a row
//! for each. Fields that are empty in all records have no column; in a row, `nil` stands for a
//! missing value before a later one.

use std::collections::HashMap;
use std::sync::Arc;

use crate::list::List;
use crate::print::LEAST;
use crate::print::atoms;
use crate::print::more;
use crate::print::printer::Full;
use crate::print::printer::Printer;
use crate::print::printer::Style;
use crate::print::printer::Written;
use crate::value::Value;

/// The printed cells by column, as far as there was room.
#[derive(Default)]
struct Table {
    columns: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, usize>,
    rows: Vec<Vec<(usize, String)>>,
}

/// The limit of a row's length; longer rows are shortened to it.
#[derive(Clone, Copy)]
enum Rows {
    Whole,
    AtMost(usize),
}

pub(super) fn whole(kind: &str, list: &List, paper: &mut Printer) -> Written {
    let table = gather(list, Rows::Whole, paper.left(), paper);
    if table.rows.len() < list.len() {
        return Err(Full);
    }
    table.write_head(kind, paper)?;
    for row in &table.rows {
        paper.put(&line(row))?;
    }
    paper.put(")")
}

pub(super) fn short(kind: &str, list: &List, paper: &mut Printer) -> Written {
    /// Room for the mark of omitted rows, and for the end.
    const REST: usize = 56;
    let budget = paper.left();
    let room = budget.checked_sub(2 * LEAST).ok_or(Full)?;
    let at_most = (room / list.len()).max(room / 16).max(LEAST);
    let table = gather(list, Rows::AtMost(at_most), room, paper);
    table.write_head(kind, paper)?;
    let mut written = 0;
    for row in &table.rows {
        let line = line(row);
        if line.len() + REST > paper.left() {
            break;
        }
        paper.put(&line)?;
        written += 1;
    }
    if written < list.len() {
        paper.put("\n ")?;
        paper.put(&more(list.len() - written, list.len(), Style::Row))?;
    }
    paper.put(")")
}

/// Prints rows until they are longer than `room` altogether.
fn gather(list: &List, rows: Rows, room: usize, paper: &mut Printer) -> Table {
    let mut table = Table::default();
    let mut length = 0;
    for value in list {
        let Value::Record(records, record) = value else { break };
        let fields: Vec<(Arc<str>, Value)> =
            records.fields(*record).into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let most = match rows {
            Rows::Whole => room - length,
            Rows::AtMost(most) => most,
        };
        let Some(cells) = cells(&fields, rows, most, paper) else { break };
        length += 4 + cells.iter().map(|cell| cell.len() + 1).sum::<usize>();
        let row = fields.into_iter().zip(cells).map(|((name, _), cell)| (table.column(name), cell)).collect();
        table.rows.push(row);
        if length > room {
            break;
        }
    }
    table
}

/// Prints the cells of a row; `None` if they do not fit and must be whole.
fn cells(fields: &[(Arc<str>, Value)], rows: Rows, most: usize, paper: &mut Printer) -> Option<Vec<String>> {
    let (start, limit) = (paper.text.len(), paper.limit);
    paper.limit = limit.min(start + most);
    let mut cells = Vec::with_capacity(fields.len());
    let is_whole = fields.iter().all(|(_, value)| {
        let from = paper.text.len();
        let is_whole = paper.whole(value, Style::Row).is_ok();
        cells.push(paper.text[from..].to_owned());
        is_whole
    });
    paper.text.truncate(start);
    if !is_whole {
        cells.clear();
        if let Rows::AtMost(_) = rows {
            let values: Vec<&Value> = fields.iter().map(|(_, value)| value).collect();
            let share = paper.big_share(&values, most.saturating_sub(fields.len()), Style::Row);
            for value in values {
                paper.fit(value, share, Style::Row);
                cells.push(paper.text[start..].to_owned());
                paper.text.truncate(start);
            }
        }
    }
    paper.limit = limit;
    (cells.len() == fields.len()).then_some(cells)
}

impl Table {
    fn column(&mut self, name: Arc<str>) -> usize {
        let next = self.columns.len();
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.columns.push(name.clone());
            next
        })
    }

    fn write_head(&self, kind: &str, paper: &mut Printer) -> Written {
        paper.put(&format!("({} (", atoms::symbol(&format!("{kind}s"))))?;
        for (index, name) in self.columns.iter().enumerate() {
            if index > 0 {
                paper.put(" ")?;
            }
            paper.put(&atoms::symbol(name))?;
        }
        paper.put(")")
    }
}

fn line(row: &[(usize, String)]) -> String {
    let mut cells: Vec<&str> = Vec::new();
    for (column, cell) in row {
        if cells.len() <= *column {
            cells.resize(column + 1, "nil");
        }
        cells[*column] = cell;
    }
    format!("\n ({})", cells.join(" "))
}
