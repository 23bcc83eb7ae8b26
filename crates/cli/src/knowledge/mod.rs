//! Asks and records knowledge, for all commands of the group `know`.

pub(crate) mod envelope;
pub(crate) mod file;
pub(crate) mod git_file;
pub(crate) mod watch;

use std::sync::Arc;

use consort_core::knowledge::ActRequest;
use consort_core::knowledge::KnowledgeError;
use consort_core::knowledge::Mistake;
use consort_core::knowledge::Scope;
use consort_core::presence::Caller;
use consort_knowledge::Answer;
use consort_knowledge::Format;
use consort_knowledge::JournalPast;
use consort_knowledge::Question;
use consort_knowledge::Session;
use serde_json::Value;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::person;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

/// Most tokens that an answer may cost its reader, unless the caller says otherwise.
pub(crate) const USUAL_TOKENS: usize = 10_000;

#[derive(Default, clap::Args)]
pub(crate) struct ScopeArgs {
    /// Your own records, which count in every project, instead of this project's
    #[arg(long)]
    global: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl ScopeArgs {
    pub(crate) fn of(&self, opened: &OpenWorld) -> Scope {
        if self.global { Scope::Global } else { Scope::Project(opened.project.id.clone()) }
    }
}

/// Asks a question, after taking in the file that others may have changed.
pub(crate) fn ask(
    opened: &mut OpenWorld,
    scope: &Scope,
    source: &str,
    format: Format,
    tokens: usize,
) -> Result<Answer, CommandError> {
    file::take_in(opened, scope);
    let index = opened.app.knowledge_seen_from(scope, &opened.place.worktree, &opened.cwd)?;
    let (now, worktree) = (opened.app.host().now(), opened.place.worktree.clone());
    let moment = |text: &str| time::moment(text, now, &worktree);
    let mut past = JournalPast { app: &mut opened.app, scope, moment: &moment };
    let question = Question { scope, source, format, tokens, is_cancelled: Arc::default() };
    let answer = consort_knowledge::ask(&mut Session::new(), &*index, &mut past, &question)?;
    if !answer.shown.is_empty()
        && let Ok(Caller::Agent(agent)) = opened.caller()
    {
        opened.app.note_shown(&agent.session, &answer.shown);
    }
    Ok(answer)
}

/// The way in which a batch is recorded.
#[derive(Default)]
pub(crate) struct Manner {
    pub(crate) key: Option<String>,
    /// Whether to record it though something looks like a secret.
    pub(crate) even_so: bool,
    pub(crate) json: bool,
}

/// Makes the error for a batch of one action, which needs no number.
fn mistakes_of_one(mistakes: &[Mistake]) -> CommandError {
    let said = |mistake: &Mistake| match &mistake.field {
        // The message begins with the one of several values that is wrong.
        Some(field) if mistake.message.starts_with('`') => format!("`{field}`: {}", mistake.message),
        Some(field) => format!("`{field}` {}", mistake.message),
        None => mistake.message.clone(),
    };
    let said: Vec<String> = mistakes.iter().map(said).collect();
    let hint = "fix that and run it again; `consort know add --help` has examples";
    CommandError::user(format!("nothing was recorded: {}", said.join("; ")), hint)
}

/// Records a batch, and prints the result.
pub(crate) fn act(
    world: &World,
    opened: &mut OpenWorld,
    scope: Scope,
    actions: Value,
    manner: Manner,
) -> CommandResult {
    let Manner { key, even_so, json } = manner;
    file::take_in(opened, &scope);
    let mut index = opened.app.knowledge()?;
    let request = ActRequest {
        caller: person::acting_caller(&mut opened.app)?,
        worktree: opened.place.worktree.clone(),
        cwd: opened.cwd.clone(),
        scope,
        actions,
        key,
        even_so,
    };
    let outcome = match opened.app.act_with(&mut *index, &request) {
        Err(KnowledgeError::Mistaken { mistakes }) if request.actions.as_array().map(Vec::len) == Some(1) => {
            return Err(mistakes_of_one(&mistakes));
        }
        outcome => outcome?,
    };
    if json {
        let recorded = serde_json::to_value(&outcome).unwrap_or_default();
        return envelope::one(world, opened.app.host().now(), "recorded", &recorded);
    }
    if outcome.duplicate {
        return world.out.line(format!("Recorded before as entry #{}.", outcome.number));
    }
    let results = outcome.results.iter().map(|result| consort_core::text::one_line(result, 200));
    let results: Vec<String> = results.collect();
    world.out.line(format!("Entry #{}: {}", outcome.number, results.join("; ")))
}
