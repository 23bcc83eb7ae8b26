//! Reads files of roles, and changes one value in such a file.

use consort_core::dispatch::Cost;
use consort_core::dispatch::RoleKey;
use consort_core::dispatch::RoleLayer;
use consort_core::dispatch::RoleSource;
use consort_core::dispatch::RoleValue;
use consort_core::dispatch::RoleValueKind;
use consort_core::dispatch::RoleValues;
use consort_core::dispatch::check_role_name;
use consort_core::dispatch::role_key;
use consort_core::explain::Explain as _;
use consort_core::text;
use toml_edit::DocumentMut;
use toml_edit::Item;

use super::Problem;
use super::RunFileFormat;
use super::node;
use super::node::Field;
use super::node::Node;
use super::node::NodeValue;
use super::reader::Reader;

/// The text of the role file that comes with the program.
pub const SHIPPED_ROLES: &str = include_str!("roles.toml");

/// Reads a file of roles: one table per role.
pub fn read_roles(text: &str, source: RoleSource) -> Result<RoleLayer, Vec<Problem>> {
    let root = node::parse(text, RunFileFormat::Toml).map_err(|problem| vec![problem])?;
    let mut reader = Reader::new(text);
    let mut roles = Vec::new();
    if let NodeValue::Table(fields) = &root.value {
        roles.extend(fields.iter().filter_map(|field| role(&mut reader, field)));
    }
    reader.end(RoleLayer { source, roles })
}

fn role(reader: &mut Reader<'_>, field: &Field) -> Option<RoleValues> {
    let NodeValue::Table(fields) = &field.node.value else {
        let message = format!("{} is not a role", text::foreign(&field.key, 60));
        reader.problem(field.at, message, Some("a role is a table: `[name]`, and its keys below it".into()));
        return None;
    };
    if let Err(error) = check_role_name(&field.key) {
        reader.problem(field.at, error.to_string(), error.hints().into_iter().next());
    }
    let values = fields.iter().filter_map(|field| {
        let key = match role_key(&field.key) {
            Ok(key) => key,
            Err(error) => {
                reader.problem(field.at, error.to_string(), error.hints().into_iter().next());
                return None;
            }
        };
        Some((key, value(reader, field, key)?))
    });
    Some(RoleValues { name: field.key.clone(), values: values.collect() })
}

fn value(reader: &mut Reader<'_>, field: &Field, key: &'static RoleKey) -> Option<RoleValue> {
    if key.name == "cli" {
        return reader.cli(field).map(RoleValue::Text);
    }
    let value = match (key.kind, &field.node.value) {
        (RoleValueKind::Text | RoleValueKind::Model | RoleValueKind::Choice(_), NodeValue::Text(text)) => {
            Some(RoleValue::Text(text.clone()))
        }
        (RoleValueKind::Flag, NodeValue::Flag(flag)) => Some(RoleValue::Flag(*flag)),
        (RoleValueKind::Number { .. }, NodeValue::Whole(number)) => {
            u64::try_from(*number).ok().map(RoleValue::Number)
        }
        (RoleValueKind::Dollars, NodeValue::Whole(number)) => {
            Some(RoleValue::Dollars(Cost::from_dollars(*number as f64)))
        }
        (RoleValueKind::Dollars, NodeValue::Number(number)) => {
            Some(RoleValue::Dollars(Cost::from_dollars(*number)))
        }
        (RoleValueKind::Words, NodeValue::List(nodes)) => {
            let words: Option<Vec<&str>> = nodes.iter().map(Node::as_text).collect();
            words.map(|words| RoleValue::Words(words.into_iter().map(str::to_owned).collect()))
        }
        _ => None,
    };
    let Some(value) = value else { return reader.not_a(field, &key.wanted()) };
    match key.check(&value) {
        Ok(()) => Some(value),
        Err(error) => {
            reader.problem(field.node.at, error.to_string(), error.hints().into_iter().next());
            None
        }
    }
}

/// Changes one value in the text of a role file, and keeps everything else, even comments. Fails if the file
/// has mistakes before or after the change.
pub fn with_role_value(
    text: &str,
    role: &str,
    key: &RoleKey,
    value: &RoleValue,
) -> Result<String, Vec<Problem>> {
    read_roles(text, RoleSource::Shipped)?;
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        vec![Problem::new(text, at, error.message().to_owned(), None)]
    })?;
    let entry = document.entry(role).or_insert_with(toml_edit::table);
    if let Some(table) = entry.as_table_like_mut() {
        let value = toml_value(value);
        match table.get_mut(key.name).and_then(Item::as_value_mut) {
            Some(old) => {
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            None => drop(table.insert(key.name, Item::Value(value))),
        }
    }
    let changed = document.to_string();
    read_roles(&changed, RoleSource::Shipped)?;
    Ok(changed)
}

fn toml_value(value: &RoleValue) -> toml_edit::Value {
    match value {
        RoleValue::Text(text) => text.as_str().into(),
        RoleValue::Flag(flag) => (*flag).into(),
        RoleValue::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX).into(),
        RoleValue::Dollars(cost) => cost.dollars().into(),
        RoleValue::Words(words) => words.iter().collect::<toml_edit::Array>().into(),
    }
}

#[cfg(test)]
mod tests {
    use consort_core::dispatch::DEFAULT_ROLE;
    use consort_core::dispatch::ROLE_KEYS;
    use consort_core::dispatch::Safety;
    use consort_core::dispatch::find_role;
    use consort_core::dispatch::resolve_roles;
    use expect_test::expect;

    use super::*;

    fn read(text: &str) -> Result<RoleLayer, Vec<Problem>> {
        read_roles(text, RoleSource::User("/u".into()))
    }

