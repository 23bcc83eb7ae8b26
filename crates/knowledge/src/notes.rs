//! Notes below an answer: the names that a query which found nothing may have meant.
//!
//! A field that does not exist is `nil` and an unknown name finds nothing, so without a note a
//! misspelling would look like an answer.

use std::collections::BTreeSet;

use consort_core::knowledge::Kind;
use consort_core::text;
use consort_scheme::Datum;
use consort_scheme::Form;
use consort_scheme::Format;
use consort_scheme::read;

/// The fields that a record has besides those of its kind.
const OF_ALL: &[&str] = &["kind", "name", "by", "agent", "commit", "at", "time", "stale", "weight"];

/// Keywords that are no fields of records: in the results of functions, and options of builtins.
const OTHERS: &[&str] = &[
    "field",
    "value",
    "desc",
    "asc",
    "error",
    "hint",
    "principles",
    "patterns",
    "decisions",
    "files",
    "notes",
    "relationships",
];

/// Most notes below an answer; more would be longer than the answer.
const MOST: usize = 5;

/// Formats the notes for below an answer, each on its own line.
pub(crate) fn below(notes: &[String], format: Format) -> String {
    let one = |note: &String| match format {
        Format::Json => format!("\n{}", serde_json::json!({ "note": note })),
        Format::Columnar | Format::Record => format!("\n#| {} |#", note.replace("|#", "| #")),
    };
    notes.iter().take(MOST).map(one).collect()
}

/// Suggests the name most similar to `name`, in words; `None` if no name is similar.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let is_near = |near: &&str| *near != name;
    text::nearest(name, names).filter(is_near).map(|near| format!("did you mean {near:?}?"))
}

/// Makes a note for every field that a program reads and no kind has, if a known field is similar.
pub(crate) fn unknown_fields(source: &str) -> Vec<String> {
    let Ok(forms) = read(source) else { return Vec::new() };
    let (mut keys, mut made) = (BTreeSet::new(), BTreeSet::new());
    forms.iter().for_each(|form| collect(form, &mut keys, &mut made));
    let fields = || Kind::ALL.iter().flat_map(|kind| kind.fields()).map(|field| field.name);
    let is_known = |key: &str| {
        OF_ALL.contains(&key)
            || OTHERS.contains(&key)
            || Kind::ALL.iter().any(|kind| kind.field(key).is_some())
            || made.contains(key)
    };
    let unknown = keys.iter().filter(|key| !is_known(key));
    let note = |key: &String| {
        let begins = || fields().find(|field| key.len() > 2 && field.starts_with(key.as_str()));
        let near = text::nearest(key, fields().chain(OF_ALL.iter().copied())).or_else(begins)?;
        Some(format!("no record has a field :{key}; did you mean :{near}?"))
    };
    unknown.filter_map(note).collect()
}

/// Collects the keywords that a program uses, and those of the dictionaries it makes.
fn collect(form: &Datum, keys: &mut BTreeSet<String>, made: &mut BTreeSet<String>) {
    match &form.form {
        Form::Keyword(key) => drop(keys.insert(key.to_string())),
        Form::List(items) | Form::Brackets(items) => {
            let is_dict = items
                .first()
                .is_some_and(|head| matches!(&head.form, Form::Symbol(name) if **name == *"dict"));
            for item in items.iter() {
                match &item.form {
                    Form::Keyword(key) if is_dict => drop(made.insert(key.to_string())),
                    _ => collect(item, keys, made),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_in_a_field_is_told_and_an_own_key_is_not() {
        let notes = unknown_fields("(filter (lambda (p) (> (@ p :confidance) 0.8)) (get-principles))");
        assert_eq!(notes, ["no record has a field :confidance; did you mean :confidence?"]);
        assert_eq!(
            unknown_fields("(@ p :descr)"),
            ["no record has a field :descr; did you mean :description?"]
        );
        for fine in ["(map :name xs)", "(@ (dict :tag 1) :tag)", "(sort-by :impact xs :desc)", "(@ p :zebra)"]
        {
            assert_eq!(unknown_fields(fine), Vec::<String>::new(), "{fine}");
        }
    }
}
