//! The JSON API over HTTP: a route for each verb, answered with its outcome.

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
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
use consort_core::journal::ChangeId;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::messages::InboxRequest;
use consort_core::messages::MessageName;
use consort_core::messages::MessageType;
use consort_core::messages::Priority;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::presence::PresenceError;
use consort_core::presence::Scope;
use consort_core::project::Project;
use consort_core::tasks::TaskRequest;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::guard::Access;
use crate::reply::Refusal;
use crate::reply::answer;
use crate::server::Inner;

/// How many entries or messages are shown unless asked otherwise, and at most.
const USUAL: usize = 50;
const MOST: usize = 1_000;

pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new().route("/api/{*verb}", any(serve))
}

async fn serve(
    State(inner): State<Arc<Inner>>,
    ends: Option<Extension<ConnectionAddrs>>,
    Extension(access): Extension<Access>,
    method: Method,
    Path(verb): Path<String>,
    about: Result<Query<About>, QueryRejection>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let Query(about) = about.map_err(|error| Refusal::malformed(error.body_text()))?;
    let ends = ends.map(|Extension(ends)| ends);
    let call = move |app: &mut App, calls: &dyn ServedContext| {
        let mut call = ApiCall { app, caller: access.proves(calls.caller(ends)), calls, about };
        let verb: Vec<&str> = verb.split('/').collect();
        match method {
            Method::GET => call.look(&verb),
            Method::POST => call.act(&verb, &body),
            _ => Err(Refusal::not_found()),
        }
    };
    Ok(answer(StatusCode::OK, inner.with(call).await?))
}

/// What a call is about.
#[derive(Deserialize)]
struct About {
    /// Its name or id; without it, every project.
    project: Option<String>,
    after: Option<Seq>,
    limit: Option<usize>,
}

impl About {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).min(MOST)
    }
}

/// Where one call is dealt with. A caller that shows the token is the person, unless
/// its processes say that it is an agent.
struct ApiCall<'a> {
    app: &'a mut App,
    calls: &'a dyn ServedContext,
    caller: CallerFacts,
    about: About,
}

/// An outcome as its own JSON.
type Answer = Result<Vec<u8>, Refusal>;

impl ApiCall<'_> {
    fn look(&mut self, verb: &[&str]) -> Answer {
        match verb {
            ["version"] => told(json!({ "consort": env!("CARGO_PKG_VERSION") })),
            ["who"] => self.who(),
            ["claims"] => {
                let project = self.project()?.map(|project| project.id);
                told(self.app.holds(&self.caller, project.as_ref(), 0)?)
            }
            ["tasks"] => self.tasks(),
            ["radar"] => {
                let Some(project) = self.project()? else {
                    return Err(Refusal::malformed("`project` is missing".into()));
                };
                let calls = self.calls;
                told(self.app.radar(&project.id, &|name| calls.variable(name))?)
            }
            ["handoff", agent] => told(self.app.handoff(agent)?),
            ["inbox"] => {
                let mailbox = self.mailbox()?;
                told(self.app.inbox(&InboxRequest { mailbox, from: None, peek: true })?)
            }
            ["sent"] => {
                let from = self.mailbox()?;
                told(self.app.sent(&from, self.about.limit())?)
            }
            ["thread", name] => {
                let name = name.parse().map_err(Refusal::malformed)?;
                let project = self.project()?.map(|project| project.id);
                told(self.app.thread(&name, project.as_ref())?)
            }
            ["journal"] => {
                let project = self.project()?.map(|project| project.id);
                let request =
                    TailRequest { after: self.about.after, since: None, project, limit: self.about.limit() };
                told(self.app.journal_tail(&request)?)
            }
            _ => Err(Refusal::not_found()),
        }
    }

    fn act(&mut self, verb: &[&str], body: &[u8]) -> Answer {
        match verb {
            ["send"] => self.send(body_of(body)?),
            ["read"] => self.read(&body_of(body)?),
            _ => Err(Refusal::not_found()),
        }
    }

    fn who(&mut self) -> Answer {
        let scope = self.project()?.map_or(Scope::Everywhere, Scope::Project);
        let you = match self.app.caller(&self.caller)? {
            Caller::Agent(agent) => Some(agent.session),
            Caller::Person | Caller::Anonymous(_) => None,
        };
        let calls = self.calls;
        told(self.app.who(&scope, you.as_ref(), |agents| calls.look(agents))?)
    }

    /// The specs that are worked on; one that is gone does not hide the others.
    fn tasks(&mut self) -> Answer {
        let project = self.project()?;
        let mut outcomes = Vec::new();
        for (spec, file) in self.app.specs()? {
            if project.as_ref().is_none_or(|project| spec.project.as_ref() == Some(&project.id)) {
                outcomes.extend(self.app.tasks(&TaskRequest::of_spec(file)).ok());
            }
        }
        told(outcomes)
    }

    fn send(&mut self, send: Outgoing) -> Answer {
        let to = match (send.everywhere, send.to.is_empty(), &send.reply) {
            (true, ..) => Recipients::Everywhere,
            (false, true, Some(_)) => Recipients::Sender,
            (false, ..) => Recipients::Named(send.to),
        };
        let unknown = |what: &str| Refusal::malformed(format!("there is no {what} of that name"));
        let kind = send.kind.map(|kind| MessageType::named(&kind).ok_or_else(|| unknown("type")));
        let priority = send.priority.map(|name| Priority::named(&name).ok_or_else(|| unknown("priority")));
        let request = SendRequest {
            caller: self.caller.clone(),
            to,
            kind: kind.transpose()?.unwrap_or_default(),
            priority: priority.transpose()?,
            text: send.text,
            reply_to: send.reply,
            key: send.key,
            project: self.project()?.map(|project| project.id),
            ..SendRequest::default()
        };
        let outcome = self.app.send(&request)?;
        for (agent, activity) in self.app.idle_recipients(&request, &outcome).unwrap_or_default() {
            self.calls.wake(&agent, &activity);
        }
        told(outcome)
    }

    /// A client that has shown messages to somebody says so: until then they wait.
    fn read(&mut self, read: &Read) -> Answer {
        let mailbox = self.mailbox()?;
        let request = InboxRequest { mailbox: mailbox.clone(), from: None, peek: true };
        let mut letters = self.app.inbox(&request)?;
        letters.retain(|letter| read.messages.contains(&letter.message.id));
        self.app.mark_read(&mailbox, &letters)?;
        let read: Vec<ChangeId> = letters.iter().map(|letter| letter.message.id).collect();
        told(json!({ "read": read }))
    }

    fn project(&mut self) -> Result<Option<Project>, Refusal> {
        let named = self.about.project.as_deref();
        Ok(named.map(|named| self.app.find_project(named)).transpose()?)
    }

    fn mailbox(&mut self) -> Result<Actor, Refusal> {
        match self.app.caller(&self.caller)? {
            Caller::Agent(agent) => Ok(Actor::Agent(agent.session)),
            Caller::Person => Ok(Actor::Person),
            Caller::Anonymous(why) => Err(PresenceError::from(why).into()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outgoing {
    #[serde(default)]
    to: Vec<String>,
    #[serde(default)]
    everywhere: bool,
    text: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    priority: Option<String>,
    reply: Option<MessageName>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    /// By their ids.
    messages: Vec<ChangeId>,
}

fn told(outcome: impl Serialize) -> Answer {
    serde_json::to_vec(&outcome).map_err(|error| Refusal::internal(error.to_string()))
}

fn body_of<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body)
        .map_err(|error| Refusal::malformed(format!("the body does not fit: {error}")))
}
