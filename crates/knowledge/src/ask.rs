//! Runs one query of the knowledge in the small Scheme, and formats its answer.

use consort_core::engine::StoreError;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Scope;
use consort_scheme::Format;
use consort_scheme::Limits;
use consort_scheme::Session;
use consort_scheme::print;

use crate::functions::KnowledgeFunctions;
use crate::past::Past;

/// What is asked, and how the answer should look.
pub struct Question<'a> {
    pub scope: &'a Scope,
    /// A program: several expressions have several answers.
    pub source: &'a str,
    pub format: Format,
    /// How many tokens the answer may cost its reader.
    pub tokens: usize,
}

/// What a question has brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// Whether an expression failed; those before it are answered.
    pub has_failed: bool,
}

/// An error means that the index is damaged: it was removed, and the question can
/// be asked again.
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
    };
    let results = session.run(question.source, &mut world, &Limits::default());
    if let Some(error @ StoreError::IndexDamaged { .. }) = world.failure.into_inner() {
        return Err(error);
    }
    let has_failed = results.iter().any(Result::is_err);
    // Four bytes are a token, as a rule; where they are not, there is less room.
    let mut longest = question.tokens * 4;
    loop {
        let text = print(&results, question.format, longest);
        let cost = tokens(&text);
        if cost <= question.tokens || longest < 64 {
            return Ok(Answer { text, has_failed });
        }
        longest = longest * question.tokens / cost * 9 / 10;
    }
}

/// What a text costs a model, rather too much than too little: a word of five
/// letters or less is a token, and so is every other sign; what is not ASCII may
/// be one for every byte but the first.
fn tokens(text: &str) -> usize {
    let (mut tokens, mut letters) = (0, 0);
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            letters += 1;
            continue;
        }
        tokens += usize::div_ceil(letters, 5);
        letters = 0;
        tokens += match c {
            ' ' => 0,
            c if c.is_ascii() => 1,
            c => c.len_utf8() - 1,
        };
    }
    tokens + usize::div_ceil(letters, 5)
}
