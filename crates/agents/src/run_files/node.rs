//! Parses a TOML or JSON file into a tree in which each value has its position in the text.

use jsonc_parser::ParseOptions;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use toml_edit::Document;
use toml_edit::Item;
use toml_edit::TableLike;

use super::Problem;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFileFormat {
    Toml,
    Json,
}

impl RunFileFormat {
    /// Chooses the format by a file's name: JSON if it ends with `.json`, else TOML.
    pub fn by_file_name(file: &str) -> Self {
        if file.to_ascii_lowercase().ends_with(".json") { Self::Json } else { Self::Toml }
    }
}

/// A value, and the byte at which it begins.
pub(super) struct Node {
    pub(super) at: usize,
    pub(super) value: NodeValue,
}

pub(super) enum NodeValue {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<Field>),
    /// A kind of value that none of our files use: a date or `null`.
    Other,
}

/// A key with its value, and the byte at which the key begins.
pub(super) struct Field {
    pub(super) key: String,
    pub(super) at: usize,
    pub(super) node: Node,
}

/// Parses a text.
pub(super) fn parse(text: &str, form: RunFileFormat) -> Result<Node, Problem> {
    match form {
        RunFileFormat::Toml => {
            let document = Document::parse(text).map_err(|error| {
                let at = error.span().map_or(0, |span| span.start);
                Problem::new(text, at, error.message().to_owned(), None)
            })?;
            Ok(Node { at: 0, value: NodeValue::Table(fields(document.as_table())) })
        }
        RunFileFormat::Json => {
            let strict = ParseOptions {
                allow_comments: true,
                allow_loose_object_property_names: false,
                allow_trailing_commas: true,
                allow_missing_commas: false,
                allow_single_quoted_strings: false,
                allow_hexadecimal_numbers: false,
                allow_unary_plus_numbers: false,
                allow_bare_decimal_point_numbers: false,
                allow_non_finite_numbers: false,
                allow_extended_string_escapes: false,
            };
            let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &strict)
                .map_err(|error| Problem::new(text, error.range().start, error.kind().to_string(), None))?;
            let empty = || Problem::new(text, 0, "the file is empty".into(), None);
            Ok(from_json(&parsed.value.ok_or_else(empty)?))
        }
    }
}

fn fields(table: &dyn TableLike) -> Vec<Field> {
    let field = |(name, item): (&str, &Item)| {
        let key = table.get_key_value(name).map(|(key, _)| key);
        let at = key.and_then(|key| key.span()).map_or(0, |span| span.start);
        Field { key: name.to_owned(), at, node: from_toml(item, at) }
    };
    table.iter().map(field).collect()
}

fn from_toml(item: &Item, above: usize) -> Node {
    let at = item.span().map_or(above, |span| span.start);
    let value = match item {
        Item::None => NodeValue::Other,
        Item::Table(table) => NodeValue::Table(fields(table)),
        Item::ArrayOfTables(tables) => {
            let node = |table: &toml_edit::Table| Node {
                at: table.span().map_or(at, |span| span.start),
                value: NodeValue::Table(fields(table)),
            };
            NodeValue::List(tables.iter().map(node).collect())
        }
        Item::Value(value) => match value {
            toml_edit::Value::String(text) => NodeValue::Text(text.value().clone()),
            toml_edit::Value::Integer(number) => NodeValue::Whole(*number.value()),
            toml_edit::Value::Float(number) => NodeValue::Number(*number.value()),
            toml_edit::Value::Boolean(flag) => NodeValue::Flag(*flag.value()),
            toml_edit::Value::Datetime(_) => NodeValue::Other,
            toml_edit::Value::Array(list) => {
                NodeValue::List(list.iter().map(|value| from_toml(&Item::Value(value.clone()), at)).collect())
            }
            toml_edit::Value::InlineTable(table) => NodeValue::Table(fields(table)),
        },
    };
    Node { at, value }
}

fn from_json(value: &ast::Value<'_>) -> Node {
    let node = match value {
        ast::Value::StringLit(text) => NodeValue::Text(text.value.to_string()),
        ast::Value::NumberLit(number) => match (number.value.parse(), number.value.parse()) {
            (Ok(whole), _) => NodeValue::Whole(whole),
            (Err(_), Ok(number)) => NodeValue::Number(number),
            (Err(_), Err(_)) => NodeValue::Other,
        },
        ast::Value::BooleanLit(flag) => NodeValue::Flag(flag.value),
        ast::Value::NullKeyword(_) => NodeValue::Other,
        ast::Value::Array(list) => NodeValue::List(list.elements.iter().map(from_json).collect()),
        ast::Value::Object(object) => {
            let field = |property: &ast::ObjectProp<'_>| Field {
                key: property.name.as_str().to_owned(),
                at: property.start(),
                node: from_json(&property.value),
            };
            NodeValue::Table(object.properties.iter().map(field).collect())
        }
    };
    Node { at: value.start(), value: node }
}
