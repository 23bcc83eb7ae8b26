//! Tests that the tool reference in `docs/mcp.md` is what the schemas say.
//! `UPDATE_EXPECT=1` writes it.

use std::fs;

use serde_json::Value;

const BEGIN: &str = "<!-- tools: from the schemas -->\n";
const END: &str = "<!-- tools: end -->\n";

#[test]
fn the_reference_is_true() {
    let mut reference = String::new();
    for tool in consort_mcp::catalogue() {
        let tool = serde_json::to_value(tool).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let reads = if tool["annotations"]["readOnlyHint"] == true { " It changes nothing." } else { "" };
        reference.push_str(&format!(
            "\n### `{}`\n\n{}{reads}\n",
            text(&tool["name"]),
            text(&tool["description"])
        ));
        let schema = &tool["inputSchema"];
        let fields: Vec<String> = schema["properties"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, field)| row(schema, name, field))
            .collect();
        if !fields.is_empty() {
            reference.push_str(&format!("\n| argument | type | |\n|---|---|---|\n{}", fields.concat()));
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md");
    let page = fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, format!("{before}{BEGIN}{reference}\n{END}{after}")).unwrap();
    } else {
        assert_eq!(found, reference + "\n", "docs/mcp.md: UPDATE_EXPECT=1 writes it");
    }
}

fn row(schema: &Value, name: &str, field: &Value) -> String {
    let kind = match (&field["type"], &field["enum"]) {
        (Value::String(kind), _) if kind == "array" => {
            format!("list of {}s", field["items"]["type"].as_str().unwrap_or("value"))
        }
        (Value::String(kind), _) => kind.clone(),
        (_, Value::Array(values)) => values
            .iter()
            .map(|value| format!("`{}`", value.as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(", "),
        _ => String::new(),
    };
    let is_needed =
        schema["required"].as_array().is_some_and(|needed| needed.iter().any(|needed| needed == name));
    let needed = if is_needed { "needed. " } else { "" };
    format!("| `{name}` | {kind} | {needed}{} |\n", field["description"].as_str().unwrap_or_default())
}
