//! Merges the roles of several files: decides which value counts, and keeps a project's file from
//! loosening a role.
//!
//! The user's file overrides the shipped roles, and the project's file overrides both, key by key.
//! **A project's file never gives a role more than the person allows**: where a value would, the
//! stricter one counts, and a note says so.

use std::path::PathBuf;

use serde::Serialize;

use super::Isolation;
use super::Role;
use super::RoleError;
use super::RoleKey;
use super::RoleValue;
use super::Safety;
use super::is_argument;
use super::role::variables;
use crate::text;

/// The ending of the variables that a project's file may name: any other may be a secret, which
/// would go to a provider as the name of a model.
const VARIABLES_OF_PROJECTS: &str = "_MODEL";

/// The origin of a value; later ones override earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleSource {
    Shipped,
    User(PathBuf),
    Project(PathBuf),
}

impl std::fmt::Display for RoleSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shipped => f.write_str("shipped"),
            Self::User(path) | Self::Project(path) => path.display().fmt(f),
        }
    }
}

/// The roles of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleLayer {
    pub source: RoleSource,
    pub roles: Vec<RoleValues>,
}

/// The values that one file gives a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleValues {
    pub name: String,
    pub values: Vec<(&'static RoleKey, RoleValue)>,
}

/// A role, the sources of its values, and notes on values that were overruled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResolvedRole {
    #[serde(flatten)]
    pub role: Role,
    pub sources: Vec<RoleOrigin>,
    #[serde(serialize_with = "in_words")]
    pub notes: Vec<RoleNote>,
}

/// The file that the value of a key is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoleOrigin {
    pub key: &'static str,
    pub source: RoleSource,
}

/// A note on a value that does not count as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleNote {
    /// The project's file would loosen what the person allows.
    Capped { key: &'static str, wanted: String, counts: String },
    /// The model is named by a variable that is not set.
    NoVariable { variable: String },
    /// The project's file names a variable that could hold anything.
    NotForProjects { variable: String },
    /// The text is no name of a model once its variables are replaced.
    NotAModel,
}

impl std::fmt::Display for RoleNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Capped { key, wanted, counts } => write!(
                f,
                "the project's `{key}` = {} is looser than you allow: {} counts",
                text::quoted(wanted, 60),
                text::quoted(counts, 60)
            ),
            Self::NoVariable { variable } => {
                write!(f, "its model needs the variable {}, which is not set", text::foreign(variable, 60))
            }
            Self::NotForProjects { variable } => write!(
                f,
                "the project's file cannot read the variable {}: only names that end in \
                 `{VARIABLES_OF_PROJECTS}` are read for it",
                text::foreign(variable, 60)
            ),
            Self::NotAModel => f.write_str("what its variables say is no name of a model"),
        }
    }
}

fn in_words<S: serde::Serializer>(notes: &[RoleNote], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.iter().map(ToString::to_string))
}

impl ResolvedRole {
    /// Returns the role, if a run can be started with it: the model that it names must be known.
    pub fn usable(&self) -> Result<&Role, RoleError> {
        let role = || self.role.name.clone();
        let error = self.notes.iter().find_map(|note| match note {
            RoleNote::NoVariable { variable } => {
                Some(RoleError::NoVariable { role: role(), variable: variable.clone() })
            }
            RoleNote::NotAModel => Some(RoleError::NotAModel { role: role() }),
            RoleNote::Capped { .. } | RoleNote::NotForProjects { .. } => None,
        });
        error.map_or(Ok(&self.role), Err)
    }
}

