//! Runs one knowledge query in the small Scheme, and formats its answer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use consort_core::engine::StoreError;
use consort_core::knowledge::Kind;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Scope;
use consort_scheme::Error;
use consort_scheme::Format;
use consort_scheme::Limits;
use consort_scheme::Session;
use consort_scheme::Value;
use consort_scheme::print;

use crate::functions::KnowledgeFunctions;
use crate::notes;
use crate::past::Past;
use crate::tokens;

/// Most records that are remembered as shown by an answer.
const MOST_SHOWN: usize = 20;

/// Least length of an answer, in bytes; a shorter one would say nothing.
const SHORTEST: usize = 64;

/// A query, and the form and length of its answer.
pub struct Question<'a> {
    pub scope: &'a Scope,
    /// The program: each of its expressions has an answer.
    pub source: &'a str,
    pub format: Format,
    /// Most tokens of o200k that the answer may cost its reader.
    pub tokens: usize,
    /// Setting it stops the query.
    pub is_cancelled: Arc<AtomicBool>,
}

/// Stops the query that has its flag when dropped: at the end of a client's request, or when
/// that is cancelled.
#[derive(Default)]
pub struct CancelOnDrop(Arc<AtomicBool>);

impl CancelOnDrop {
    /// Returns the flag for [`Question::is_cancelled`].
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// Whether an expression failed; the expressions before it are answered.
    pub has_failed: bool,
    /// The first few current records that the answer shows: should one become stale, the reader
    /// wants to hear of it.
    pub shown: Vec<(Kind, String)>,
}

/// Answers a query. An error means that the index was damaged: it has been
/// removed, and the query can be asked again.
pub fn ask(
    session: &mut Session,
    index: &dyn KnowledgeIndex,
    past: &mut dyn Past,
    question: &Question<'_>,
) -> Result<Answer, StoreError> {
    let mut world = KnowledgeFunctions {
        index,
        scope: question.scope,
        past,
        read: Default::default(),
        failure: Default::default(),
        notes: Default::default(),
    };
    let limits = Limits { is_cancelled: Arc::clone(&question.is_cancelled), ..Limits::default() };
    let results = session.run(question.source, &mut world, &limits);
    let mut notes = notes::unknown_fields(question.source);
    notes.append(&mut world.notes.take());
    let notes = notes::below(&notes, question.format);
    if let Some(error @ StoreError::IndexDamaged { .. }) = world.failure.into_inner() {
        return Err(error);
    }
    let has_failed = results.iter().any(Result::is_err);
    let shown = shown(&results);
    Ok(Answer { text: fitting(&results, question, &notes), has_failed, shown })
}

/// Finds the current records among the answers, whole or in a list.
fn shown(results: &[Result<Value, Error>]) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    for value in results.iter().flatten() {
        let one = std::slice::from_ref(value);
        let members: Vec<&Value> = match value {
            Value::List(all) => all.iter().take(MOST_SHOWN).collect(),
            _ => one.iter().collect(),
        };
        for record in members.into_iter().filter(|one| matches!(one, Value::Record(..))) {
            let kind = record.field("kind").as_str().and_then(Kind::named);
            let name = record.field("name").as_str().map(str::to_owned);
            if let (Some(kind), Some(name), false) = (kind, name, record.field("stale").is_true()) {
                found.push((kind, name));
            }
        }
    }
    found.truncate(MOST_SHOWN);
    found
}

/// Prints the answer with its notes, within the tokens it may cost.
fn fitting(results: &[Result<Value, Error>], question: &Question<'_>, notes: &str) -> String {
    let most = question.tokens.saturating_sub(tokens::bound(notes));
    // A token is about four bytes; if the text takes more tokens than that, try with less room.
    let mut longest = most * 4;
    loop {
        let text = print(results, question.format, longest);
        let cost = tokens::bound(&text);
        if cost <= most || longest < SHORTEST {
            return text + notes;
        }
        longest = longest * most / cost * 9 / 10;
    }
}
