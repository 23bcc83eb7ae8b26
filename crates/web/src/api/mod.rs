//! The JSON API over HTTP: a route for each verb, answered with its outcome. The routes
//! are named like the commands; the files below have one room each.

mod claims;
mod convergence;
mod knowledge;
mod messages;
mod presence;
mod tasks;

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Extension;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Path as Route;
use axum::extract::Query;
use axum::extract::State;
use axum::extract::rejection::QueryRejection;
use axum::http::Method;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::any;
use consort_core::App;
use consort_core::call_context::ServedContext;
use consort_core::host::ConnectionAddrs;
use consort_core::journal::Actor;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::presence::PresenceError;
use consort_core::project::Project;
use consort_knowledge::CancelOnDrop;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::guard::ApiAccess;
use crate::reply::ApiError;
use crate::reply::answer;
use crate::server::Inner;

/// Entries or messages that are shown by default, and at most.
const USUAL: usize = 50;
const MOST: usize = 1_000;

pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new().route("/api/{*verb}", any(serve))
}

async fn serve(
    State(inner): State<Arc<Inner>>,
    ends: Option<Extension<ConnectionAddrs>>,
    Extension(access): Extension<ApiAccess>,
    method: Method,
    Route(verb): Route<String>,
    about: Result<Query<QueryParameters>, QueryRejection>,
    body: Bytes,
) -> Result<Response, ApiError> {
    let Query(about) = about.map_err(|error| ApiError::malformed(error.body_text()))?;
    let ends = ends.map(|Extension(ends)| ends);
    let call_off = CancelOnDrop::default();
    let is_cancelled = call_off.flag();
    let call = move |app: &mut App, calls: &dyn ServedContext| {
        let caller = access.add_proof(calls.caller(ends));
        let mut call = ApiCall { app, caller, calls, ends, about, is_cancelled };
        let verb: Vec<&str> = verb.split('/').collect();
        match method {
            Method::GET => call.look(&verb),
            Method::POST => call.act(&verb, &body),
            _ => Err(ApiError::not_found()),
        }
    };
    Ok(answer(StatusCode::OK, inner.with(call).await?))
}

/// The query parameters of a call.
#[derive(Deserialize)]
struct QueryParameters {
    /// The name or id of a project; without it, every project.
    project: Option<String>,
    after: Option<Seq>,
    limit: Option<usize>,
    path: Option<String>,
    /// A shell command.
    command: Option<String>,
    /// The task to suggest agents for.
    task: Option<String>,
    /// The words to search for.
    words: Option<String>,
    /// The directory that a relative path starts from.
    cwd: Option<String>,
}

impl QueryParameters {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).min(MOST)
    }
}

/// The context of one call. A caller that shows a token of the person's is the person, unless
/// its processes say that it is an agent.
struct ApiCall<'a> {
    app: &'a mut App,
    calls: &'a dyn ServedContext,
    caller: CallerFacts,
    ends: Option<ConnectionAddrs>,
    about: QueryParameters,
    /// Set when the client no longer waits for the answer.
    is_cancelled: Arc<AtomicBool>,
}

/// An outcome as its own JSON.
type ApiResult = Result<Vec<u8>, ApiError>;

impl ApiCall<'_> {
    /// Answers the commands that only read, by the words of the command.
    fn look(&mut self, verb: &[&str]) -> ApiResult {
        match verb {
            ["version"] => told(json!({ "consort": env!("CARGO_PKG_VERSION") })),
            ["who"] => self.who(None),
            ["who", agent] => self.who(Some(agent)),
            ["status"] => self.status(),
            ["explain"] => self.explain(),
            ["holds"] => self.holds(),
            ["task"] => self.tasks(),
            ["radar", rest @ ..] => self.radar(rest),
            ["agent", "handoff", agent] => {
                let handoff = self.app.handoff(agent)?;
                told(self.app.wrap_one("handoff", &handoff))
            }
            ["agent", "suggest"] => self.suggest(),
            ["inbox", rest @ ..] => self.inbox(rest),
            ["know", "suggest"] => self.suggestions(),
            ["know", "similar"] => self.similar(),
            ["config"] => self.settings(None),
            ["config", key] => self.settings(Some(key)),
            ["journal"] => {
                let project = self.project()?.map(|project| project.id);
                let request =
                    TailRequest { after: self.about.after, since: None, project, limit: self.about.limit() };
                let entries = self.app.journal_tail(&request)?;
                self.items(&entries)
            }
            _ => Err(ApiError::not_found()),
        }
    }

    /// Carries out the commands that change something, by the words of the command. A command that
    /// weakens protection demands more proof than a terminal, as it does on the command line.
    fn act(&mut self, verb: &[&str], body: &[u8]) -> ApiResult {
        match verb {
            ["send"] => self.send(body_of(body)?),
            ["reply", name] => self.reply(name, body_of(body)?),
            ["inbox", "read"] => self.read(&body_of(body)?),
            ["reserve"] => self.reserve(body_of(body)?),
            ["release"] => self.release(body_of(body)?),
            ["holds", verb] => self.act_on_hold(verb, &body_of(body)?),
            ["task", verb] => self.task(verb, body_of(body)?),
            ["agent", verb] => self.act_on_agent(verb, body_of(body)?),
            ["know", "query"] => self.query(&body_of(body)?),
            ["know", "apply"] => self.apply(body_of(body)?),
            ["know", "adopt"] => self.adopt(&body_of(body)?),
            ["know", "renew"] => self.renew(body_of(body)?),
            _ => Err(ApiError::not_found()),
        }
    }

    /// Lists the settings that apply in a directory, or shows one of them.
    fn settings(&mut self, key: Option<&str>) -> ApiResult {
        let worktree = self.app.host().place(&self.cwd()?).worktree;
        let settings = self.calls.settings(self.app, &worktree);
        let settings = settings.ok_or_else(|| ApiError::internal("the settings cannot be read".into()))?;
        let Some(key) = key else { return self.items(&settings.settings) };
        let key = consort_core::config::key(key)?;
        let setting = settings.settings.iter().find(|setting| setting.key == key.name);
        told(self.app.wrap_one("setting", &setting))
    }

    /// Returns the directory that a call is about.
    fn cwd(&self) -> Result<PathBuf, ApiError> {
        let cwd = self.about.cwd.as_deref().map(Path::new).filter(|cwd| cwd.is_absolute());
        cwd.map(Path::to_owned).ok_or_else(|| missing("cwd"))
    }

    fn items(&mut self, items: &impl Serialize) -> ApiResult {
        told(self.app.items(items))
    }

    fn project(&mut self) -> Result<Option<Project>, ApiError> {
        let named = self.about.project.as_deref();
        Ok(named.map(|named| self.app.find_project(named)).transpose()?)
    }

    /// Finds the project of a call that must name one.
    fn one_project(&mut self) -> Result<Project, ApiError> {
        self.project()?.ok_or_else(|| missing("project"))
    }

    fn mailbox(&mut self) -> Result<Actor, ApiError> {
        match self.app.caller(&self.caller)? {
            Caller::Agent(agent) => Ok(Actor::Agent(agent.session)),
            Caller::Person => Ok(Actor::Person),
            Caller::Anonymous(why) => Err(PresenceError::from(why).into()),
        }
    }
}

fn missing(what: &str) -> ApiError {
    ApiError::malformed(format!("`{what}` is missing"))
}

fn told(outcome: impl Serialize) -> ApiResult {
    serde_json::to_vec(&outcome).map_err(|error| ApiError::internal(error.to_string()))
}

fn body_of<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::malformed(format!("the body does not fit: {error}")))
}
