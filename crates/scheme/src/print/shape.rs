//! Decides in which form a Scheme value is printed: as an atom, a text, a sequence or a table.

use std::sync::Arc;

use crate::list::List;
use crate::print::Format;
use crate::print::atoms;
use crate::print::printer::Printer;
use crate::print::printer::Style;
use crate::value::Records;
use crate::value::Value;

pub(super) enum Shape<'v> {
    Atom(String),
    Text(&'v str),
    Sequence(Sequence<'v>),
    /// Records of one kind, with the kind's name.
    Table(&'v str, &'v List),
}

pub(super) struct Sequence<'v> {
    pub(super) open: String,
    /// The text before the first item.
    pub(super) lead: &'static str,
    /// The text before each other item.
    pub(super) separator: &'static str,
    pub(super) close: &'static str,
    /// The text before the mark of omitted items.
    pub(super) rest_prefix: &'static str,
    /// The style of the items.
    pub(super) style: Style,
    items: Items<'v>,
}

enum Items<'v> {
    List(&'v List),
    Fields(Vec<(String, Value)>),
}

pub(super) fn of<'v>(value: &'v Value, style: Style, paper: &Printer) -> Shape<'v> {
    match value {
        Value::String(text) if style == Style::Row && atoms::is_bare(text) => Shape::Atom(text.to_string()),
        Value::String(text) => Shape::Text(text),
        Value::Symbol(name) | Value::Keyword(name) if style == Style::Json => Shape::Text(name),
        Value::List(list) if style == Style::Json => Shape::Sequence(Sequence::json_array(list)),
        Value::List(list) => match kind_of_all(list, paper.left()) {
            None if style == Style::Plain && is_all_records(list, paper.left()) => {
                Shape::Sequence(Sequence { separator: "\n ", ..Sequence::list(list, style) })
            }
            None => Shape::Sequence(Sequence::list(list, style)),
            Some(kind) if paper.format == Format::Record => Shape::Sequence(Sequence::lines(kind, list)),
            Some(kind) => Shape::Table(kind, list),
        },
        Value::Record(records, record) if style == Style::Json => {
            Shape::Sequence(Sequence::json_object(records.fields(*record)))
        }
        Value::Record(records, record) => Shape::Sequence(Sequence::record(&**records, *record)),
        other => Shape::Atom(atoms::atom(other, style)),
    }
}

/// Returns the kind of the records, if all values that could be shown are records of one kind.
fn kind_of_all(list: &List, room: usize) -> Option<&str> {
    let Some(Value::Record(first, _)) = list.first() else { return None };
    let kind = first.kind();
    let is_same = |value: &Value| matches!(value, Value::Record(records, _) if records.kind() == kind);
    list.iter().take(room).all(is_same).then_some(kind)
}

/// Whether all values of a list that could be shown are records; each then gets its own line.
fn is_all_records(list: &List, room: usize) -> bool {
    list.len() > 1 && list.iter().take(room).all(|value| matches!(value, Value::Record(..)))
}

impl<'v> Sequence<'v> {
    pub(super) fn len(&self) -> usize {
        match &self.items {
            Items::List(list) => list.len(),
            Items::Fields(fields) => fields.len(),
        }
    }

    /// Returns the items, each with the text before it.
    pub(super) fn items(&self) -> Box<dyn Iterator<Item = (&str, &Value)> + '_> {
        match &self.items {
            Items::List(list) => Box::new(list.iter().map(|value| ("", value))),
            Items::Fields(fields) => Box::new(fields.iter().map(|(prefix, value)| (prefix.as_str(), value))),
        }
    }

    fn list(list: &'v List, style: Style) -> Self {
        let (open, close) = if style == Style::Field { ("[", "]") } else { ("(", ")") };
        Self {
            open: open.into(),
            lead: "",
            separator: " ",
            close,
            rest_prefix: "",
            style,
            items: Items::List(list),
        }
    }

    /// Lists records, each on its own line.
    fn lines(kind: &str, list: &'v List) -> Self {
        Self {
            open: format!("({}", atoms::symbol(&format!("{kind}s"))),
            lead: "\n ",
            separator: "\n ",
            close: ")",
            rest_prefix: "",
            style: Style::Field,
            items: Items::List(list),
        }
    }

    fn record(records: &dyn Records, record: u32) -> Self {
        let mut fields = Vec::new();
        let mut is_head = records.kind() != "dict";
        for (index, (name, value)) in records.fields(record).into_iter().enumerate() {
            let is_next = match index {
                0 => matches!(&*name, "name" | "path" | "error"),
                1 => matches!(&*name, "description" | "summary"),
                _ => false,
            };
            // Without a name at the front, no field is recognised by its position.
            is_head &= is_next && !(index == 0 && value.is_empty());
            if value.is_empty() {
                continue;
            }
            let prefix = if is_head { String::new() } else { format!("{} ", atoms::keyword(&name)) };
            fields.push((prefix, value));
        }
        Self {
            open: format!("({}", atoms::symbol(records.kind())),
            lead: " ",
            separator: " ",
            close: ")",
            rest_prefix: "",
            style: Style::Field,
            items: Items::Fields(fields),
        }
    }

    fn json_array(list: &'v List) -> Self {
        Self {
            open: "[".into(),
            lead: "",
            separator: ",",
            close: "]",
            rest_prefix: "",
            style: Style::Json,
            items: Items::List(list),
        }
    }

    fn json_object(fields: Vec<(Arc<str>, Value)>) -> Self {
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            open: "{".into(),
            lead: "",
            separator: ",",
            close: "}",
            rest_prefix: "\"…\":",
            style: Style::Json,
            items: Items::Fields(
                fields.map(|(name, value)| (format!("{}:", atoms::json(&name)), value)).collect(),
            ),
        }
    }
}
