//! MCP tools of the knowledge room: query, act, know.

use std::sync::Arc;

use consort_core::knowledge::ActRequest;
use consort_core::knowledge::KnowledgeError;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::RenewRequest;
use consort_core::knowledge::RenewalRequest;
use consort_core::knowledge::Scope;
use consort_core::knowledge::SimilarProject;
use consort_core::knowledge::Suggestion;
use consort_core::presence::Agent;
use consort_core::text;
use consort_knowledge::Format;
use consort_knowledge::JournalPast;
use consort_knowledge::Question;
use consort_knowledge::Session;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

/// Most tokens that an answer may cost.
const TOKENS: usize = 10_000;

/// Cells of a session above which its freed memory, some megabytes, is given back to the system.
const MUCH: usize = 50_000;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "query",
        about: "Ask what earlier sessions learned of this project, in Scheme. Look before you explore.\n\
            (overview) (names kind) (search-knowledge text) (get-principles) (get-patterns) (get-decisions) (get-files) \
            (get-notes) (get-relationships) (get-principle name) (get-pattern name) (get-decision name) (get-file-understanding path) \
            (get-entity name) (get-principles-by-tag t) (get-patterns-by-tag t) (get-notes-by-tag t) (get-patterns-by-type t) \
            (get-decisions-by-status \"active\") (get-relationships-from name) (get-relationships-to name) \
            (get-relationships-by-type t) (get-neighbours name) (get-related-files path: records) (about-file path) (get-stale) \
            (get-current xs: not stale) (recent n) (history name) (as-of \"2026-11-01\" (lambda () …))\n\
            (@ r :field), (map :name xs), ->>, filter, sort-by, group-by: ((key item …) …), take, dict, format and R7RS, without characters, output and several values. Definitions stay while you are connected. \
            Ask for the fields you need: (map (lambda (p) (list (@ p :name) (@ p :confidence))) (get-principles))",
        properties: || {
            json!({
                "expr": { "type": "string" },
                "project": { "type": "string", "description": "another than this one, by name" },
                "global": { "type": "boolean", "description": "the person's own knowledge, not this project's" },
            })
        },
        required: &["expr"],
        only_reads: true,
    },
    ToolEntry {
        name: "act",
        about: "Record what you learned, for later sessions: all of the batch or nothing.\n\
            record-principle {name description confidence locations evidence examples related tags}, record-pattern {name type \
            description confidence location tags}, record-decision {name description rationale status impact locations}, \
            record-file-understanding {path summary concepts symbols related}, record-note {description name tags locations}, link-entities {from to type description}, \
            update-confidence {name confidence}, add-evidence {name evidence}, confirm {name}, rename {name to}, \
            delete-principle|pattern|decision|note {name}, delete-file-understanding {path}, delete-relationship {from to type}. \
            Lists grow; `remove: {tags: […]}` shrinks them.",
        properties: || {
            json!({
                "actions": { "type": "array", "items": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "object" }] } },
                "project": { "type": "string" },
                "global": { "type": "boolean" },
                "key": { "type": "string", "description": "recorded only once under this" },
            })
        },
        required: &["actions"],
        only_reads: false,
    },
    ToolEntry {
        name: "know",
        about: "`suggest`: what sessions found out and nobody recorded. `similar`: what other projects know with these words; `adopt` \
            takes it over. `renew`: have the next session that touches its file look again at it, or at all that is stale.",
        properties: || {
            json!({
                "action": { "enum": ["suggest", "similar", "adopt", "renew"] },
                "words": { "type": "string" },
                "name": { "type": "string" },
                "from": { "type": "string", "description": "a project" },
            })
        },
        required: &["action"],
        only_reads: false,
    },
];

/// Finds the scope of a call: the project that it names, else the one that its client or
/// server was started for, else the agent's own.
fn scope(
    context: &mut ToolContext<'_>,
    me: &Agent,
    is_global: Option<bool>,
    named: Option<String>,
) -> Result<Scope, Problem> {
    let named = named.or_else(|| context.origin.project.clone());
    match named {
        _ if is_global.unwrap_or_default() => Ok(Scope::Global),
        Some(named) if named != me.project.name && named != me.project.id.as_str() => {
            let found = context.app.find_project(&named);
            let hint = format!("leave `project` out for this one, {}", me.project.name);
            Ok(Scope::Project(found.map_err(|error| Problem::from(error).hint(hint))?.id))
        }
        _ => Ok(Scope::Project(me.project.id.clone())),
    }
}

#[derive(Deserialize)]
pub(super) struct QueryArgs {
    expr: String,
    global: Option<bool>,
    #[serde(alias = "projectId")]
    project: Option<String>,
}