/// Resolves all roles, the shipped ones first. `default` is the person's safety level for a run
/// that names none.
pub fn resolve_roles(
    mut layers: Vec<RoleLayer>,
    default: Safety,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<ResolvedRole> {
    layers.sort_by(|a, b| a.source.cmp(&b.source));
    let mut names: Vec<&str> = Vec::new();
    for entry in layers.iter().flat_map(|layer| &layer.roles) {
        if !names.contains(&entry.name.as_str()) {
            names.push(&entry.name);
        }
    }
    names.iter().map(|name| resolve_one(&layers, name, default, variable)).collect()
}

/// Finds a role by its name.
pub fn find_role<'a>(roles: &'a [ResolvedRole], name: &str) -> Result<&'a ResolvedRole, RoleError> {
    roles.iter().find(|role| role.role.name == name).ok_or_else(|| {
        let names = || roles.iter().map(|role| role.role.name.as_str());
        RoleError::UnknownRole {
            name: name.to_owned(),
            nearest: text::nearest(name, names()).map(str::to_owned),
            all: names().map(str::to_owned).collect(),
        }
    })
}

/// Tells whether a value lets a run do more than the value before it, or than `default`, the
/// person's safety level for a run that names none.
pub fn is_looser(key: &RoleKey, before: Option<&RoleValue>, after: &RoleValue, default: Safety) -> bool {
    let limits_work = matches!(key.name, "safety" | "read_only" | "isolation" | "tools");
    let is_above = key.name == "safety" && safety(after) > Some(default) && before.is_none();
    limits_work && (is_above || before.is_some_and(|before| stricter(key, before, after).is_some()))
}

/// A value, with its key and its source.
type Sourced<'a> = (&'static RoleKey, RoleValue, &'a RoleSource);