    #[test]
    fn the_shipped_roles_are_sound_and_strict() {
        let layer = read_roles(SHIPPED_ROLES, RoleSource::Shipped).unwrap();
        let roles = resolve_roles(vec![layer], Safety::AutoEdit, &|_| None);
        let names: Vec<&str> = roles.iter().map(|role| role.role.name.as_str()).collect();
        assert_eq!(
            names,
            ["dev", "scout", "planner", "builder", "reviewer", "plan-reviewer", "documenter", "red-team"]
        );
        for role in roles.iter().map(|role| &role.role) {
            assert!(!role.description.is_empty() && role.description.len() < 80, "{}", role.name);
            assert!(role.system_prompt.as_ref().is_some_and(|text| text.len() < 1_500), "{}", role.name);
            assert!(role.safety_or(Safety::AutoEdit) <= Safety::AutoEdit, "{}", role.name);
        }
        for name in ["scout", "planner", "reviewer", "plan-reviewer"] {
            assert!(find_role(&roles, name).unwrap().role.read_only, "{name}");
        }
        assert!(find_role(&roles, DEFAULT_ROLE).is_ok());
    }

    #[test]
    fn the_page_has_every_key_and_every_shipped_role() {
        let page = include_str!("../../../../docs/roles.md");
        let shipped = read_roles(SHIPPED_ROLES, RoleSource::Shipped).unwrap();
        let roles = shipped.roles.iter().map(|role| role.name.as_str());
        for name in ROLE_KEYS.iter().map(|key| key.name).chain(roles) {
            let is_told = page.lines().any(|line| {
                let first = line.strip_prefix("| ").and_then(|row| row.split(" | ").next());
                first.is_some_and(|first| first.contains(&format!("`{name}`")))
            });
            assert!(is_told, "docs/roles.md has no row of `{name}`");
        }
        // The examples on the page can be read.
        let blocks: Vec<&str> =
            page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        let [roles, chain, batch] = blocks.as_slice() else { panic!("{blocks:?}") };
        assert!(read(roles).is_ok());
        assert!(crate::run_files::read_chain(chain, RunFileFormat::Toml).is_ok());
        assert!(
            crate::run_files::read_batch(batch, crate::run_files::BatchForm::Tables(RunFileFormat::Toml))
                .is_ok()
        );
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        let text = r#"model = "opus"
[dev]
modle = "opus"      # a typo
max_turns = "many"
retry = -1
safety = "yolo"
cli = "claud"
tools = ["read", 7]
  tier = "midd"
budget_usd = nan
["a b"]
[other]
system_prompt = 3
made = 2026-11-17
"#;
        let problems: String = read(text).unwrap_err().iter().map(|one| format!("{one}\n")).collect();
        expect![[r#"
            line 1, column 1: model is not a role (a role is a table: `[name]`, and its keys below it)
            line 3, column 1: a role has no key modle (did you mean `model`?)
            line 4, column 13: `max_turns` needs a number from 1 to 10000
            line 5, column 9: `retry` needs a number from 0 to 10
            line 6, column 10: "yolo" is no value of `safety` (use one of: suggest, auto-edit, full-auto)
            line 7, column 7: there is no CLI claud (did you mean `claude`?)
            line 8, column 9: `tools` needs a list of words
            line 9, column 10: "midd" is no value of `tier` (use one of: frontier, mid, any)
            line 10, column 14: "0" is no value of `budget_usd` (use dollars above 0, as in `0.5`)
            line 11, column 2: "a b" is no name of a role (use up to 40 letters, digits, `-` and `_`, a letter first)
            line 13, column 17: `system_prompt` needs a text
            line 14, column 1: a role has no key made (its keys: description, cli, model, tools, read_only, system_prompt, tier, isolation, safety, reasoning, max_turns, token_budget, budget_usd, timeout_s, retry, tags)
        "#]]
        .assert_eq(&problems);
        for (text, line) in [("[dev\n", 1), ("[dev]\nmodel = opus\n", 2), ("[dev]\n[dev]\n", 2)] {
            let problems = read(text).unwrap_err();
            assert_eq!((problems.len(), problems[0].line), (1, line), "{problems:?}");
        }
        assert_eq!(read("").unwrap().roles, []);
    }

    #[test]
    fn a_value_is_changed_in_place() {
        let text = "# mine\n[dev] # first\nmodel = \"haiku\" # cheap\n\n[other]\nretry = 1\n";
        let set = |text: &str, role: &str, key: &str, typed: &str| {
            let key = role_key(key).unwrap();
            with_role_value(text, role, key, &key.typed(typed).unwrap())
        };
        let changed = set(text, "dev", "model", "opus").unwrap();
        assert_eq!(changed, text.replace("haiku", "opus"));
        let added = set(&changed, "dev", "tools", "read, bash").unwrap();
        assert_eq!(added, changed.replace("# cheap\n", "# cheap\ntools = [\"read\", \"bash\"]\n"));
        let new = set(&added, "mine", "budget_usd", "0.5").unwrap();
        assert_eq!(new, format!("{added}\n[mine]\nbudget_usd = 0.5\n"));
        assert_eq!(set("", "mine", "read_only", "true").unwrap(), "[mine]\nread_only = true\n");
        assert_eq!(set("dev = { retry = 1 }\n", "dev", "retry", "2").unwrap(), "dev = { retry = 2 }\n");
        // A file with a mistake is not changed, and no change may make a mistake.
        assert!(set("[dev]\nmodle = \"x\"\n", "dev", "model", "opus").is_err());
        assert!(set("dev = 3\n", "dev", "model", "opus").is_err());
        assert!(set("", "dev", "cli", "claud").is_err());
        assert!(set("", "a b", "retry", "1").is_err());
    }
}