pub(super) fn query(context: &mut ToolContext<'_>, query: QueryArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let scope = scope(context, &me, query.global, query.project)?;
    let index = context.app.knowledge_for(&scope, &me)?;
    let calls = context.calls;
    let moment = |text: &str| calls.moment(text, &me.location.worktree);
    let mut fresh = Session::new();
    let session = context.session.as_deref_mut().unwrap_or(&mut fresh);
    let is_cancelled = Arc::clone(&context.is_cancelled);
    let mut past = JournalPast { app: &mut context.app, scope: &scope, moment: &moment };
    let question = Question {
        scope: &scope,
        source: &query.expr,
        format: Format::Columnar,
        tokens: TOKENS,
        is_cancelled,
    };
    let answer = consort_knowledge::ask(session, &*index, &mut past, &question);
    if session.last_run_cells() > MUCH {
        context.calls.give_back_memory();
    }
    let answer = answer?;
    context.app.note_shown(&me.session, &answer.shown);
    Ok(ToolAnswer::new(answer.text.clone(), json!({ "answer": answer.text })))
}

#[derive(Deserialize)]
pub(super) struct ActArgs {
    actions: Value,
    global: Option<bool>,
    key: Option<String>,
    #[serde(alias = "projectId")]
    project: Option<String>,
}

pub(super) fn act(context: &mut ToolContext<'_>, act: ActArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let scope = scope(context, &me, act.global, act.project)?;
    let mut index = context.app.knowledge_for(&scope, &me)?;
    let (worktree, cwd) = context.app.worktree_and_directory(&scope, &me);
    let request = ActRequest {
        caller: context.facts(),
        scope,
        actions: act.actions,
        worktree,
        cwd,
        key: act.key,
        even_so: false,
    };
    recorded(context, &mut *index, &request)
}

/// Records a batch and answers with its results.
fn recorded(
    context: &mut ToolContext<'_>,
    index: &mut dyn KnowledgeIndex,
    request: &ActRequest,
) -> Result<ToolAnswer, Problem> {
    match context.app.act_with(index, request) {
        Ok(outcome) if outcome.duplicate => {
            let text = format!("Recorded before as entry #{}.", outcome.number);
            Ok(ToolAnswer::new(text, json!({ "recorded": { "number": outcome.number, "duplicate": true } })))
        }
        Ok(outcome) => {
            let text = format!("Entry #{}: {}", outcome.number, outcome.results.join("; "));
            Ok(ToolAnswer::new(
                text,
                json!({ "recorded": { "number": outcome.number, "results": outcome.results } }),
            ))
        }
        Err(KnowledgeError::Mistaken { mistakes }) => {
            let data = json!({ "mistakes": mistakes });
            Err(Problem::from(KnowledgeError::Mistaken { mistakes }).with(data))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Deserialize)]
pub(super) struct KnowArgs {
    action: String,
    words: Option<String>,
    name: Option<String>,
    from: Option<String>,
}

pub(super) fn know(context: &mut ToolContext<'_>, know: KnowArgs) -> Result<ToolAnswer, Problem> {
    let (me, caller) = (context.me()?, context.facts());
    let scope = Scope::Project(me.project.id.clone());
    let worktree = me.location.worktree.clone();
    let list = |lines: Vec<String>, items: Vec<Value>| {
        let text = if lines.is_empty() { "Nothing found.".to_owned() } else { lines.join("\n") };
        Ok(ToolAnswer::new(text, json!({ "items": items })))
    };
    match know.action.as_str() {
        "suggest" => {
            let found = context.app.suggest_knowledge(&scope, &worktree)?;
            list(found.iter().map(Suggestion::told).collect(), found.iter().map(|one| json!(one)).collect())
        }
        "similar" if know.words.is_some() => {
            let found = context.app.similar_things(&me.project.id, &know.words.unwrap_or_default())?;
            let lines = found.iter().map(|(scope, known)| known.scoped_line(scope));
            list(lines.collect(), found.iter().map(|(scope, known)| known.item_of(scope)).collect())
        }
        "similar" => {
            let found = context.app.similar_projects(&me.project.id)?;
            let line = |one: &SimilarProject| format!("{}: {}", one.name, one.shared.join(", "));
            let lines = found.iter().map(line).map(|line| text::one_line(&line, 200));
            list(lines.collect(), found.iter().map(|one| json!(one)).collect())
        }
        "adopt" => {
            let name =
                know.name.ok_or_else(|| Problem::user("`name` is missing", "`similar` finds names"))?;
            let there = match &know.from {
                Some(project) => Scope::Project(context.app.find_project(project)?.id),
                None => Scope::Global,
            };
            let actions = json!([context.app.adoption(&name, &there)?]);
            let mut index = context.app.knowledge_for(&scope, &me)?;
            let (cwd, key) = (me.location.cwd, None);
            let request = ActRequest { caller, scope, actions, worktree, cwd, key, even_so: false };
            recorded(context, &mut *index, &request)
        }
        "renew" => {
            let request = RenewRequest { caller, scope, worktree, cwd: me.location.cwd, name: know.name };
            let outcome = context.app.ask_renewal(&request)?;
            let item = |one: &RenewalRequest| json!({ "path": one.path, "about": one.about });
            list(outcome.told(), outcome.asked.iter().map(item).collect())
        }
        _ => Err(Problem::user("there is no such action", "suggest, similar, adopt or renew")),
    }
}