fn resolve_one(
    layers: &[RoleLayer],
    name: &str,
    default: Safety,
    variable: &dyn Fn(&str) -> Option<String>,
) -> ResolvedRole {
    let (mut values, mut notes): (Vec<Sourced<'_>>, Vec<RoleNote>) = (Vec::new(), Vec::new());
    let mut is_of_project = false;
    for layer in layers {
        let is_project = matches!(layer.source, RoleSource::Project(_));
        let entries = layer.roles.iter().filter(|entry| entry.name == name);
        for (key, value) in entries.flat_map(|entry| &entry.values) {
            is_of_project |= is_project;
            if let Some(variable) = not_for_projects(value).filter(|_| is_project && key.name == "model") {
                notes.push(RoleNote::NotForProjects { variable });
                continue;
            }
            let before = values.iter().position(|(one, ..)| one == key);
            let before = before.map(|at| values.remove(at));
            let counts = before.as_ref().filter(|_| is_project).and_then(|(_, before, source)| {
                let is_cap = matches!(source, RoleSource::User(_)) || !is_amount(key);
                stricter(key, before, value).filter(|_| is_cap)
            });
            let source = match (&counts, &before) {
                (Some(_), Some((.., source))) => source,
                _ => &layer.source,
            };
            notes.extend(counts.as_ref().map(|counts| capped(key, value, counts)));
            values.push((key, counts.unwrap_or_else(|| value.clone()), source));
        }
    }
    // A role that the project has changed does no more by itself than an undefined one.
    for (key, value, _) in values.iter_mut().filter(|_| is_of_project) {
        if key.name == "safety" && safety(value) > Some(default) {
            let counts = RoleValue::Text(default.as_str().to_owned());
            notes.push(capped(key, value, &counts));
            *value = counts;
        }
    }
    let order = |key: &RoleKey| super::ROLE_KEYS.iter().position(|one| one == key);
    values.sort_by_key(|(key, ..)| order(key));
    let sources = values
        .iter()
        .map(|(key, _, source)| RoleOrigin { key: key.name, source: (*source).clone() })
        .collect();
    let mut role = Role { name: name.to_owned(), ..Role::default() };
    for (key, value, _) in values {
        match (key.name, &value) {
            ("model", RoleValue::Text(model)) => match expanded(model, variable) {
                Ok(model) => role.set(key, RoleValue::Text(model)),
                Err(note) => notes.push(note),
            },
            _ => role.set(key, value),
        }
    }
    ResolvedRole { role, sources, notes }
}

fn capped(key: &'static RoleKey, wanted: &RoleValue, counts: &RoleValue) -> RoleNote {
    RoleNote::Capped { key: key.name, wanted: wanted.to_string(), counts: counts.to_string() }
}

/// Tells whether a key limits an amount, which a project may know better than the shipped file.
fn is_amount(key: &RoleKey) -> bool {
    matches!(key.name, "max_turns" | "token_budget" | "budget_usd" | "timeout_s" | "retry")
}

fn safety(value: &RoleValue) -> Option<Safety> {
    match value {
        RoleValue::Text(text) => Safety::named(text),
        _ => None,
    }
}

/// Returns the value that counts, if `after` is looser than `before`.
fn stricter(key: &RoleKey, before: &RoleValue, after: &RoleValue) -> Option<RoleValue> {
    let is_looser = match (key.name, before, after) {
        ("safety", ..) => safety(after) > safety(before),
        ("read_only", RoleValue::Flag(before), RoleValue::Flag(after)) => *before && !after,
        ("isolation", RoleValue::Text(before), RoleValue::Text(after)) => {
            before == Isolation::Worktree.as_str() && after != before
        }
        ("tools", RoleValue::Words(before), RoleValue::Words(after)) => {
            let both: Vec<String> = after.iter().filter(|tool| before.contains(tool)).cloned().collect();
            return (both.len() < after.len()).then_some(RoleValue::Words(both));
        }
        (_, RoleValue::Number(before), RoleValue::Number(after)) if is_amount(key) => after > before,
        (_, RoleValue::Dollars(before), RoleValue::Dollars(after)) => after > before,
        _ => false,
    };
    is_looser.then(|| before.clone())
}

/// Finds a variable in a model's name that a project's file may not name.
fn not_for_projects(model: &RoleValue) -> Option<String> {
    let RoleValue::Text(model) = model else { return None };
    let mut names = variables(model).unwrap_or_default().into_iter();
    names.find(|name| !name.ends_with(VARIABLES_OF_PROJECTS)).map(str::to_owned)
}

/// Returns a model's name with its variables replaced.
fn expanded(model: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, RoleNote> {
    let (mut text, mut rest) = (String::new(), model);
    for name in variables(model).unwrap_or_default() {
        let value = variable(name).ok_or_else(|| RoleNote::NoVariable { variable: name.to_owned() })?;
        let (before, after) = rest.split_once("${").unwrap_or((rest, ""));
        text.push_str(before);
        text.push_str(&value);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    match is_argument(&text) {
        true => Ok(text),
        false => Err(RoleNote::NotAModel),
    }
}

#[cfg(test)]
mod tests {
    use proptest::option::of;
    use proptest::prelude::*;

    use super::super::ROLE_KEYS;
    use super::super::role_key;
    use super::*;

    fn layer(source: RoleSource, roles: &[(&str, &[(&str, &str)])]) -> RoleLayer {
        let values = |values: &[(&str, &str)]| {
            let value = |(key, typed): &(&str, &str)| {
                let key = role_key(key).unwrap();
                (key, key.typed(typed).unwrap())
            };
            values.iter().map(value).collect()
        };
        let roles =
            roles.iter().map(|(name, of)| RoleValues { name: (*name).to_owned(), values: values(of) });
        RoleLayer { source, roles: roles.collect() }
    }

    fn user() -> RoleSource {
        RoleSource::User("/u".into())
    }

    fn project() -> RoleSource {
        RoleSource::Project("/p".into())
    }

    fn resolved(layers: Vec<RoleLayer>) -> Vec<ResolvedRole> {
        let variable = |name: &str| (name == "TEAM_MODEL" || name == "API_KEY").then(|| "sonnet".to_owned());
        resolve_roles(layers, Safety::AutoEdit, &variable)
    }

    #[test]
    fn files_overlay_each_other_key_by_key() {
        let roles = resolved(vec![
            layer(project(), &[("dev", &[("max_turns", "9")]), ("ours", &[("tier", "mid")])]),
            layer(RoleSource::Shipped, &[("dev", &[("description", "works"), ("model", "haiku")])]),
            layer(user(), &[("dev", &[("model", "opus"), ("timeout_s", "60")])]),
        ]);
        let dev = find_role(&roles, "dev").unwrap();
        assert_eq!((dev.role.description.as_str(), dev.role.model.as_deref()), ("works", Some("opus")));
        assert_eq!((dev.role.max_turns, dev.role.timeout_s), (Some(9), Some(60)));
        let of = |key: &str| dev.sources.iter().find(|one| one.key == key).map(|one| one.source.clone());
        assert_eq!(of("description"), Some(RoleSource::Shipped));
        assert_eq!((of("model"), of("max_turns"), of("tier")), (Some(user()), Some(project()), None));
        assert_eq!(roles.iter().map(|role| role.role.name.as_str()).collect::<Vec<_>>(), ["dev", "ours"]);
        let unknown = find_role(&roles, "dve").unwrap_err();
        assert!(matches!(unknown, RoleError::UnknownRole { nearest: Some(near), .. } if near == "dev"));
    }

    #[test]
    fn a_project_loosens_nothing() {
        let below = [
            ("safety", "suggest"),
            ("read_only", "true"),
            ("isolation", "worktree"),
            ("tools", "read, grep"),
            ("budget_usd", "1"),
            ("retry", "1"),
        ];
        let wanted = [
            ("safety", "auto-edit"),
            ("read_only", "false"),
            ("isolation", "none"),
            ("tools", "bash, read"),
            ("budget_usd", "50"),
            ("retry", "9"),
        ];
        let roles =
            resolved(vec![layer(user(), &[("mine", &below)]), layer(project(), &[("mine", &wanted)])]);
        let (role, notes) = (&roles[0].role, &roles[0].notes);
        assert_eq!(role.safety, Some(Safety::Suggest));
        assert!(role.read_only);
        assert_eq!(role.isolation, Isolation::Worktree);
        assert_eq!(role.tools, Some(vec!["read".to_owned()]));
        assert_eq!((role.budget_usd, role.retry), (Some(super::super::Cost::from_dollars(1.0)), 1));
        assert_eq!(notes.len(), wanted.len(), "{notes:?}");
        assert_eq!(
            notes[0].to_string(),
            r#"the project's `safety` = "auto-edit" is looser than you allow: "suggest" counts"#
        );
        // The user's own file may loosen a role, and a project may change amounts that are only shipped.
        let roles = resolved(vec![
            layer(RoleSource::Shipped, &[("dev", &below)]),
            layer(user(), &[("dev", &wanted)]),
        ]);
        assert_eq!((roles[0].role.safety, roles[0].notes.len()), (Some(Safety::AutoEdit), 0));
        let roles = resolved(vec![
            layer(RoleSource::Shipped, &[("dev", &[("retry", "1")])]),
            layer(project(), &[("dev", &[("retry", "2")])]),
        ]);
        assert_eq!((roles[0].role.retry, roles[0].notes.len()), (2, 0));
    }

    #[test]
    fn what_a_project_touches_does_no_more_by_itself_than_the_default() {
        let roles = resolved(vec![
            layer(user(), &[("mine", &[("safety", "full-auto")]), ("other", &[("safety", "full-auto")])]),
            layer(
                project(),
                &[("mine", &[("system_prompt", "obey")]), ("theirs", &[("safety", "full-auto")])],
            ),
        ]);
        let safeties: Vec<Option<Safety>> = roles.iter().map(|role| role.role.safety).collect();
        assert_eq!(safeties, [Some(Safety::AutoEdit), Some(Safety::FullAuto), Some(Safety::AutoEdit)]);
        assert_eq!((roles[0].notes.len(), roles[1].notes.len(), roles[2].notes.len()), (1, 0, 1));
    }

    #[test]
    fn a_model_is_named_by_variables() {
        let of = |source: RoleSource, model: &str| {
            let below = layer(RoleSource::Shipped, &[("dev", &[("model", "haiku")])]);
            resolved(vec![below, layer(source, &[("dev", &[("model", model)])])]).remove(0)
        };
        assert_eq!(of(user(), "x/${TEAM_MODEL}:${API_KEY}").role.model.as_deref(), Some("x/sonnet:sonnet"));
        assert_eq!(of(project(), "${TEAM_MODEL}").role.model.as_deref(), Some("sonnet"));
        let secret = of(project(), "${API_KEY}");
        assert_eq!(secret.role.model.as_deref(), Some("haiku"));
        assert_eq!(secret.notes, [RoleNote::NotForProjects { variable: "API_KEY".into() }]);
        let missing = of(user(), "${NOWHERE}");
        assert_eq!(missing.role.model, None);
        assert!(
            matches!(missing.usable(), Err(RoleError::NoVariable { variable, .. }) if variable == "NOWHERE")
        );
        let option =
            resolve_roles(vec![layer(user(), &[("dev", &[("model", "${X}")])])], Safety::AutoEdit, &|_| {
                Some("--yolo".into())
            });
        assert_eq!(
            (option[0].role.model.as_deref(), &option[0].notes[..]),
            (None, &[RoleNote::NotAModel][..])
        );
        assert!(option[0].usable().is_err());
    }

    fn values() -> impl Strategy<Value = Vec<(&'static RoleKey, RoleValue)>> {
        let safety = proptest::sample::select(vec!["suggest", "auto-edit", "full-auto"]);
        let tools = proptest::sample::subsequence(vec!["read", "grep", "bash", "edit"], 0..=4);
        let isolation = proptest::sample::select(vec!["none", "worktree"]);
        let key = |name: &str| role_key(name).unwrap();
        (of(safety), of(any::<bool>()), of(isolation), of(tools), of(1u64..5)).prop_map(
            move |(safety, read_only, isolation, tools, turns)| {
                let text = |text: &str| RoleValue::Text(text.to_owned());
                let words =
                    |words: Vec<&str>| RoleValue::Words(words.into_iter().map(str::to_owned).collect());
                let mut values = Vec::new();
                values.extend(safety.map(|one| (key("safety"), text(one))));
                values.extend(read_only.map(|one| (key("read_only"), RoleValue::Flag(one))));
                values.extend(isolation.map(|one| (key("isolation"), text(one))));
                values.extend(tools.map(|one| (key("tools"), words(one))));
                values.extend(turns.map(|one| (key("max_turns"), RoleValue::Number(one))));
                values
            },
        )
    }

    proptest! {
        #[test]
        fn whatever_a_project_says_the_role_may_do_no_more(own in values(), theirs in values()) {
            let one = |source, values: &Vec<_>| RoleLayer {
                source,
                roles: vec![RoleValues { name: "r".into(), values: values.clone() }],
            };
            let before = resolved(vec![one(user(), &own)]).remove(0).role;
            let after = resolved(vec![one(user(), &own), one(project(), &theirs)]).remove(0).role;
            let default = Safety::AutoEdit;
            prop_assert!(after.safety_or(default) <= before.safety_or(default));
            prop_assert!(after.read_only >= before.read_only);
            prop_assert!(before.isolation == Isolation::None || after.isolation == Isolation::Worktree);
            if let Some(tools) = &before.tools {
                prop_assert!(after.tools.iter().flatten().all(|tool| tools.contains(tool)));
                prop_assert!(after.tools.is_some());
            }
            if let Some(turns) = before.max_turns {
                prop_assert!(after.max_turns.is_some_and(|after| after <= turns));
            }
            prop_assert!(ROLE_KEYS.iter().all(|key| !is_looser(key, None, &RoleValue::Flag(true), default)));
        }
    }
}
