//! Reads the rules by which a CLI's state is recognised on its screen: `screen.toml` in its folder, or a file
//! of the user's in the same form.

use std::time::Duration;

use consort_core::monitor::ComposerCondition;
use consort_core::monitor::ComposerShape;
use consort_core::monitor::PaneState;
use consort_core::monitor::Signature;
use consort_core::monitor::SignatureRule;
use consort_core::monitor::TextPattern;
use thiserror::Error;
use toml_edit::Document;
use toml_edit::Item;
use toml_edit::TableLike;
use toml_edit::Value;

/// The number of lines at the bottom that are the footer, unless a file has `footer_lines`.
const FOOTER: usize = 3;

const KEYS: &[&str] =
    &["versions", "prompt", "placeholders", "marks", "resume", "footer_lines", "composer", "rule"];

const RULE_KEYS: &[&str] = &[
    "name",
    "state",
    "screen",
    "footer",
    "turn",
    "first",
    "mark",
    "below_bar",
    "title",
    "composer",
    "seconds",
    "held",
    "trust",
    "words",
];

/// The reason why a file is not a valid signature.
#[derive(Debug, Error)]
pub enum ScreenError {
    #[error("{0}")]
    NotToml(String),
    #[error("{what} has no key `{key}`")]
    UnknownKey { what: String, key: String },
    #[error("`{key}` of {what} is {wanted}")]
    NotA { what: String, key: String, wanted: &'static str },
}

/// Reads a signature from the text of such a file.
pub fn signature(text: &str) -> Result<Signature, ScreenError> {
    let document = Document::parse(text).map_err(|error| ScreenError::NotToml(error.to_string()))?;
    let table = Part { what: "the file".into(), table: document.as_table() };
    table.check_keys(KEYS)?;
    let rules = document.get("rule").and_then(Item::as_array_of_tables);
    let rules = rules.into_iter().flatten().enumerate().map(|(at, rule)| self::rule(at, rule));
    let composer = match table.text("composer")?.as_deref() {
        None => None,
        Some("rules") => Some(ComposerShape::Rules),
        Some("box") => Some(ComposerShape::Box),
        Some("prompt") => Some(ComposerShape::Prompt),
        Some(_) => return Err(table.not_a("composer", "\"rules\", \"box\" or \"prompt\"")),
    };
    Ok(Signature {
        composer,
        versions: table.texts("versions")?,
        unknown_version: None,
        prompt: table.texts("prompt")?,
        placeholders: table.texts("placeholders")?,
        marks: table.texts("marks")?,
        footer_lines: table.number("footer_lines")?.map_or(FOOTER, |lines| lines as usize),
        resume: table.texts("resume")?.iter().map(|text| TextPattern::from(text.as_str())).collect(),
        rules: rules.collect::<Result<_, _>>()?,
    })
}

fn rule(at: usize, table: &dyn TableLike) -> Result<SignatureRule, ScreenError> {
    let part = Part { what: format!("rule {}", at + 1), table };
    part.check_keys(RULE_KEYS)?;
    let name = part.text("name")?.ok_or_else(|| part.not_a("name", "a text"))?;
    let state = part.text("state")?.and_then(|state| PaneState::named(&state));
    let composer = match part.text("composer")?.as_deref() {
        None => ComposerCondition::Nothing,
        Some("any") => ComposerCondition::There,
        Some("dim") => ComposerCondition::Dim,
        Some(_) => return Err(part.not_a("composer", "\"any\" or \"dim\"")),
    };
    Ok(SignatureRule {
        name,
        state: state.ok_or_else(|| part.not_a("state", "a state of a pane"))?,
        screen: part.patterns("screen")?,
        footer: part.patterns("footer")?,
        turn: part.patterns("turn")?,
        first: part.patterns("first")?,
        mark: part.patterns("mark")?,
        below_bar: part.flag("below_bar")?,
        title: part.patterns("title")?,
        composer,
        seconds: part.number("seconds")?,
        held: part.number("held")?.map(Duration::from_secs),
        trust: part.text("trust")?,
        words: part.text("words")?,
    })
}

/// A table, and its name for error messages.
struct Part<'a> {
    what: String,
    table: &'a dyn TableLike,
}

impl Part<'_> {
    fn not_a(&self, key: &str, wanted: &'static str) -> ScreenError {
        ScreenError::NotA { what: self.what.clone(), key: key.to_owned(), wanted }
    }

    fn check_keys(&self, known: &[&str]) -> Result<(), ScreenError> {
        let unknown = self.table.iter().map(|(key, _)| key).find(|key| !known.contains(key));
        unknown.map_or(Ok(()), |key| {
            Err(ScreenError::UnknownKey { what: self.what.clone(), key: key.to_owned() })
        })
    }

    fn text(&self, key: &str) -> Result<Option<String>, ScreenError> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        item.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| self.not_a(key, "a text"))
    }

    fn flag(&self, key: &str) -> Result<bool, ScreenError> {
        let Some(item) = self.table.get(key) else { return Ok(false) };
        item.as_bool().ok_or_else(|| self.not_a(key, "true or false"))
    }

    fn number(&self, key: &str) -> Result<Option<u64>, ScreenError> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.not_a(key, "a number"))
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, ScreenError> {
        self.list(key, |value| value.as_str().map(str::to_owned))
    }

    /// Reads a list of patterns; each element is a pattern, or a list of patterns of which one must be seen.
    fn patterns(&self, key: &str) -> Result<Vec<Vec<TextPattern>>, ScreenError> {
        self.list(key, |value| match value {
            Value::Array(any) => any.iter().map(|one| one.as_str().map(TextPattern::from)).collect(),
            one => one.as_str().map(|text| vec![TextPattern::from(text)]),
        })
    }

    fn list<T>(&self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, ScreenError> {
        let Some(item) = self.table.get(key) else { return Ok(Vec::new()) };
        let list = item.as_array().and_then(|list| list.iter().map(read).collect());
        list.ok_or_else(|| self.not_a(key, "a list of texts"))
    }
}
